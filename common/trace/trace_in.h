/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_in.h - the reading end of a trace file: zstd in, words out.
 *
 * One thread. Trusts nothing: the file may be cut, changed, or made to do harm.
 */
#ifndef HCCT_TRACE_IN_H
#define HCCT_TRACE_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

enum trace_in_status {
    TRACE_IN_GOT,
    TRACE_IN_CUT,    /* the file ends before the words do */
    TRACE_IN_FAILED, /* in->error says why */
};

struct trace_in {
    char error[256]; /* a sentence without the file's name, but with the place in it */
    uint64_t words;  /* that were read */
    /* private */
    int fd;
    ZSTD_DCtx *zstd;
    void *packed;
    ZSTD_inBuffer in;
    char *plain;
    size_t plain_at, plain_end;
    uint64_t packed_before; /* bytes of the file between its head and `in` */
    bool whole;             /* the zstd frame has ended, and its checksum is right */
};

/* Opens the file ("-": stdin) and reads its head. False: in->error; nothing is left open. */
bool trace_in_open(struct trace_in *in, const char *path);
void trace_in_close(struct trace_in *in);

/* Reads n words. */
enum trace_in_status trace_in_words(struct trace_in *in, uint32_t *words, size_t n);

/* After the last word: is that where the zstd frame and the file end? */
enum trace_in_status trace_in_finish(struct trace_in *in);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_out.h - the writing end of a trace file: words in, zstd out.
 *
 * One thread at a time. After an error nothing more is written.
 */
#ifndef HCCT_TRACE_OUT_H
#define HCCT_TRACE_OUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

struct trace_out {
    char path[PATH_MAX];
    int fd;
    int error;      /* errno of the first failure, 0: none */
    uint64_t bytes; /* written to the file */
    /* private */
    ZSTD_CCtx *zstd;
    uint32_t *words; /* that wait to be compressed */
    size_t n;
    void *packed;
    size_t packed_room;
};

/* Makes the file, writes its head. False: `error` says why. */
bool trace_out_open(struct trace_out *out, const char *path, char *error, size_t error_room);
/* Gives everything back; the file is complete when trace_out_finish was called. */
void trace_out_close(struct trace_out *out);

/* Makes room for a record of n more words, by writing what waits; false: that failed. *written says
 * whether all that was put before is in the file now. */
bool trace_out_room(struct trace_out *out, size_t n, bool *written);
/* At most as many as there was room made for. */
void trace_out_put(struct trace_out *out, const uint32_t *words, size_t n);
/* The last word: what waits, and the end of the zstd frame. */
bool trace_out_finish(struct trace_out *out);

#endif

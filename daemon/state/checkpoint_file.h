/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * checkpoint_file.h - a file of records that is either whole or not there, and notices if not.
 *
 * One thread.
 */
#ifndef HCCT_CHECKPOINT_FILE_H
#define HCCT_CHECKPOINT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/state/checkpoint_format.h"

struct checkpoint_file {
    FILE *file;
    uint32_t crc;
    uint32_t words[CHECKPOINT_WORDS_MAX]; /* reading: of the record at hand */
};

/* ---- writing ---- */

/* Begins the file. False: errno says why. */
bool checkpoint_file_create(struct checkpoint_file *out, const char *path);
/* A record of n words. Errors are reported by checkpoint_file_finish(). */
void checkpoint_file_put(struct checkpoint_file *out, uint32_t kind, const uint32_t *words,
                         size_t n);
/* END, and all of it is on the disk. False: errno says why; the file is closed in any case. */
bool checkpoint_file_finish(struct checkpoint_file *out);

/* ---- reading ---- */

/* NULL, or what is wrong with the file; errno ENOENT: there is none. It must be its reader's own.
 */
const char *checkpoint_file_open(struct checkpoint_file *in, const char *path);
/* The next record, in in->words; END when all was right up to there. NULL, or what is wrong. */
const char *checkpoint_file_next(struct checkpoint_file *in, uint32_t *kind, size_t *n);
void checkpoint_file_close(struct checkpoint_file *in);

#endif

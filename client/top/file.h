/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * file.h - a copy of what is seen, as a file.
 */
#ifndef HCCT_TOP_FILE_H
#define HCCT_TOP_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "client/top/client.h"

struct top_file {
    char name[64];
    char error[256]; /* a sentence, when it could not be written */
};

/* Writes a profile to a new file in the working directory, whole or not at all:
 * "hcct-top-PID-TIME.pb.gz", or "hcct-top-PID-10s-TIME.pb.gz" when it is of a window ("10s"; NULL:
 * since the start). No file that is there is touched. False: see file->error. */
bool top_file_write(const struct top_copy *copy, uint32_t pid, const char *window,
                    struct top_file *file);

#endif

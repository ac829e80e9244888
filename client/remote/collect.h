/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * collect.h - asks hcctd for what it has, and puts what came since the last time into the spool.
 */
#ifndef HCCT_COLLECT_H
#define HCCT_COLLECT_H

#include <stdint.h>

#include "client/remote/spool.h"

/* Sums of what was taken in a run; weights in the profiles' own units. */
struct collected {
    uint64_t pushes, weight, excess;
};

/* An exit status: HCCT_EXIT_NO_DAEMON when nobody answers, HCCT_EXIT_OK when all was taken that is
 * there, HCCT_EXIT_NO_DATA when the spool is full. `error` has the sentence where it is not
 * HCCT_EXIT_OK, and a note, or "", where it is. */
int collect(struct spool *spool, const char *socket, struct collected *sum, char *error,
            size_t error_bytes);

#endif

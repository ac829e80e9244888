/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_earlier.h - hours as an earlier hcctd kept them, each in a file of pprof, which nothing
 * reads any more and no limit counts.
 */
#ifndef HCCT_HISTORY_EARLIER_H
#define HCCT_HISTORY_EARLIER_H

#include <stdint.h>

struct history_earlier {
    uint64_t files, bytes;
};

/* Removes them from the directory of logs, and says how many they were. A file of another name, of
 * another user, that others may write to, that has a second name, or that is no plain file, stays.
 * `directory` stays the caller's. */
struct history_earlier history_remove_earlier(int directory);

#endif

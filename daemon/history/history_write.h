/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_write.h - an hour more in a log (history_log.h), and the sums of its days that are over.
 */
#ifndef HCCT_HISTORY_WRITE_H
#define HCCT_HISTORY_WRITE_H

#include <stdbool.h>

#include "common/profile/profile.h"
#include "daemon/history/history_log.h"

/* The profile as an hour behind the others; of the block there are its time and weight. False: it
 * could not be written, errno says why. Gets memory by memory.h. */
bool history_write_hour(int fd, const struct history_block *hour, const struct profile *profile);

/* Days before `begin_s` that have no block of their own get one. Where that fails, their hours are
 * read one by one. Gets memory by memory.h. */
void history_write_days(int fd, uint64_t begin_s);

#endif

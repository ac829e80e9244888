/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * checkpoint_fields.h - what a checkpoint says of a process beside its tree, as text.
 *
 * name, NUL, value, NUL, and so on. Numbers that are 0 are left out, names that are not known are
 * skipped, so that either side may know more fields than the other.
 */
#ifndef HCCT_CHECKPOINT_FIELDS_H
#define HCCT_CHECKPOINT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/tree/mcct.h"
#include "daemon/ingest/process.h"

struct checkpoint_about {
    uint64_t pid, uid, runs, threads_open;
    bool live, linked;
    struct process_identity identity;
    struct family family;           /* of one that is live */
    uint64_t since_ns, duration_ns; /* wall clock, since 1970 */
    struct session_sampling sampling;
    struct process_stats stats;
    struct mcct_stats tree; /* total, updates, unseen and capped */
    const char *exe;
    const char *command;      /* NULL: not known */
    const char *tags;         /* NULL: none */
    const char *call_modules; /* common/profile/call_modules.h; NULL: none */
};

/* The text as whole words, filled up with NULs, malloc'ed; *words says how many. NULL: no memory.
 */
uint32_t *checkpoint_fields_write(const struct checkpoint_about *about, size_t *words);

/* False: it is no such text. about->exe, command, tags and call_modules point into `text`. */
bool checkpoint_fields_read(struct checkpoint_about *about, const char *text, size_t bytes);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * range.h - a part of the past on a command line: --since and --until.
 */
#ifndef HCCT_RANGE_H
#define HCCT_RANGE_H

#include <stdbool.h>

#include "client/ask.h"
#include "common/base/moment.h"
#include "common/base/options.h"

struct range_options {
    const char *since, *until; /* NULL: not given */
};

/* Entries of an option table, for a struct TYPE with a member MEMBER of struct range_options. */
#define RANGE_SPECS(type, member)                                                                  \
    {"since",                                                                                      \
     0,                                                                                            \
     OPTION_STRING,                                                                                \
     "WHEN",                                                                                       \
     offsetof(struct type, member.since),                                                          \
     0,                                                                                            \
     0,                                                                                            \
     "only from then on: 03:10, 2026-11-27T03:10, 15m (ago), or a mark"},                          \
    {                                                                                              \
        "until", 0, OPTION_STRING, "WHEN", offsetof(struct type, member.until), 0, 0,              \
            "only up to then"                                                                      \
    }

static inline bool range_is_given(const struct range_options *given) {
    return given->since != NULL || given->until != NULL;
}

/* Adds it to a query, as moments that do not depend on who reads them, or names of marks; `rest`:
 * all that is kept but that. `operand`: the word that these stand in, NULL: they are options.
 * False: one of them is no moment, and that was complained about. */
bool range_add(struct query *query, const struct range_options *given, bool rest,
               const char *operand);

#endif

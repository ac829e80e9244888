/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_limit.h - by how much functions may rise before a comparison fails, for scripts.
 */
#ifndef HCCT_DIFF_LIMIT_H
#define HCCT_DIFF_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/options.h"
#include "common/profile/diff.h"

struct diff_limit {
    const char *fail_above; /* as it was given; NULL: there is no limit */
    bool contexts;          /* of contexts, not of functions */
    double fraction;        /* fail_above as a number */
};

/* Its options; `type` has it as `member`. */
#define DIFF_LIMIT_SPECS(type, member)                                                             \
    {"fail-above",                                                                                 \
     0,                                                                                            \
     OPTION_STRING,                                                                                \
     "P%",                                                                                         \
     offsetof(type, member.fail_above),                                                            \
     0,                                                                                            \
     0,                                                                                            \
     "exit with 5 when a function or the total surely rose by more"},                              \
    {                                                                                              \
        "fail-contexts", 0, OPTION_FLAG, NULL, offsetof(type, member.contexts), 0, 0,              \
            "--fail-above judges contexts, not functions"                                          \
    }

/* Reads what was given. False: it makes no sense, complained. */
bool diff_limit_read(struct diff_limit *limit);

/* HCCT_EXIT_ABOVE: something rose by more, complained. */
int diff_limit_judge(const struct diff *diff, const struct diff_limit *limit);

#endif

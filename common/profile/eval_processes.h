/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eval_processes.h - which processes of two profiles are compared with each other.
 */
#ifndef HCCT_EVAL_PROCESSES_H
#define HCCT_EVAL_PROCESSES_H

#include "common/profile/eval_join.h"

struct eval_processes {
    /* By process: the name under which it is compared, the same for both profiles; NULL: it is not
     * compared. Names are the profiles'. */
    const char **exe[EVAL_SIDES];
};

/* Chooses as eval_join() says. False: nothing to compare, `error` has the sentence, and nothing is
 * to be freed. */
bool eval_processes_choose(struct eval_processes *chosen,
                           const struct profile *const profile[EVAL_SIDES], const char *exe,
                           char *error, size_t error_bytes);
/* What the chosen processes of a side say of themselves, into join->side[side]. */
void eval_processes_add_up(const struct eval_processes *chosen, int side,
                           const struct profile *profile, struct eval_join *join);
void eval_processes_free(struct eval_processes *chosen);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * model.h - what hcctd said at one moment: the tree since the start, with the recent weights
 * beside it.
 *
 * A model is made by one thread and not changed any more but by top_model_set_change. Out of memory
 * ends the program.
 */
#ifndef HCCT_TOP_MODEL_H
#define HCCT_TOP_MODEL_H

#include "client/top/steps.h"
#include "client/top/tree.h"
#include "common/profile/profile.h"

struct top_model {
    struct profile *total, *recent; /* grouped; `recent` may be NULL. The strings are theirs */
    struct top_tree tree;           /* contexts */
    enum profile_by by;
    uint64_t steps;   /* by which its contexts were rewritten (top_steps_id()) */
    uint64_t span_ns; /* that the recent weights are of, as the daemon says; 0: there are none */
    struct profile_process sum; /* numbers of all processes; unseen: the largest */
    uint32_t live;              /* processes that still run */
    bool bounded;               /* some context may weigh more with all below than is certain */
};

/* Takes two profiles of the same processes as the daemon gave them; `recent` is NULL when only what
 * was since the start was asked for. Both belong to the caller. n: only the n hottest contexts, 0:
 * all. */
struct top_model *top_model_make(const struct profile *total, const struct profile *recent,
                                 enum profile_by by, const struct top_steps *steps, unsigned n);
void top_model_free(struct top_model *model); /* NULL is allowed */

/* What the location of a grouped profile is called; its strings are the profile's. */
struct top_place {
    const char *name, *module; /* the last part of its path, "" when there is none */
    uint64_t function;         /* identity: the same for all locations of one function */
};
struct top_place top_model_place(struct profile *profile, uint32_t location);

/* The recent weights become what has come since `mark`, a model of the same processes; errors are
 * those of both. False: `mark` is of another daemon or other processes, and nothing was changed. */
bool top_model_set_change(struct top_model *model, const struct top_model *mark);

/* Weight of all, in that span. */
static inline uint64_t top_model_weight(const struct top_model *model, int span) {
    return model->tree.node[0].weight[span].inclusive;
}

/* Are there recent weights? */
static inline bool top_model_has_recent(const struct top_model *model) {
    return model->span_ns > 0;
}

#endif

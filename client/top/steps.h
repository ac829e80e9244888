/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * steps.h - contexts rewritten one step after the other, as somebody has asked for on the screen.
 *
 * A step means a function by its name and its module, or a module by its name, so that it means the
 * same in the next answer. All weight stays.
 */
#ifndef HCCT_TOP_STEPS_H
#define HCCT_TOP_STEPS_H

#include <stdint.h>

#include "client/top/text.h"
#include "client/top/tree.h"
#include "common/profile/transform.h"

#define TOP_STEPS_MAX 8u
#define TOP_STEP_NAME 48u

struct top_step {
    enum transform_kind kind;
    uint64_t target;          /* identity of the function, or of the module */
    char name[TOP_STEP_NAME]; /* as the head says it, cut off where it is too long */
};

struct top_steps {
    struct top_step step[TOP_STEPS_MAX];
    unsigned n;
};

/* Is there something of that kind to rewrite at the frame? It becomes the last step then. For
 * TRANSFORM_FOLD the frame may be NULL. */
bool top_steps_add(struct top_steps *steps, enum transform_kind kind,
                   const struct top_frame *frame);

/* The profile, which is grouped, rewritten; takes it over. */
struct profile *top_steps_apply(const struct top_steps *steps, struct profile *profile);

/* The same for the same steps, and others for others. */
uint64_t top_steps_id(const struct top_steps *steps);

/* "merged malloc, begin at main". */
void top_steps_text(struct top_line *line, const struct top_steps *steps);

#endif

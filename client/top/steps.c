/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * steps.c - which locations a step means; transform.h does the rest.
 */
#include "client/top/steps.h"

#include <stdio.h>

#include "client/top/model.h"
#include "common/base/memory.h"

#define MODULE_SEED 3u

/* What stands before the name. */
static const char *const words[TRANSFORM_KINDS] = {
    [TRANSFORM_MERGE] = "merged ",
    [TRANSFORM_DROP] = "dropped ",
    [TRANSFORM_ROOT] = "begin at ",
    [TRANSFORM_COLLAPSE] = "collapsed ",
    [TRANSFORM_FOLD] = "recursion collapsed",
};

static uint64_t module_id(const char *module) {
    return top_id_text(MODULE_SEED, module);
}

bool top_steps_add(struct top_steps *steps, enum transform_kind kind,
                   const struct top_frame *frame) {
    bool module = kind == TRANSFORM_COLLAPSE, function = kind != TRANSFORM_FOLD && !module;
    if (steps->n == TOP_STEPS_MAX)
        return false;
    if (kind != TRANSFORM_FOLD &&
        (frame == NULL || frame->process || (module && frame->module[0] == '\0')))
        return false;
    struct top_step *step = &steps->step[steps->n++];
    *step = (struct top_step){.kind = kind};
    if (module)
        step->target = module_id(frame->module);
    else if (function)
        step->target = frame->function;
    if (module || function)
        snprintf(step->name, sizeof step->name, "%s", module ? frame->module : frame->name);
    return true;
}

/* By location. */
static bool *match(const struct top_step *step, struct profile *profile) {
    bool *matched = memory_new(profile->n_locations, sizeof *matched, "locations");
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        struct top_place place = top_model_place(profile, i);
        bool named = step->kind != TRANSFORM_COLLAPSE || place.module[0] != '\0';
        uint64_t id = step->kind == TRANSFORM_COLLAPSE ? module_id(place.module) : place.function;
        matched[i] = named && id == step->target;
    }
    return matched;
}

struct profile *top_steps_apply(const struct top_steps *steps, struct profile *profile) {
    for (unsigned i = 0; i < steps->n; i++) {
        const struct top_step *step = &steps->step[i];
        bool *matched = step->kind != TRANSFORM_FOLD ? match(step, profile) : NULL;
        profile = transform_one(profile, step->kind, matched);
    }
    return profile;
}

uint64_t top_steps_id(const struct top_steps *steps) {
    uint64_t id = 1;
    for (unsigned i = 0; i < steps->n; i++)
        id = top_id_mix(top_id_mix(id, steps->step[i].kind), steps->step[i].target);
    return id;
}

void top_steps_text(struct top_line *line, const struct top_steps *steps) {
    for (unsigned i = 0; i < steps->n; i++) {
        top_line_print(line, "%s%s", i > 0 ? ", " : "", words[steps->step[i].kind]);
        top_line_name(line, steps->step[i].name, 30);
    }
}

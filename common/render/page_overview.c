/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * page_overview.c - a profile of some nodes of another one.
 */
#include "common/render/page_overview.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/render/page_order.h"

#define MANY 8192u /* contexts: fewer are read before anybody sees a difference */

/* What is lighter than such a part of all is less than half a pixel on a canvas of 2,048. */
#define SEEN 4096u

struct making {
    const struct profile *from;
    struct profile *to;
    uint32_t *node;     /* by node of `from`: in `to` it, or the nearest caller that is there */
    uint32_t unread[2]; /* locations; [1]: of what stands in [~] */
};

static uint32_t copy_function(const struct making *making, uint32_t number) {
    const struct profile_function *it = &making->from->functions[number];
    return profile_add_function(making->to, it->name, it->system_name, it->file, it->start_line);
}

/* Modules have the same numbers; the page shows the innermost line alone. */
static uint32_t copy_location(const struct making *making, uint32_t number) {
    struct profile_location like = making->from->locations[number];
    struct profile_line line = {0};
    if (number == 0)
        return 0;
    like.n_lines = like.n_lines > 0 ? 1 : 0;
    if (like.n_lines > 0)
        line = (struct profile_line){copy_function(making, like.lines[0].function),
                                     like.lines[0].line};
    like.lines = &line;
    return profile_intern_location(making->to, &like);
}

static void copy_node(struct making *making, uint32_t i, bool seen, bool pruned) {
    const struct profile_node *it = &making->from->nodes[i];
    uint32_t caller = making->node[it->parent];
    if (!seen) {
        profile_add_node(making->to, caller, making->unread[pruned], it->count, 0);
        making->node[i] = caller;
        return;
    }
    making->node[i] = profile_add_node(making->to, caller, copy_location(making, it->location),
                                       it->count, it->error);
    making->to->nodes[making->node[i]].inlined = it->inlined;
}

static void copy_nodes(struct making *making, const uint64_t *weight) {
    const struct profile *from = making->from;
    bool *pruned = profile_find_hidden(from);
    for (uint32_t i = 1; i < from->n_nodes; i++) {
        const struct profile_node *it = &from->nodes[i];
        if (it->parent == 0) {
            making->node[i] = profile_root(making->to, it->process);
            making->to->nodes[making->node[i]].count = it->count;
            making->to->nodes[making->node[i]].error = it->error;
        } else {
            copy_node(making, i, weight[i] >= weight[0] / SEEN, pruned[i]);
        }
    }
    free(pruned);
}

static void copy_seen(struct making *making, const uint64_t *weight) {
    const struct profile *from = making->from;
    making->to = profile_new();
    making->node = memory_new(from->n_nodes, sizeof *making->node, "contexts");
    for (uint32_t i = 1; i < from->n_modules; i++)
        profile_add_module(making->to, from->modules[i].path, from->modules[i].build_id);
    for (uint32_t i = 1; i < from->n_processes; i++)
        profile_add_process(making->to, &from->processes[i]);
    making->unread[0] = profile_add_pseudo(making->to, PAGE_UNREAD);
    making->unread[1] = profile_add_pseudo(making->to, PAGE_UNREAD_PRUNED);
    copy_nodes(making, weight);
    free(making->node);
}

/* What stands for others comes last, as each of them is lighter than all that are there. */
static uint64_t *order_weights(const struct making *making) {
    const struct profile *profile = making->to;
    uint64_t *weight = page_weights(profile);
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (profile->nodes[i].location == making->unread[0] ||
            profile->nodes[i].location == making->unread[1])
            weight[i] = 0;
    return weight;
}

static uint64_t *module_weights(const struct profile *profile) {
    uint64_t *weight = memory_new(profile->n_modules, sizeof *weight, "modules");
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        weight[profile->locations[profile->nodes[i].location].module] += profile->nodes[i].count;
    return weight;
}

bool page_overview_make(struct page_overview *overview, const struct profile *profile,
                        const uint64_t *weight) {
    struct making making = {.from = profile};
    if (profile->n_nodes < MANY)
        return false;
    copy_seen(&making, weight);
    *overview = (struct page_overview){making.to, order_weights(&making), module_weights(profile)};
    return true;
}

void page_overview_free(struct page_overview *overview) {
    profile_free(overview->profile);
    free(overview->weight);
    free(overview->module_weight);
}

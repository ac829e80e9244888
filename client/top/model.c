/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * model.c - two profiles into one tree, by the names on the paths.
 */
#include "client/top/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/bounds.h"
#include "common/profile/process_fields.h"
#include "common/profile/tree_view.h"
#include "common/render/format.h"

#define CONTEXTS_SEED 0x636f6e7465787473u

static uint64_t function_id(const char *name, const char *module) {
    return top_id_text(top_id_text(1, module), name);
}

/* "server (pid 812)", to be distinguished by the whole path of its executable. */
static struct top_frame process_frame(struct profile *profile, uint32_t number) {
    const struct profile_process *process = &profile->processes[number];
    char name[512];
    if (process->pid != 0)
        snprintf(name, sizeof name, "%.400s (pid %" PRIu32 "%s)", process->command, process->pid,
                 process->live ? "" : ", finished");
    else
        snprintf(name, sizeof name, "%.400s (%" PRIu32 " runs)", process->command, process->runs);
    uint64_t id = top_id_mix(top_id_text(2, process->exe), process->pid);
    return (struct top_frame){
        .id = id,
        .name = profile_string(profile, name),
        .module = "",
        .file = "",
        .process = true,
        .function = id,
    };
}

struct top_place top_model_place(struct profile *profile, uint32_t location) {
    const struct profile_location *it = &profile->locations[location];
    const char *module = profile_basename(profile->modules[it->module].path);
    const char *name = it->n_lines > 0 ? profile->functions[it->lines[0].function].name : "";
    if (*name == '\0')
        name = profile_place_name(profile, profile, it);
    return (struct top_place){name, module, function_id(name, module)};
}

static struct top_frame place_frame(struct profile *profile, const struct profile_node *node,
                                    enum profile_by by) {
    const struct profile_location *place = &profile->locations[node->location];
    const struct profile_function *function =
        place->n_lines > 0 ? &profile->functions[place->lines[0].function] : &profile->functions[0];
    struct top_place called = top_model_place(profile, node->location);
    struct top_frame frame = {
        .name = called.name,
        .module = called.module,
        .file = profile_basename(function->file),
        .line = by == PROFILE_BY_LINE && place->n_lines > 0 ? place->lines[0].line : 0,
        .inlined = node->inlined,
        .function = called.function,
    };
    frame.id = top_id_mix(top_id_text(frame.function, frame.file), frame.line);
    if (by == PROFILE_BY_SITE)
        frame.id = top_id_mix(frame.id, place->address);
    return frame;
}

/* Adds the weights of a profile to the tree; roots stand for processes. */
static void add(struct top_model *model, struct profile *profile, int span) {
    struct top_tree *tree = &model->tree;
    uint32_t *at = memory_new(profile->n_nodes + 1, sizeof *at, "contexts");
    uint64_t *inclusive = tree_inclusive(profile), *upper = bounds_upper(profile, inclusive);
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node node = profile->nodes[i]; /* strings may be added below */
        struct top_frame frame = node.parent == 0 ? process_frame(profile, node.process)
                                                  : place_frame(profile, &node, model->by);
        at[i] = top_tree_child(tree, at[node.parent], top_tree_frame(tree, &frame));
        struct top_weight *weight = &tree->node[at[i]].weight[span];
        weight->self += node.count;
        weight->error += node.error;
        weight->beyond += upper[i] - inclusive[i];
        model->bounded |= weight->beyond > 0;
    }
    free(upper);
    free(inclusive);
    free(at);
}

static void add_up(struct top_model *model) {
    const struct profile *profile = model->total;
    model->sum = process_fields_sum(profile);
    for (uint32_t i = 1; i < profile->n_processes; i++)
        model->live += profile->processes[i].live;
}

/* Grouped, rewritten, and reduced to what is shown. */
static struct profile *select_contexts(const struct profile *profile, const struct top_steps *steps,
                                       const struct format_options *options) {
    struct profile *grouped = profile_group(profile, options->by, 0), *selected;
    grouped = top_steps_apply(steps, grouped);
    selected = format_select(grouped, options);
    profile_free(grouped);
    return selected;
}

struct top_model *top_model_make(const struct profile *total, const struct profile *recent,
                                 enum profile_by by, const struct top_steps *steps, unsigned n) {
    struct format_options options = format_default_options;
    struct top_model *model = memory_new(1, sizeof *model, "contexts");
    options.by = by;
    options.n = n;
    model->by = by;
    model->steps = top_steps_id(steps);
    model->total = select_contexts(total, steps, &options);
    top_tree_begin(&model->tree, CONTEXTS_SEED);
    add(model, model->total, TOP_TOTAL);
    if (recent != NULL) {
        model->recent = select_contexts(recent, steps, &options);
        add(model, model->recent, TOP_RECENT);
        model->span_ns = recent->window_ns > 0 ? recent->window_ns : 1;
    }
    top_tree_sum(&model->tree);
    add_up(model);
    return model;
}

void top_model_free(struct top_model *model) {
    if (model == NULL)
        return;
    profile_free(model->total);
    profile_free(model->recent);
    top_tree_free(&model->tree);
    free(model);
}

static uint64_t since(uint64_t now, uint64_t then) {
    return now > then ? now - then
                      : 0; /* a context that was pruned in between went to its parent */
}

bool top_model_set_change(struct top_model *model, const struct top_model *mark) {
    uint64_t marked = top_model_weight(mark, TOP_TOTAL);
    if (model->by != mark->by || model->steps != mark->steps ||
        model->total->duration_ns < mark->total->duration_ns ||
        top_model_weight(model, TOP_TOTAL) < marked ||
        strcmp(model->total->type, mark->total->type) != 0)
        return false;
    for (uint32_t i = 0; i < model->tree.n; i++) {
        struct top_node *node = &model->tree.node[i];
        uint32_t old = i == 0 ? 0 : top_ids_get(&mark->tree.nodes, node->id);
        struct top_weight now = node->weight[TOP_TOTAL], then = {0};
        if (i == 0 || old != 0)
            then = mark->tree.node[old].weight[TOP_TOTAL];
        node->weight[TOP_RECENT] = (struct top_weight){
            .self = since(now.self, then.self),
            .error = now.error + then.error,
            .inclusive = since(now.inclusive, then.inclusive),
            .beyond = now.beyond + then.beyond,
        };
    }
    uint64_t span = model->total->duration_ns - mark->total->duration_ns;
    model->span_ns = span > 0 ? span : 1;
    return true;
}

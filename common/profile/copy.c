/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * copy.c - parts of one profile into another.
 */
#include "common/profile/copy.h"

#include <stdlib.h>

#include "common/base/memory.h"

static struct profile *copy_head(const struct profile *from) {
    struct profile *to = profile_new();
    to->type = profile_string(to, from->type);
    to->unit = profile_string(to, from->unit);
    to->summary = profile_string(to, from->summary);
    to->title = profile_string(to, from->title);
    to->others = profile_string(to, from->others);
    to->marks = profile_string(to, from->marks);
    to->phi = from->phi;
    to->epsilon = from->epsilon;
    to->period = from->period;
    to->time_ns = from->time_ns;
    to->duration_ns = from->duration_ns;
    to->kernel_ns = from->kernel_ns;
    to->unresolved = from->unresolved;
    to->window_ns = from->window_ns;
    to->is_past = from->is_past;
    return to;
}

struct profile *copy_begin(const struct profile *from) {
    struct profile *to = copy_head(from);

    for (uint32_t i = 1; i < from->n_processes; i++)
        profile_add_process(to, &from->processes[i]);
    return to;
}

/* By node of `from`: its copy, 0 for those of processes that `to` has not. */
static void copy_nodes(struct profile *to, const struct profile *from, const uint32_t *process) {
    uint32_t *node = memory_new(from->n_nodes, sizeof *node, "contexts");
    uint32_t *place = memory_new(from->n_locations, sizeof *place, "locations");
    for (uint32_t i = 1; i < from->n_nodes; i++) {
        const struct profile_node *source = &from->nodes[i];
        if (process[source->process] == 0)
            continue;
        if (source->parent == 0) {
            node[i] = profile_root(to, process[source->process]);
        } else {
            if (place[source->location] == 0)
                place[source->location] = copy_location(to, from, source->location);
            node[i] = profile_add_node(to, node[source->parent], place[source->location], 0, 0);
        }
        copy_weight(&to->nodes[node[i]], source);
    }
    free(place);
    free(node);
}

struct profile *copy_processes(const struct profile *from,
                               bool (*wanted)(const void *arg,
                                              const struct profile_process *process),
                               const void *arg) {
    struct profile *to = copy_head(from);
    uint32_t *process = memory_new(from->n_processes, sizeof *process, "processes");
    for (uint32_t i = 1; i < from->n_processes; i++)
        if (wanted(arg, &from->processes[i]))
            process[i] = profile_add_process(to, &from->processes[i]);
    copy_nodes(to, from, process);
    free(process);
    return to;
}

uint32_t copy_module(struct profile *to, const struct profile *from, uint32_t module) {
    const struct profile_module *source = &from->modules[module];
    uint32_t copy;
    if (module == 0)
        return 0;
    copy = profile_add_module(to, source->path, source->build_id);
    to->modules[copy].start = source->start;
    to->modules[copy].limit = source->limit;
    return copy;
}

static uint32_t copy_function(struct profile *to, const struct profile_function *function) {
    return profile_add_function(to, function->name, function->system_name, function->file,
                                function->start_line);
}

void copy_lines(struct profile *to, uint32_t location, const struct profile *from,
                uint32_t source) {
    const struct profile_location *place = &from->locations[source];
    struct profile_line *lines =
        memory_new((size_t)place->n_lines + 1, sizeof *lines, "a location");
    for (uint32_t k = 0; k < place->n_lines; k++) {
        lines[k].function = copy_function(to, &from->functions[place->lines[k].function]);
        lines[k].line = place->lines[k].line;
    }
    profile_set_lines(to, location, lines, place->n_lines);
    free(lines);
}

uint32_t copy_location(struct profile *to, const struct profile *from, uint32_t location) {
    const struct profile_location *source = &from->locations[location];
    struct profile_location copy = *source;
    struct profile_line *lines;
    uint32_t added;
    lines = memory_new((size_t)source->n_lines + 1, sizeof *lines, "a location");
    for (uint32_t k = 0; k < source->n_lines; k++) {
        lines[k].function = copy_function(to, &from->functions[source->lines[k].function]);
        lines[k].line = source->lines[k].line;
    }
    if (source->n_lines == 0) {
        const char *name = profile_place_name(to, from, source);
        lines[0].function = profile_add_function(to, name, name, "", 0);
        copy.n_lines = 1;
    }
    copy.module = copy_module(to, from, source->module);
    copy.lines = lines;
    added = profile_intern_location(to, &copy);
    free(lines);
    return added;
}

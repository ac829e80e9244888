/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_json.c - a profile as JSON, format "hcct-profile", version 2.
 *
 *   format, version, type, unit, by, phi, epsilon, summary, period, time_ns, duration_ns,
 *   window_ns, past, kernel_ns, unresolved, total
 *   processes: [{command, exe, tags, pid, runs, live, threads, total, cpu_ns, walks, ..., scale}]
 *   chance:    {samples, total_half_width, shares: [...], half_widths: [...]}
 *   modules:   [{path, build_id}]; the path of a program that was executed by a link has the
 *              link's name, its process's exe the file's
 *   functions: [{function, system_name, module, file, line, address, self, self_upper, inclusive,
 *                inclusive_upper, self_half_width, inclusive_half_width}]
 *   nodes:     [{parent, process, function, system_name, module, file, line, address, inlined,
 *                count, error, inclusive, inclusive_upper, scaled, half_width,
 *                inclusive_half_width}]
 *
 * Weights are integers in `unit`. A node's true self weight is in [count, count + error], its true
 * inclusive weight in [inclusive, inclusive_upper]. Counts add up to `total`: what belongs to
 * contexts that are not kept, or not shown, is in nodes "[~]" below the deepest caller that is, and
 * below these in the function that was at work, where that is known. Such nodes are no contexts of
 * their own, and have no bounds. `functions` has what `by` tells apart (lines, sites, modules),
 * over all contexts, those not kept and not shown included, recursion counted once: the true
 * weights are in [self, self_upper] and [inclusive, inclusive_upper].
 *
 * Where calls are seen in bursts only, a call that was seen counts as many times as its burst
 * stands for bursts. `scale` is the CPU time by what all bursts stand for (stands_ns; 0: calls
 * count once, and it is the time within bursts), of both the program's own, and `scaled` the
 * estimate count * scale. Both are left out elsewhere.
 *
 * `chance` is there where samples were taken now and then: half of the 95 % interval of a share,
 * for some shares, as functions have it together; `samples` independent ones would tell as much of
 * a share of a tenth. The half widths of `functions`, and of `nodes` (of `count`, and of
 * `inclusive`), in `unit`, are those of each by itself.
 *
 * `past` is there when that window has ended before the profile was made; it begins at time_ns.
 * `window_ns` is there when the weights, and what the processes' counters say, are of the last so
 * much time only and not since the start; duration_ns is the same then.
 *
 * `kernel_ns` is there when hcct record knows what CPU time the kernel has counted for all that was
 * recorded: exec, the loader and the end of each process are in it, and in no context.
 *
 * `unresolved` is there when so many places have a bare name for now: what is inlined there, and
 * their lines, are still being found out, and a later answer has them.
 *
 * A node's `parent` is its place in `nodes`, which is before its own, or null for a process's root,
 * which has no function; `process` and `module` are places in their lists. What is not known is
 * left out. `address` is in the file's own numbering and stands there only when contexts are
 * grouped by site; phi and epsilon are 0 when not known. New members may come; a member that
 * changes its meaning raises the version.
 */
#include <stdlib.h>

#include "common/base/json_out.h"
#include "common/base/memory.h"
#include "common/profile/bounds.h"
#include "common/profile/context_effects.h"
#include "common/profile/mark_lines.h"
#include "common/profile/process_fields.h"
#include "common/profile/tree_view.h"
#include "common/render/chance_json.h"
#include "common/render/format.h"

static void put_process(struct json_out *json, const struct profile_process *process) {
    json_begin(json, '{');
    for (const struct process_field *field = process_fields; field->name != NULL; field++) {
        uint64_t number = process_field_number(process, field);
        if (field->kind == FIELD_STRING)
            json_known_member(json, field->name, process_field_string(process, field));
        else if (field->kind == FIELD_BOOL)
            json_bool_member(json, field->name, number != 0);
        else
            json_number_member(json, field->name, number);
    }
    if (profile_scale(process) != 1)
        json_double_member(json, "scale", profile_scale(process));
    json_end(json, '}');
}

static void put_processes(struct json_out *json, const struct profile *profile) {
    json_array_member(json, "processes");
    for (uint32_t i = 1; i < profile->n_processes; i++)
        put_process(json, &profile->processes[i]);
    json_end(json, ']');
}

static void put_chance(struct json_out *json, const struct profile *profile) {
    const struct chance chance = chance_of(profile);
    chance_put_json(json, &chance);
}

static void put_modules(struct json_out *json, const struct profile *profile) {
    json_array_member(json, "modules");
    for (uint32_t i = 1; i < profile->n_modules; i++) {
        json_begin(json, '{');
        json_string_member(json, "path", profile->modules[i].path);
        json_known_member(json, "build_id", profile->modules[i].build_id);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_place(struct json_out *json, const struct profile *profile,
                      const struct profile_location *place, bool with_address) {
    const struct profile_function *function = &profile->functions[place->lines[0].function];
    json_string_member(json, "function", function->name);
    if (function->system_name != function->name)
        json_known_member(json, "system_name", function->system_name);
    if (place->module != 0)
        json_number_member(json, "module", place->module - 1);
    json_known_member(json, "file", function->file);
    if (place->lines[0].line != 0)
        json_number_member(json, "line", place->lines[0].line);
    if (with_address && !profile_is_pseudo(place))
        json_number_member(json, "address", place->address);
}

/* Half of the 95 % interval of a weight, where there is one. */
static void put_half_width(struct json_out *json, const char *key, const struct chance *chance,
                           uint64_t weight, float effect) {
    double half = chance_weight_half_width(chance, (double)weight, effect);
    if (half > 0)
        json_double_member(json, key, half);
}

static void put_functions(struct json_out *json, const struct profile *profile,
                          const uint64_t *inclusive, enum profile_by by) {
    struct profile_flat *flat = bounds_flat(profile, inclusive);
    const struct chance chance = chance_of(profile);
    json_array_member(json, "functions");
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_location *place = &profile->locations[i];
        if (flat[i].upper == 0 || place->n_lines == 0 || profile_is_pruned(profile, i))
            continue;
        json_begin(json, '{');
        put_place(json, profile, place, by == PROFILE_BY_SITE);
        json_number_member(json, "self", flat[i].self);
        json_number_member(json, "self_upper", flat[i].self_upper);
        json_number_member(json, "inclusive", flat[i].inclusive);
        json_number_member(json, "inclusive_upper", flat[i].upper);
        put_half_width(json, "self_half_width", &chance, flat[i].self, place->self_effect);
        put_half_width(json, "inclusive_half_width", &chance, flat[i].inclusive, place->effect);
        json_end(json, '}');
    }
    json_end(json, ']');
    free(flat);
}

static void put_scaled(struct json_out *json, uint64_t count, double scale) {
    double scaled = (double)count * scale;
    if (scale != 1 && scaled < 0x1p63)
        json_number_member(json, "scaled", (uint64_t)(scaled + 0.5));
}

static void put_node(struct json_out *json, const struct profile *profile,
                     const struct profile_node *node, uint64_t inclusive, uint64_t upper,
                     const struct chance *chance, struct effects effects, enum profile_by by) {
    json_begin(json, '{');
    json_key(json, "parent");
    if (node->parent == 0)
        json_null(json);
    else
        json_number(json, node->parent - 1);
    json_number_member(json, "process", node->process - 1);
    if (node->parent != 0)
        put_place(json, profile, &profile->locations[node->location], by == PROFILE_BY_SITE);
    if (node->inlined)
        json_bool_member(json, "inlined", true);
    json_number_member(json, "count", node->count);
    json_number_member(json, "error", node->error);
    json_number_member(json, "inclusive", inclusive);
    json_number_member(json, "inclusive_upper", upper);
    put_scaled(json, node->count, profile_scale(&profile->processes[node->process]));
    if (node->parent != 0 && !profile_is_pruned(profile, node->location)) {
        put_half_width(json, "half_width", chance, node->count, effects.self);
        put_half_width(json, "inclusive_half_width", chance, inclusive, effects.inclusive);
    }
    json_end(json, '}');
}

static struct effects *effects_of_nodes(const struct profile *profile, const uint64_t *inclusive,
                                        bool drawn_alone) {
    uint64_t *self = memory_new(profile->n_nodes, sizeof *self, "contexts");
    struct effects *function = function_effects(profile);
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        self[i] = profile->nodes[i].count;
    struct effects *effects = context_effects(profile, self, inclusive, function, drawn_alone);
    free(self);
    free(function);
    return effects;
}

static void put_nodes(struct json_out *json, const struct profile *profile, enum profile_by by) {
    uint64_t *inclusive = tree_inclusive(profile), *upper = tree_upper(profile, inclusive);
    const struct chance chance = chance_of(profile);
    struct effects *effects = effects_of_nodes(profile, inclusive, chance.drawn_alone);
    put_functions(json, profile, inclusive, by);
    json_array_member(json, "nodes");
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        put_node(json, profile, &profile->nodes[i], inclusive[i], upper[i], &chance, effects[i],
                 by);
    json_end(json, ']');
    free(effects);
    free(inclusive);
    free(upper);
}

static void put_marks(struct json_out *json, const struct profile *profile) {
    struct mark_line mark;
    if (*profile->marks == '\0')
        return;
    json_array_member(json, "marks");
    for (const char *text = profile->marks; mark_line_next(&text, &mark);) {
        json_begin(json, '{');
        json_number_member(json, "time_ns", mark.time_ns);
        json_number_member(json, "pid", mark.pid);
        json_string_member(json, "name", mark.name);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_header(struct json_out *json, const struct profile *profile, enum profile_by by) {
    json_string_member(json, "format", "hcct-profile");
    json_number_member(json, "version", 2);
    json_string_member(json, "type", profile->type);
    json_string_member(json, "unit", profile->unit);
    json_string_member(json, "by", profile_by_word(by));
    json_known_member(json, "title", profile->title);
    json_known_member(json, "others", profile->others);
    json_double_member(json, "phi", profile->phi);
    json_double_member(json, "epsilon", profile->epsilon);
    json_string_member(json, "summary", profile->summary);
    json_number_member(json, "period", profile->period);
    json_number_member(json, "time_ns", profile->time_ns);
    json_number_member(json, "duration_ns", profile->duration_ns);
    if (profile->window_ns != 0)
        json_number_member(json, "window_ns", profile->window_ns);
    put_marks(json, profile);
    if (profile->is_past)
        json_bool_member(json, "past", true);
    if (profile->kernel_ns != 0)
        json_number_member(json, "kernel_ns", profile->kernel_ns);
    if (profile->unresolved != 0)
        json_number_member(json, "unresolved", profile->unresolved);
    json_number_member(json, "total", profile_total(profile));
}

bool write_json(FILE *out, const struct profile *profile, const struct format_options *options) {
    struct profile *grouped = format_select(profile, options);
    struct json_out json = {.out = out};
    json_begin(&json, '{');
    put_header(&json, grouped, options->by);
    put_processes(&json, grouped);
    put_chance(&json, grouped);
    put_modules(&json, grouped);
    put_nodes(&json, grouped, options->by);
    json_end(&json, '}');
    fputc('\n', out);
    profile_free(grouped);
    return fflush(out) == 0 && !ferror(out);
}

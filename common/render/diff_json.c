/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_json.c - a comparison as JSON, format "hcct-diff", version 2; hcct-diff(1) tells more.
 *
 *   format, version, type, unit, by, mode, why, scale, sampling, compared, beyond
 *   total: {before, after, interval, beyond}, not scaled
 *   before, after: {file, exe, executables, total, lost, samples}
 *   nodes: [{parent, process, function, module, file, line, address, inlined, self, inclusive}]
 *
 * A node's `parent` is its place in `nodes`, which is before its own, or null for the root of an
 * executable, which has only `process`, its name. `self` and `inclusive` are {before, after,
 * before_error, after_error, before_more, after_more, interval, margin, beyond, points}: weights in
 * `unit`, those of before multiplied by `scale` already; `points` is by how much the share of the
 * total changed. What is not known is left out. New members may come; a
 * member that changes its meaning raises the version.
 */
#include <math.h>

#include "common/base/json_out.h"
#include "common/profile/diff.h"
#include "common/profile/tree_view.h"
#include "common/render/format.h"

static void put_weight(struct json_out *json, const struct diff *diff, const char *key,
                       const struct diff_weight *w) {
    json_object_member(json, key);
    json_number_member(json, "before", w->before);
    json_number_member(json, "after", w->after);
    json_number_member(json, "before_error", w->before_error);
    json_number_member(json, "after_error", w->after_error);
    json_number_member(json, "before_more", w->before_more);
    json_number_member(json, "after_more", w->after_more);
    json_double_member(json, "interval", w->interval);
    json_double_member(json, "margin", w->margin);
    json_bool_member(json, "beyond", w->beyond);
    json_double_member(json, "points", diff_share_change(diff, w));
    json_end(json, '}');
}

static void put_side(struct json_out *json, const char *key, const struct diff_side *side) {
    json_object_member(json, key);
    json_known_member(json, "file", side->name);
    json_known_member(json, "exe", side->exe);
    json_known_member(json, "title", side->title);
    json_number_member(json, "executables", side->n_exes);
    json_number_member(json, "total", side->total);
    json_number_member(json, "lost", side->lost);
    if (side->samples > 0)
        json_double_member(json, "samples", round(side->samples * 1000) / 1000);
    json_end(json, '}');
}

static void put_frame(struct json_out *json, const struct diff *diff, uint32_t node) {
    const struct profile *profile = diff->profile;
    const struct profile_location *place = &profile->locations[profile->nodes[node].location];
    json_known_member(json, "function", tree_name(profile, node));
    json_known_member(json, "module", profile->modules[place->module].path);
    if (place->n_lines > 0) {
        json_known_member(json, "file", profile->functions[place->lines[0].function].file);
        if (place->lines[0].line > 0)
            json_number_member(json, "line", place->lines[0].line);
    }
    if (diff->by == PROFILE_BY_SITE)
        json_number_member(json, "address", place->address);
    if (profile->nodes[node].inlined)
        json_bool_member(json, "inlined", true);
}

static void put_node(struct json_out *json, const struct diff *diff, uint32_t node) {
    const struct profile_node *it = &diff->profile->nodes[node];
    json_begin(json, '{');
    if (it->parent == 0) {
        json_key(json, "parent");
        json_null(json);
        json_known_member(json, "process", diff->profile->processes[it->process].command);
    } else {
        json_number_member(json, "parent", it->parent - 1);
        put_frame(json, diff, node);
    }
    put_weight(json, diff, "self", &diff->self[node]);
    put_weight(json, diff, "inclusive", &diff->inclusive[node]);
    json_end(json, '}');
}

static void put_total(struct json_out *json, const struct diff_weight *total) {
    json_object_member(json, "total");
    json_number_member(json, "before", total->before);
    json_number_member(json, "after", total->after);
    json_double_member(json, "interval", total->interval);
    json_bool_member(json, "beyond", total->beyond);
    json_end(json, '}');
}

static void put_header(struct json_out *json, const struct diff *diff) {
    json_string_member(json, "format", "hcct-diff");
    json_number_member(json, "version", 2);
    json_string_member(json, "type", diff->profile->type);
    json_string_member(json, "unit", diff->profile->unit);
    json_string_member(json, "by", profile_by_word(diff->by));
    json_string_member(json, "mode", diff_mode_word(diff));
    json_string_member(json, "why", diff_why_word(diff));
    json_double_member(json, "scale", diff->scale);
    json_string_member(json, "sampling", diff_sampling_word(diff));
    json_number_member(json, "compared", diff->compared);
    json_number_member(json, "beyond", diff->beyond);
}

bool write_json_diff(FILE *out, const struct diff *diff, const struct format_options *options) {
    (void)options;
    struct json_out json = {.out = out};

    json_begin(&json, '{');
    put_header(&json, diff);
    put_total(&json, &diff->total);
    put_side(&json, "before", &diff->side[DIFF_BEFORE]);
    put_side(&json, "after", &diff->side[DIFF_AFTER]);
    json_array_member(&json, "nodes");
    for (uint32_t i = 1; i < diff->profile->n_nodes; i++)
        put_node(&json, diff, i);
    json_end(&json, ']');
    json_end(&json, '}');
    fputc('\n', out);
    return fflush(out) == 0 && !ferror(out);
}

/*
 * diff_json.c - a comparison as JSON, format "hcct-diff", version 1; hcct-diff(1) tells more.
 *
 *   format, version, type, unit, by, mode, scale, sampling, compared, beyond
 *   before, after: {file, exe, executables, total, looks, unseen}
 *   nodes: [{parent, process, function, module, file, line, address, inlined, self, inclusive}]
 *
 * A node's `parent` is its place in `nodes`, which is before its own, or null for the root of an
 * executable, which has only `process`, its name. `self` and `inclusive` are {before, after,
 * before_error, after_error, before_more, after_more, interval, beyond}: weights in `unit`, those
 * of before multiplied by `scale` already. What is not known is left out. New members may come; a
 * member that changes its meaning raises the version.
 */
#include <json-c/json.h>
#include <stdlib.h>

#include "daemon/report/diff.h"
#include "daemon/report/tree_view.h"

static void add(struct json_object *object, const char *key, struct json_object *value) {
    if (value == NULL || json_object_object_add(object, key, value) != 0)
        profile_die("JSON");
}

static void add_string(struct json_object *object, const char *key, const char *value) {
    if (*value != '\0')
        add(object, key, json_object_new_string(value));
}

static void add_count(struct json_object *object, const char *key, uint64_t value) {
    add(object, key, json_object_new_uint64(value));
}

static struct json_object *new_object(void) {
    struct json_object *object = json_object_new_object();

    if (object == NULL)
        profile_die("JSON");
    return object;
}

static void add_weight(struct json_object *parent, const char *key, const struct diff_weight *w) {
    struct json_object *object = new_object();

    add_count(object, "before", w->before);
    add_count(object, "after", w->after);
    add_count(object, "before_error", w->before_error);
    add_count(object, "after_error", w->after_error);
    add_count(object, "before_more", w->before_more);
    add_count(object, "after_more", w->after_more);
    add(object, "interval", json_object_new_double(w->interval));
    add(object, "beyond", json_object_new_boolean(w->beyond));
    add(parent, key, object);
}

static void add_side(struct json_object *parent, const char *key, const struct diff_side *side) {
    struct json_object *object = new_object();

    add_string(object, "file", side->name);
    add_string(object, "exe", side->exe);
    add_count(object, "executables", side->n_exes);
    add_count(object, "total", side->total);
    if (side->looks > 0)
        add(object, "looks", json_object_new_double(side->looks));
    add_count(object, "unseen", side->unseen);
    add(parent, key, object);
}

static void add_frame(struct json_object *object, const struct diff *diff, uint32_t node) {
    const struct profile *profile = diff->profile;
    const struct profile_location *place = &profile->locations[profile->nodes[node].location];

    add_string(object, "function", tree_name(profile, node));
    add_string(object, "module", profile->modules[place->module].path);
    if (place->n_lines > 0) {
        add_string(object, "file", profile->functions[place->lines[0].function].file);
        if (place->lines[0].line > 0)
            add_count(object, "line", place->lines[0].line);
    }
    if (diff->by == PROFILE_BY_SITE)
        add_count(object, "address", place->address);
    if (profile->nodes[node].inlined)
        add(object, "inlined", json_object_new_boolean(true));
}

static struct json_object *new_node(const struct diff *diff, uint32_t node) {
    const struct profile_node *it = &diff->profile->nodes[node];
    struct json_object *object = new_object();

    if (it->parent == 0) {
        if (json_object_object_add(object, "parent", NULL) != 0)
            profile_die("JSON");
        add_string(object, "process", diff->profile->processes[it->process].command);
    } else {
        add_count(object, "parent", it->parent - 1);
        add_frame(object, diff, node);
    }
    add_weight(object, "self", &diff->self[node]);
    add_weight(object, "inclusive", &diff->inclusive[node]);
    return object;
}

bool diff_write_json(FILE *out, const struct diff *diff) {
    static const char *const sampling[] = {
        [DIFF_SAMPLED] = "sampled", [DIFF_EXACT] = "exact", [DIFF_UNKNOWN] = "unknown"};
    struct json_object *object = new_object(), *nodes = json_object_new_array();

    if (nodes == NULL)
        profile_die("JSON");
    add_string(object, "format", "hcct-diff");
    add_count(object, "version", 1);
    add_string(object, "type", diff->profile->type);
    add_string(object, "unit", diff->profile->unit);
    add_string(object, "by", profile_by_word(diff->by));
    add_string(object, "mode", diff->mode == DIFF_SHARES ? "shares" : "absolute");
    add(object, "scale", json_object_new_double(diff->scale));
    add_string(object, "sampling", sampling[diff->sampling]);
    add_count(object, "compared", diff->compared);
    add_count(object, "beyond", diff->beyond);
    add_side(object, "before", &diff->side[DIFF_BEFORE]);
    add_side(object, "after", &diff->side[DIFF_AFTER]);
    for (uint32_t i = 1; i < diff->profile->n_nodes; i++)
        if (json_object_array_add(nodes, new_node(diff, i)) != 0)
            profile_die("JSON");
    add(object, "nodes", nodes);
    const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
                                                                  JSON_C_TO_STRING_NOSLASHESCAPE);
    if (text == NULL)
        profile_die("JSON");
    fputs(text, out);
    fputc('\n', out);
    json_object_put(object);
    return fflush(out) == 0 && !ferror(out);
}

/*
 * write_json.c - a profile as JSON, format "hcct-profile", version 1.
 *
 *   format, version, type, unit, by, phi, epsilon, summary, period, time_ns, duration_ns,
 *   window_ns, unresolved, total
 *   processes: [{command, exe, pid, runs, live, threads, total, cpu_ns, walks, ..., scale}]
 *   modules:   [{path, build_id}]
 *   nodes:     [{parent, process, function, system_name, module, file, line, address, inlined,
 *                count, error, inclusive, scaled}]
 *
 * Weights are integers in `unit`. Where calls are seen in bursts only, the weights are those of the
 * calls that were seen; `scale` says how many calls one of them stands for (CPU time by CPU time
 * within bursts), and `scaled` is the estimate count * scale, too low where following its calls
 * slows a program down. Both are left out elsewhere.
 *
 * `window_ns` is there when the weights, and what the processes' counters say, are of the last so
 * much time only and not since the start; duration_ns is the same then.
 *
 * `unresolved` is there when so many places have a bare name for now: what is inlined there, and
 * their lines, are still being found out, and a later answer has them.
 *
 * A node's `parent` is its place in `nodes`, which is before its own, or null for a process's root,
 * which has no function; `process` and `module` are places in their lists. What is not known is
 * left out. `address` is in the file's own numbering and stands there only when contexts are told
 * apart by site; phi and epsilon are 0 when not known. New members may come; a member that changes
 * its meaning raises the version.
 */
#include <json-c/json.h>
#include <stdlib.h>

#include "daemon/report/format.h"
#include "daemon/report/process_fields.h"
#include "daemon/report/tree_view.h"

static void add(struct json_object *object, const char *key, struct json_object *value) {
    if (value == NULL || json_object_object_add(object, key, value) != 0)
        profile_die("JSON");
}

static void add_string(struct json_object *object, const char *key, const char *value) {
    add(object, key, json_object_new_string(value));
}

static void add_known(struct json_object *object, const char *key, const char *value) {
    if (*value != '\0')
        add_string(object, key, value);
}

static void add_number(struct json_object *object, const char *key, uint64_t value) {
    add(object, key, json_object_new_uint64(value));
}

static void append(struct json_object *array, struct json_object *value) {
    if (json_object_array_add(array, value) != 0)
        profile_die("JSON");
}

static struct json_object *new_object(void) {
    struct json_object *object = json_object_new_object();

    if (object == NULL)
        profile_die("JSON");
    return object;
}

static struct json_object *new_array(struct json_object *parent, const char *key, size_t n) {
    struct json_object *array = json_object_new_array_ext((int)n);

    add(parent, key, array);
    return array;
}

static void add_processes(struct json_object *top, const struct profile *profile) {
    struct json_object *array = new_array(top, "processes", profile->n_processes);

    for (uint32_t i = 1; i < profile->n_processes; i++) {
        const struct profile_process *process = &profile->processes[i];
        struct json_object *object = new_object();

        for (const struct process_field *field = process_fields; field->name != NULL; field++) {
            uint64_t number = process_field_number(process, field);

            if (field->kind == FIELD_STRING)
                add_known(object, field->name, process_field_string(process, field));
            else if (field->kind == FIELD_BOOL)
                add(object, field->name, json_object_new_boolean(number != 0));
            else
                add_number(object, field->name, number);
        }
        if (profile_scale(process) > 1)
            add(object, "scale", json_object_new_double(profile_scale(process)));
        append(array, object);
    }
}

static void add_modules(struct json_object *top, const struct profile *profile) {
    struct json_object *array = new_array(top, "modules", profile->n_modules);

    for (uint32_t i = 1; i < profile->n_modules; i++) {
        struct json_object *object = new_object();

        add_string(object, "path", profile->modules[i].path);
        if (*profile->modules[i].build_id != '\0')
            add_string(object, "build_id", profile->modules[i].build_id);
        append(array, object);
    }
}

static void add_place(struct json_object *object, const struct profile *profile,
                      const struct profile_location *place, bool with_address) {
    const struct profile_function *function = &profile->functions[place->lines[0].function];

    add_string(object, "function", function->name);
    if (*function->system_name != '\0' && function->system_name != function->name)
        add_string(object, "system_name", function->system_name);
    if (place->module != 0)
        add_number(object, "module", place->module - 1);
    if (*function->file != '\0')
        add_string(object, "file", function->file);
    if (place->lines[0].line != 0)
        add_number(object, "line", place->lines[0].line);
    if (with_address && !profile_is_pseudo(place))
        add_number(object, "address", place->address);
}

static void add_scaled(struct json_object *object, uint64_t count, double scale) {
    double scaled = (double)count * scale;

    if (scale > 1 && scaled < 0x1p63)
        add_number(object, "scaled", (uint64_t)(scaled + 0.5));
}

static void add_nodes(struct json_object *top, const struct profile *profile, enum profile_by by) {
    struct json_object *array = new_array(top, "nodes", profile->n_nodes);
    uint64_t *inclusive = tree_inclusive(profile);

    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        struct json_object *object = new_object();

        if (node->parent == 0)
            json_object_object_add(object, "parent", NULL);
        else
            add_number(object, "parent", node->parent - 1);
        add_number(object, "process", node->process - 1);
        if (node->parent != 0)
            add_place(object, profile, &profile->locations[node->location], by == PROFILE_BY_SITE);
        if (node->inlined)
            add(object, "inlined", json_object_new_boolean(true));
        add_number(object, "count", node->count);
        add_number(object, "error", node->error);
        add_number(object, "inclusive", inclusive[i]);
        add_scaled(object, node->count, profile_scale(&profile->processes[node->process]));
        append(array, object);
    }
    free(inclusive);
}

static void add_header(struct json_object *top, const struct profile *profile, enum profile_by by) {
    add_string(top, "format", "hcct-profile");
    add_number(top, "version", 1);
    add_string(top, "type", profile->type);
    add_string(top, "unit", profile->unit);
    add_string(top, "by", profile_by_word(by));
    add(top, "phi", json_object_new_double(profile->phi));
    add(top, "epsilon", json_object_new_double(profile->epsilon));
    add_string(top, "summary", profile->summary);
    add_number(top, "period", profile->period);
    add_number(top, "time_ns", profile->time_ns);
    add_number(top, "duration_ns", profile->duration_ns);
    if (profile->window_ns != 0)
        add_number(top, "window_ns", profile->window_ns);
    if (profile->unresolved != 0)
        add_number(top, "unresolved", profile->unresolved);
    add_number(top, "total", profile_total(profile));
}

bool write_json(FILE *out, const struct profile *profile, const struct format_options *options) {
    struct profile *grouped = format_select(profile, options);
    struct json_object *top = new_object();
    const char *text;

    add_header(top, grouped, options->by);
    add_processes(top, grouped);
    add_modules(top, grouped);
    add_nodes(top, grouped, options->by);
    text = json_object_to_json_string_ext(top,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    if (text == NULL)
        profile_die("JSON");
    fputs(text, out);
    fputc('\n', out);
    json_object_put(top);
    profile_free(grouped);
    return fflush(out) == 0 && !ferror(out);
}

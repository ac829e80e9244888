/*
 * eval_json.c - the measures as JSON, format "hcct-eval", version 1; hcct(1) tells its members.
 *
 * Shares and errors are fractions, not per cent. What is not known is left out.
 */
#include <json-c/json.h>
#include <stdlib.h>

#include "daemon/report/eval.h"

static void add(struct json_object *object, const char *key, struct json_object *value) {
    if (value == NULL || json_object_object_add(object, key, value) != 0)
        profile_die("JSON");
}

static void add_string(struct json_object *object, const char *key, const char *value) {
    add(object, key, json_object_new_string(value));
}

static void add_count(struct json_object *object, const char *key, uint64_t value) {
    add(object, key, json_object_new_uint64(value));
}

static void add_known(struct json_object *object, const char *key, uint64_t value) {
    if (value > 0)
        add_count(object, key, value);
}

static void add_real(struct json_object *object, const char *key, double value) {
    add(object, key, json_object_new_double(value));
}

static void add_path(struct json_object *object, const char *key, const struct eval *eval,
                     uint32_t context) {
    char *path;

    if (context == 0)
        return;
    path = eval_path(&eval->join, context);
    add_string(object, key, path);
    free(path);
}

static struct json_object *add_object(struct json_object *parent, const char *key) {
    struct json_object *object = json_object_new_object();

    add(parent, key, object);
    return object;
}

static void add_side(struct json_object *top, const char *key, const struct eval *eval, int side) {
    const struct eval_side *it = &eval->join.side[side];
    const struct profile *profile = eval->profile[side];
    struct json_object *object = add_object(top, key);

    add_string(object, "command", it->exe);
    add_count(object, "executables", it->n_exes);
    add_string(object, "type", profile->type);
    add_string(object, "unit", profile->unit);
    add_string(object, "collector", eval_collector(profile));
    add_string(object, "summary", profile->summary);
    add_count(object, "total", it->total);
    add_count(object, "pruned", it->pruned);
    add_known(object, "contexts", it->contexts);
    add_known(object, "monitored", it->monitored);
    add_known(object, "bytes", it->bytes);
}

static void add_coverage(struct json_object *top, const struct eval *eval) {
    struct json_object *array = json_object_new_array();

    add(top, "coverage", array);
    for (unsigned k = 0; k < eval->n_coverage; k++) {
        const struct eval_coverage *it = &eval->coverage[k];
        struct json_object *object = json_object_new_object();

        if (object == NULL || json_object_array_add(array, object) != 0)
            profile_die("JSON");
        add_real(object, "tau", it->tau);
        add_count(object, "hot", it->hot);
        add_count(object, "covered", it->covered);
        add_real(object, "share", eval_share(it->covered, it->hot));
    }
}

static void add_uncovered(struct json_object *top, const struct eval *eval) {
    struct json_object *object = add_object(top, "uncovered");

    add_count(object, "contexts", eval->uncovered);
    add_real(object, "max", eval->uncovered_max);
    add_real(object, "average", eval->uncovered_average);
    add_path(object, "hottest", eval, eval->uncovered_hottest);
}

static void add_hot(struct json_object *top, const struct eval *eval) {
    struct json_object *object = add_object(top, "hot");

    add_count(object, "contexts", eval->hot);
    add_count(object, "reported", eval->reported);
    add_count(object, "false_positives", eval->false_positives);
    add_count(object, "false_negatives", eval->false_negatives);
    if (eval->reported > 0)
        add_real(object, "false_positive_share", eval_share(eval->false_positives, eval->reported));
    if (eval->hot > 0)
        add_real(object, "false_negative_share", eval_share(eval->false_negatives, eval->hot));
    add_path(object, "hottest_missed", eval, eval->missed_hottest);
}

static void add_error(struct json_object *top, const char *key, const struct eval *eval,
                      const struct eval_counter_error *error) {
    struct json_object *object = add_object(top, key);

    add_count(object, "contexts", error->contexts);
    add_count(object, "unknown", error->unknown);
    if (error->contexts == 0)
        return;
    add_real(object, "max", error->max);
    add_real(object, "average", error->average);
    add_path(object, "worst", eval, error->worst);
}

static void add_tree(struct json_object *top, const struct eval *eval) {
    const struct eval_side *exact = &eval->join.side[EVAL_EXACT];
    const struct eval_side *approx = &eval->join.side[EVAL_APPROX];
    struct json_object *object = add_object(top, "tree");

    add_count(object, "nodes", eval->tree);
    add_count(object, "cold", eval->tree_cold);
    add_count(object, "hot", eval->tree_hot);
    add_count(object, "false_positives", eval->tree_false);
    add_count(object, "exact_hot_nodes", eval->hcct);
    add_count(object, "exact_nodes", eval->cct);
    if (exact->contexts > 0 && approx->contexts > 0)
        add_real(object, "kept_share", eval_share(approx->contexts, exact->contexts));
    if (exact->bytes > 0 && approx->bytes > 0)
        add_real(object, "bytes_share", eval_share(approx->bytes, exact->bytes));
}

static void add_how(struct json_object *top, const struct eval *eval) {
    add_string(top, "format", "hcct-eval");
    add_count(top, "version", 1);
    add_string(top, "by", profile_by_word(eval->join.by));
    add_real(top, "phi", eval->phi);
    add_real(top, "epsilon", eval->epsilon);
    add(top, "scaled", json_object_new_boolean(eval->scaled));
    add_real(top, "scale", eval->scale);
    add(top, "outer_skipped", json_object_new_boolean(eval->join.outer_skipped));
    add(top, "exact_is_sample", json_object_new_boolean(eval->exact_is_sample));
    add_real(top, "exact_error", eval->exact_error);
}

bool eval_write_json(FILE *out, const struct eval *eval) {
    struct json_object *top = json_object_new_object();
    const char *text;

    if (top == NULL)
        profile_die("JSON");
    add_how(top, eval);
    add_side(top, "exact", eval, EVAL_EXACT);
    add_side(top, "approx", eval, EVAL_APPROX);
    add_real(top, "overlap", eval->overlap);
    add_real(top, "overlap_shares", eval->overlap_shares);
    add_coverage(top, eval);
    add_uncovered(top, eval);
    add_hot(top, eval);
    add_error(top, "hot_error", eval, &eval->hot_error);
    add_error(top, "error", eval, &eval->error);
    if (!eval->scaled)
        add_count(top, "out_of_bounds", eval->out_of_bounds);
    add_tree(top, eval);
    text = json_object_to_json_string_ext(top,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    if (text == NULL)
        profile_die("JSON");
    fprintf(out, "%s\n", text);
    json_object_put(top);
    return fflush(out) == 0 && !ferror(out);
}

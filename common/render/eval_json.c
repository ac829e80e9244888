/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eval_json.c - the measures as JSON, format "hcct-eval", version 1; hcct(1) tells its members.
 *
 * Shares and errors are fractions, not per cent. What is not known is left out.
 */
#include <stdlib.h>

#include "common/base/json_out.h"
#include "common/render/results.h"

static void put_known(struct json_out *json, const char *key, uint64_t value) {
    if (value > 0)
        json_number_member(json, key, value);
}

static void put_path(struct json_out *json, const char *key, const struct eval *eval,
                     uint32_t context) {
    char *path;
    if (context == 0)
        return;
    path = eval_path(&eval->join, context);
    json_string_member(json, key, path);
    free(path);
}

static void put_side(struct json_out *json, const char *key, const struct eval *eval, int side) {
    const struct eval_side *it = &eval->join.side[side];
    const struct profile *profile = eval->profile[side];
    json_object_member(json, key);
    json_string_member(json, "command", it->exe);
    json_number_member(json, "executables", it->n_exes);
    json_string_member(json, "type", profile->type);
    json_string_member(json, "unit", profile->unit);
    json_string_member(json, "collector", eval_collector(profile));
    json_string_member(json, "summary", profile->summary);
    json_number_member(json, "total", it->total);
    json_number_member(json, "pruned", it->pruned);
    put_known(json, "contexts", it->contexts);
    put_known(json, "monitored", it->monitored);
    put_known(json, "bytes", it->bytes);
    json_end(json, '}');
}

static void put_coverage(struct json_out *json, const struct eval *eval) {
    json_array_member(json, "coverage");
    for (unsigned k = 0; k < eval->n_coverage; k++) {
        const struct eval_coverage *it = &eval->coverage[k];
        json_begin(json, '{');
        json_double_member(json, "tau", it->tau);
        json_number_member(json, "hot", it->hot);
        json_number_member(json, "covered", it->covered);
        json_double_member(json, "share", eval_share(it->covered, it->hot));
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_uncovered(struct json_out *json, const struct eval *eval) {
    json_object_member(json, "uncovered");
    json_number_member(json, "contexts", eval->uncovered);
    json_double_member(json, "max", eval->uncovered_max);
    json_double_member(json, "average", eval->uncovered_average);
    put_path(json, "hottest", eval, eval->uncovered_hottest);
    json_end(json, '}');
}

static void put_hot(struct json_out *json, const struct eval *eval) {
    json_object_member(json, "hot");
    json_number_member(json, "contexts", eval->hot);
    json_number_member(json, "reported", eval->reported);
    json_number_member(json, "false_positives", eval->false_positives);
    json_number_member(json, "false_negatives", eval->false_negatives);
    if (eval->reported > 0)
        json_double_member(json, "false_positive_share",
                           eval_share(eval->false_positives, eval->reported));
    if (eval->hot > 0)
        json_double_member(json, "false_negative_share",
                           eval_share(eval->false_negatives, eval->hot));
    put_path(json, "hottest_missed", eval, eval->missed_hottest);
    json_end(json, '}');
}

static void put_error(struct json_out *json, const char *key, const struct eval *eval,
                      const struct eval_counter_error *error) {
    json_object_member(json, key);
    json_number_member(json, "contexts", error->contexts);
    json_number_member(json, "unknown", error->unknown);
    if (error->contexts > 0) {
        json_double_member(json, "max", error->max);
        json_double_member(json, "average", error->average);
        put_path(json, "worst", eval, error->worst);
    }
    json_end(json, '}');
}

static void put_tree(struct json_out *json, const struct eval *eval) {
    const struct eval_side *exact = &eval->join.side[EVAL_EXACT];
    const struct eval_side *approx = &eval->join.side[EVAL_APPROX];
    json_object_member(json, "tree");
    json_number_member(json, "nodes", eval->tree);
    json_number_member(json, "cold", eval->tree_cold);
    json_number_member(json, "hot", eval->tree_hot);
    json_number_member(json, "false_positives", eval->tree_false);
    json_number_member(json, "exact_hot_nodes", eval->hcct);
    json_number_member(json, "exact_nodes", eval->cct);
    if (exact->contexts > 0 && approx->contexts > 0)
        json_double_member(json, "kept_share", eval_share(approx->contexts, exact->contexts));
    if (exact->bytes > 0 && approx->bytes > 0)
        json_double_member(json, "bytes_share", eval_share(approx->bytes, exact->bytes));
    json_end(json, '}');
}

static void put_how(struct json_out *json, const struct eval *eval) {
    json_string_member(json, "format", "hcct-eval");
    json_number_member(json, "version", 1);
    json_string_member(json, "by", profile_by_word(eval->join.by));
    json_double_member(json, "phi", eval->phi);
    json_double_member(json, "epsilon", eval->epsilon);
    json_bool_member(json, "scaled", eval->scaled);
    json_double_member(json, "scale", eval->scale);
    json_bool_member(json, "outer_skipped", eval->join.outer_skipped);
    json_bool_member(json, "exact_is_sample", eval->exact_is_sample);
    json_double_member(json, "exact_error", eval->exact_error);
}

bool eval_write_json(FILE *out, const struct eval *eval) {
    struct json_out json = {.out = out};
    json_begin(&json, '{');
    put_how(&json, eval);
    put_side(&json, "exact", eval, EVAL_EXACT);
    put_side(&json, "approx", eval, EVAL_APPROX);
    json_double_member(&json, "overlap", eval->overlap);
    json_double_member(&json, "overlap_shares", eval->overlap_shares);
    put_coverage(&json, eval);
    put_uncovered(&json, eval);
    put_hot(&json, eval);
    put_error(&json, "hot_error", eval, &eval->hot_error);
    put_error(&json, "error", eval, &eval->error);
    if (!eval->scaled)
        json_number_member(&json, "out_of_bounds", eval->out_of_bounds);
    put_tree(&json, eval);
    json_end(&json, '}');
    fputc('\n', out);
    return fflush(out) == 0 && !ferror(out);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * page_data.c - struct profile and struct diff to columns of numbers.
 */
#include "common/render/page_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_out.h"
#include "common/base/memory.h"
#include "common/profile/diff.h"
#include "common/base/intern.h"
#include "common/render/chance_json.h"
#include "common/render/format_number.h"
#include "common/render/page_overview.h"
#include "common/render/page_facts.h"
#include "common/render/page_order.h"

#define EXACT_NUMBERS (1ull << 53) /* JavaScript's numbers hold integers up to here */

/* One page being written. */
struct page {
    struct json_out json;
    const struct profile *profile; /* grouped */
    bool wide;                     /* weights beyond EXACT_NUMBERS */
    struct page_order order;
    uint64_t step; /* all weights are multiples of it: one sample's, where they weigh the same */
    struct intern by_pointer; /* equal strings of a profile are one pointer */
    const char **strings;
    uint32_t n_strings, room;
};

static bool same_string(const void *entries, uint32_t i, const void *key) {
    return ((const struct page *)entries)->strings[i] == key;
}

static uint32_t string_number(struct page *page, const char *text) {
    uint32_t *slot;
    if (text == NULL || *text == '\0')
        return 0;
    slot = intern_find(&page->by_pointer, seeded_hash(0, (uintptr_t)text), same_string, page, text);
    if (*slot == 0) {
        *slot = page->n_strings;
        page->strings = memory_grow(page->strings, page->n_strings, &page->room,
                                    sizeof *page->strings, "strings");
        page->strings[page->n_strings++] = text;
    }
    return *slot;
}

/* ---- packed numbers: digits of five bits, the least first; a sixth bit says that one follows ----
 */

#define DIGIT_BITS  5u
#define DIGITS_MAX  (64 / DIGIT_BITS + 1)
#define DIGIT_FIRST '?' /* and the 63 characters behind it, but for the one that JSON escapes */
#define DIGIT_ODD   '!'

static char digit_of(unsigned digit) {
    char c = (char)(DIGIT_FIRST + digit);
    return c == '\\' ? DIGIT_ODD : c;
}

/* Where the next number goes. */
static char *pack(char *at, uint64_t number) {
    for (; number >> DIGIT_BITS != 0; number >>= DIGIT_BITS)
        *at++ = digit_of(1u << DIGIT_BITS | (number & ((1u << DIGIT_BITS) - 1)));
    *at++ = digit_of((unsigned)number);
    return at;
}

/* ---- columns: of one number for each entry ---- */

struct column {
    const char *name;
    uint64_t (*of)(struct page *page, uint32_t i);
};

static void put_column(struct page *page, const struct column *column, uint32_t n) {
    char *text = memory_new((size_t)n + 1, DIGITS_MAX, "columns"), *end = text;
    for (uint32_t i = 0; i < n; i++)
        end = pack(end, column->of(page, i));
    json_key(&page->json, column->name);
    json_part(&page->json, text, (size_t)(end - text));
    free(text);
}

/* Up to the column without a name; the object stays open. */
static void put_columns(struct page *page, const char *name, const struct column *columns,
                        uint32_t n) {
    json_object_member(&page->json, name);
    json_number_member(&page->json, "n", n);
    for (const struct column *column = columns; column->name != NULL; column++)
        put_column(page, column, n);
}

/* A number that may be too large for JavaScript: a string then, in all of the page alike. */
static void put_weight(struct page *page, uint64_t weight) {
    char digits[24];
    if (!page->wide) {
        json_number(&page->json, weight);
        return;
    }
    snprintf(digits, sizeof digits, "%" PRIu64, weight);
    json_string(&page->json, digits);
}

/* Weights by node. */
static void put_weights(struct page *page, const struct column *column) {
    if (!page->wide) {
        put_column(page, column, page->order.n);
        return;
    }
    json_array_member(&page->json, column->name);
    for (uint32_t i = 0; i < page->order.n; i++)
        put_weight(page, column->of(page, i));
    json_end(&page->json, ']');
}

#define COLUMN_STRING(NAME, FIELD)                                                                 \
    static uint64_t NAME(struct page *page, uint32_t i) {                                          \
        return string_number(page, page->profile->FIELD);                                          \
    }
#define COLUMN_NUMBER(NAME, FIELD)                                                                 \
    static uint64_t NAME(struct page *page, uint32_t i) {                                          \
        return page->profile->FIELD;                                                               \
    }

COLUMN_STRING(function_name, functions[i].name)
COLUMN_STRING(function_system, functions[i].system_name)
COLUMN_STRING(function_file, functions[i].file)
COLUMN_NUMBER(function_line, functions[i].start_line)
COLUMN_STRING(module_path, modules[i].path)
COLUMN_NUMBER(location_module, locations[i].module)
COLUMN_NUMBER(node_location, nodes[page->order.node[i]].location)
COLUMN_NUMBER(node_count, nodes[page->order.node[i]].count / page->step)
COLUMN_NUMBER(node_error, nodes[page->order.node[i]].error)
COLUMN_NUMBER(root_process, nodes[page->order.node[1 + i]].process) /* the first level */

static uint64_t node_children(struct page *page, uint32_t i) {
    return page->order.children[i];
}

static uint64_t location_function(struct page *page, uint32_t i) {
    const struct profile_location *it = &page->profile->locations[i];
    return it->n_lines > 0 ? it->lines[0].function : 0;
}

static uint64_t location_line(struct page *page, uint32_t i) {
    const struct profile_location *it = &page->profile->locations[i];
    return it->n_lines > 0 ? it->lines[0].line : 0;
}

static const struct column function_columns[] = {{"name", function_name},
                                                 {"system", function_system},
                                                 {"file", function_file},
                                                 {"line", function_line},
                                                 {NULL, NULL}},
                           module_paths = {"path", module_path},
                           location_columns[] = {{"function", location_function},
                                                 {"module", location_module},
                                                 {"line", location_line},
                                                 {NULL, NULL}},
                           node_columns[] = {{"children", node_children},
                                             {"location", node_location},
                                             {NULL, NULL}},
                           root_processes = {"process", root_process},
                           node_weights[] = {{"count", node_count}, {"error", node_error}};

/* ---- what is not a column ---- */

static void put_functions(struct page *page) {
    put_columns(page, "functions", function_columns, page->profile->n_functions);
    json_end(&page->json, '}');
    json_object_member(&page->json, "modules");
    json_number_member(&page->json, "n", page->profile->n_modules);
    put_column(page, &module_paths, page->profile->n_modules);
    json_end(&page->json, '}');
}

static void put_locations(struct page *page, bool by_site) {
    const struct profile *profile = page->profile;
    char digits[24];
    put_columns(page, "locations", location_columns, profile->n_locations);
    if (by_site)
        json_array_member(&page->json, "address");
    for (uint32_t i = 0; i < profile->n_locations && by_site; i++) {
        snprintf(digits, sizeof digits, "%" PRIx64, profile->locations[i].address);
        json_string(&page->json, digits);
    }
    if (by_site)
        json_end(&page->json, ']');
    json_end(&page->json, '}');
}

static void put_nodes(struct page *page) {
    const struct profile *profile = page->profile;
    put_columns(page, "nodes", node_columns, page->order.n);
    put_column(page, &root_processes, page->order.children[0]);
    json_number_member(&page->json, "step", page->step);
    put_weights(page, &node_weights[0]);
    put_weights(page, &node_weights[1]);
    json_end(&page->json, '}');
    json_array_member(&page->json, "inlined");
    for (uint32_t i = 1; i < page->order.n; i++)
        if (profile->nodes[page->order.node[i]].inlined)
            json_number(&page->json, i);
    json_end(&page->json, ']');
}

static void put_processes(struct page *page) {
    const struct profile *profile = page->profile;
    struct json_out *json = &page->json;
    json_array_member(json, "processes");
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        const struct profile_process *it = &profile->processes[i];
        struct chance chance = CHANCE_NONE;
        chance_add(&chance, profile, i, it->total);
        json_begin(json, '{');
        json_string_member(json, "command", it->command);
        json_string_member(json, "exe", it->exe);
        json_known_member(json, "tags", it->tags);
        json_number_member(json, "pid", it->pid);
        json_number_member(json, "runs", it->runs);
        json_bool_member(json, "live", it->live);
        json_number_member(json, "threads", it->threads);
        json_double_member(json, "scale", profile_scale(it));
        chance_put_json(json, &chance);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_strings(struct page *page) {
    json_array_member(&page->json, "strings");
    for (uint32_t i = 0; i < page->n_strings; i++)
        json_string(&page->json, page->strings[i]);
    json_end(&page->json, ']');
}

static void put_total(struct page *page, uint64_t total) {
    json_key(&page->json, "total");
    put_weight(page, total);
}

/* ---- the whole ---- */

static void put_head(struct page *page, const char *kind, const char *by, uint64_t total) {
    const struct profile *profile = page->profile;
    struct json_out *json = &page->json;
    json_number_member(json, "version", 1);
    json_string_member(json, "kind", kind);
    json_string_member(json, "type", profile->type);
    json_string_member(json, "unit", profile->unit);
    json_string_member(json, "measure", format_type(profile, 2));
    json_string_member(json, "by", by);
    json_known_member(json, "title", profile->title);
    json_double_member(json, "phi", profile->phi);
    json_double_member(json, "epsilon", profile->epsilon);
    json_string_member(json, "summary", profile->summary);
    json_number_member(json, "time_ms", profile->time_ns / 1000000);
    json_bool_member(json, "wide", page->wide);
    put_total(page, total);
}

static uint64_t common_divisor(const struct profile *profile) {
    uint64_t divisor = 0;
    for (uint32_t i = 1; i < profile->n_nodes && divisor != 1; i++)
        for (uint64_t rest = profile->nodes[i].count; rest != 0;) {
            uint64_t larger = divisor;
            divisor = rest;
            rest = larger % rest;
        }
    return divisor > 0 ? divisor : 1;
}

/* `weight`: by node, by which they are ordered; NULL: there are none. */
static void begin(struct page *page, FILE *out, const struct profile *profile, uint64_t total,
                  const uint64_t *weight) {
    *page = (struct page){
        .json = {.out = out, .in_html = true}, .profile = profile, .wide = total >= EXACT_NUMBERS};
    if (weight != NULL) {
        page->step = page->wide ? 1 : common_divisor(profile);
        page_order_make(&page->order, profile, weight);
    }
    page->strings = memory_grow(page->strings, 0, &page->room, sizeof *page->strings, "strings");
    page->strings[page->n_strings++] = "";
    json_begin(&page->json, '{');
}

static void end(struct page *page) {
    put_strings(page);
    json_end(&page->json, '}');
    intern_free(&page->by_pointer);
    page_order_free(&page->order);
    free(page->strings);
}

static void put_tables(struct page *page, bool by_site) {
    put_functions(page);
    put_locations(page, by_site);
    put_nodes(page);
}

/* What is true of it all, whichever contexts are there. */
static void put_whole(struct page *page) {
    put_processes(page);
    const struct chance chance = chance_of(page->profile);
    chance_put_json(&page->json, &chance);
}

/* ---- profiles, in one part or two ---- */

struct page_rest {
    struct profile *grouped;
    uint64_t *weight;
    uint64_t total;
    enum profile_by by;
};

static void free_rest(struct page_rest *rest) {
    profile_free(rest->grouped);
    free(rest->weight);
    free(rest);
}

static void put_overview(struct page *page, const struct page_rest *rest,
                         const struct page_overview *overview) {
    struct page part;
    json_key(&page->json, "overview");
    begin(&part, page->json.out, overview->profile, rest->total, overview->weight);
    put_tables(&part, rest->by == PROFILE_BY_SITE);
    json_array_member(&part.json, "module_weights");
    for (uint32_t i = 0; i < rest->grouped->n_modules; i++)
        json_number(&part.json, overview->module_weight[i]);
    json_end(&part.json, ']');
    end(&part);
    page->json.more = true;
}

/* With all contexts, or those of an overview instead. */
static void put_profile(FILE *out, const struct page_rest *rest,
                        const struct page_overview *overview) {
    struct page page;
    begin(&page, out, rest->grouped, rest->total, overview == NULL ? rest->weight : NULL);
    put_head(&page, "profile", profile_by_word(rest->by), rest->total);
    json_array_member(&page.json, "facts");
    page_facts_put(&page.json, rest->grouped, rest->total);
    json_end(&page.json, ']');
    put_whole(&page);
    if (overview != NULL)
        put_overview(&page, rest, overview);
    else
        put_tables(&page, rest->by == PROFILE_BY_SITE);
    end(&page);
    fputc('\n', out);
}

static struct page_rest *select_contexts(const struct profile *profile,
                                         const struct format_options *options) {
    struct page_rest *rest = memory_new(1, sizeof *rest, "contexts");
    rest->grouped = format_select(profile, options);
    rest->by = options->by;
    rest->total = profile_total(rest->grouped);
    rest->weight = page_weights(rest->grouped);
    return rest;
}

struct page_rest *page_data_begin(FILE *out, const struct profile *profile,
                                  const struct format_options *options) {
    struct page_rest *rest = select_contexts(profile, options);
    struct page_overview overview;
    if (rest->total < EXACT_NUMBERS && page_overview_make(&overview, rest->grouped, rest->weight)) {
        put_profile(out, rest, &overview);
        page_overview_free(&overview);
        return rest;
    }
    put_profile(out, rest, NULL);
    free_rest(rest);
    return NULL;
}

void page_data_write(FILE *out, const struct profile *profile,
                     const struct format_options *options) {
    struct page_rest *rest = select_contexts(profile, options);
    put_profile(out, rest, NULL);
    free_rest(rest);
}

void page_data_end(FILE *out, struct page_rest *rest) {
    struct page page;
    if (rest == NULL)
        return;
    begin(&page, out, rest->grouped, rest->total, rest->weight);
    put_tables(&page, rest->by == PROFILE_BY_SITE);
    end(&page);
    fputc('\n', out);
    free_rest(rest);
}

/* ---- comparisons ---- */

static void put_bounds(struct page *page, const struct diff_weight *weights, size_t offset,
                       const char *name) {
    json_array_member(&page->json, name);
    for (uint32_t i = 0; i < page->order.n; i++)
        put_weight(page, *(const uint64_t *)((const char *)&weights[page->order.node[i]] + offset));
    json_end(&page->json, ']');
}

static void put_diff_weights(struct page *page, const char *name,
                             const struct diff_weight *weights) {
    struct json_out *json = &page->json;
    json_object_member(json, name);
    put_bounds(page, weights, offsetof(struct diff_weight, before), "before");
    put_bounds(page, weights, offsetof(struct diff_weight, before_error), "before_error");
    put_bounds(page, weights, offsetof(struct diff_weight, before_more), "before_more");
    put_bounds(page, weights, offsetof(struct diff_weight, after_error), "after_error");
    put_bounds(page, weights, offsetof(struct diff_weight, after_more), "after_more");
    json_array_member(json, "interval");
    for (uint32_t i = 0; i < page->order.n; i++)
        json_double(json, weights[page->order.node[i]].interval);
    json_end(json, ']');
    json_array_member(json, "beyond");
    for (uint32_t i = 0; i < page->order.n; i++)
        json_number(json, weights[page->order.node[i]].beyond);
    json_end(json, ']');
    json_end(json, '}');
}

static void put_sides(struct page *page, const struct diff *diff) {
    static const char *const names[DIFF_SIDES] = {"before", "after"};
    for (int i = 0; i < DIFF_SIDES; i++) {
        json_object_member(&page->json, names[i]);
        json_string_member(&page->json, "name", diff->side[i].name);
        json_string_member(&page->json, "exe", diff->side[i].exe);
        json_known_member(&page->json, "title", diff->side[i].title);
        put_total(page, diff->side[i].total);
        json_key(&page->json, "lost");
        put_weight(page, diff->side[i].lost);
        json_end(&page->json, '}');
    }
}

static void put_diff(struct page *page, const struct diff *diff) {
    struct json_out *json = &page->json;
    json_object_member(json, "diff");
    put_sides(page, diff);
    json_double_member(json, "scale", diff->scale);
    json_string_member(json, "sampling", diff_sampling_word(diff));
    json_string_member(json, "mode", diff_mode_word(diff));
    json_string_member(json, "why", diff_why_word(diff));
    json_number_member(json, "compared", diff->compared);
    json_number_member(json, "beyond", diff->beyond);
    put_diff_weights(page, "self", diff->self);
    put_diff_weights(page, "inclusive", diff->inclusive);
    json_end(json, '}');
}

void page_data_write_diff(FILE *out, const struct diff *diff) {
    uint64_t before = (uint64_t)(diff->scale * (double)diff->before_total + 1);
    uint64_t larger = before > diff->after_total ? before : diff->after_total;
    uint64_t *weight = page_weights(diff->profile);
    struct page page;
    for (uint32_t i = 0; i < diff->profile->n_nodes; i++)
        weight[i] += diff->inclusive[i].before;
    begin(&page, out, diff->profile, larger, weight);
    free(weight);
    put_head(&page, "diff", profile_by_word(diff->by), diff->after_total);
    json_array_member(&page.json, "facts");
    json_end(&page.json, ']');
    put_whole(&page);
    put_tables(&page, diff->by == PROFILE_BY_SITE);
    put_diff(&page, diff);
    end(&page);
    fputc('\n', out);
}

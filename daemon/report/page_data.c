/*
 * page_data.c - struct profile and struct diff to parallel arrays of numbers.
 */
#include "daemon/report/page_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/report/diff.h"
#include "daemon/report/human.h"
#include "daemon/report/intern.h"
#include "daemon/report/looks.h"
#include "daemon/report/memory.h"
#include "daemon/report/page_json.h"
#include "daemon/report/text.h"

#define EXACT_NUMBERS (1ull << 53) /* JavaScript's numbers hold integers up to here */

/* One page being written. */
struct page {
    FILE *out;
    const struct profile *profile; /* grouped */
    bool wide;                     /* weights beyond EXACT_NUMBERS */
    struct intern by_pointer;      /* equal strings of a profile are one pointer */
    const char **strings;
    uint32_t n_strings, room;
    const char *separator;
};

/* ---- members and arrays ---- */

static void open_member(struct page *page, const char *name, char bracket) {
    fprintf(page->out, "%s\n\"%s\":%c", page->separator, name, bracket);
    page->separator = "";
}

static void close_member(struct page *page, char bracket) {
    fputc(bracket, page->out);
    page->separator = ",";
}

static void put_number(struct page *page, uint64_t number) {
    fprintf(page->out, "%s%" PRIu64, page->separator, number);
    page->separator = ",";
}

static void put_weight(struct page *page, uint64_t weight) {
    fprintf(page->out, page->wide ? "%s\"%" PRIu64 "\"" : "%s%" PRIu64, page->separator, weight);
    page->separator = ",";
}

static void member_string(struct page *page, const char *name, const char *text) {
    fprintf(page->out, "%s\n\"%s\":", page->separator, name);
    page_json_string(page->out, text);
    page->separator = ",";
}

static void member_double(struct page *page, const char *name, double value) {
    fprintf(page->out, "%s\n\"%s\":%.17g", page->separator, name, value);
    page->separator = ",";
}

static void member_weight(struct page *page, const char *name, uint64_t weight) {
    fprintf(page->out, "%s\n\"%s\":", page->separator, name);
    page->separator = "";
    put_weight(page, weight);
}

static bool same_string(const void *entries, uint32_t i, const void *key) {
    return ((const struct page *)entries)->strings[i] == key;
}

static uint32_t string_number(struct page *page, const char *text) {
    uint32_t *slot;

    if (*text == '\0')
        return 0;
    slot = intern_find(&page->by_pointer, intern_hash(0, (uintptr_t)text), same_string, page, text);
    if (*slot == 0) {
        *slot = page->n_strings;
        page->strings = memory_grow(page->strings, page->n_strings, &page->room,
                                    sizeof(*page->strings), "strings");
        page->strings[page->n_strings++] = text;
    }
    return *slot;
}

/* ---- what nodes refer to ---- */

static void put_functions(struct page *page) {
    const struct profile *profile = page->profile;

    open_member(page, "functions", '{');
    open_member(page, "name", '[');
    for (uint32_t i = 0; i < profile->n_functions; i++)
        put_number(page, string_number(page, i > 0 ? profile->functions[i].name : ""));
    close_member(page, ']');
    open_member(page, "system", '[');
    for (uint32_t i = 0; i < profile->n_functions; i++)
        put_number(page, string_number(page, i > 0 ? profile->functions[i].system_name : ""));
    close_member(page, ']');
    open_member(page, "file", '[');
    for (uint32_t i = 0; i < profile->n_functions; i++)
        put_number(page, string_number(page, i > 0 ? profile->functions[i].file : ""));
    close_member(page, ']');
    open_member(page, "line", '[');
    for (uint32_t i = 0; i < profile->n_functions; i++)
        put_number(page, profile->functions[i].start_line);
    close_member(page, ']');
    close_member(page, '}');
    open_member(page, "modules", '[');
    for (uint32_t i = 0; i < profile->n_modules; i++)
        put_number(page, string_number(page, i > 0 ? profile->modules[i].path : ""));
    close_member(page, ']');
}

static void put_locations(struct page *page, bool by_site) {
    const struct profile *profile = page->profile;

    open_member(page, "locations", '{');
    open_member(page, "function", '[');
    for (uint32_t i = 0; i < profile->n_locations; i++)
        put_number(page,
                   profile->locations[i].n_lines > 0 ? profile->locations[i].lines[0].function : 0);
    close_member(page, ']');
    open_member(page, "module", '[');
    for (uint32_t i = 0; i < profile->n_locations; i++)
        put_number(page, profile->locations[i].module);
    close_member(page, ']');
    open_member(page, "line", '[');
    for (uint32_t i = 0; i < profile->n_locations; i++)
        put_number(page,
                   profile->locations[i].n_lines > 0 ? profile->locations[i].lines[0].line : 0);
    close_member(page, ']');
    if (by_site) {
        open_member(page, "address", '[');
        for (uint32_t i = 0; i < profile->n_locations; i++, page->separator = ",")
            fprintf(page->out, "%s\"%" PRIx64 "\"", page->separator, profile->locations[i].address);
        close_member(page, ']');
    }
    close_member(page, '}');
}

/* ---- nodes ---- */

static void put_nodes(struct page *page) {
    const struct profile *profile = page->profile;

    open_member(page, "nodes", '{');
    open_member(page, "parent", '[');
    for (uint32_t i = 0; i < profile->n_nodes; i++)
        put_number(page, profile->nodes[i].parent);
    close_member(page, ']');
    open_member(page, "location", '[');
    for (uint32_t i = 0; i < profile->n_nodes; i++)
        put_number(page, profile->nodes[i].location);
    close_member(page, ']');
    open_member(page, "process", '[');
    for (uint32_t i = 0; i < profile->n_nodes; i++)
        put_number(page, profile->nodes[i].process);
    close_member(page, ']');
    open_member(page, "count", '[');
    for (uint32_t i = 0; i < profile->n_nodes; i++)
        put_weight(page, profile->nodes[i].count);
    close_member(page, ']');
    open_member(page, "error", '[');
    for (uint32_t i = 0; i < profile->n_nodes; i++)
        put_weight(page, profile->nodes[i].error);
    close_member(page, ']');
    close_member(page, '}');
    open_member(page, "inlined", '[');
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (profile->nodes[i].inlined)
            put_number(page, i);
    close_member(page, ']');
}

static void put_processes(struct page *page) {
    const struct profile *profile = page->profile;

    open_member(page, "processes", '[');
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        const struct profile_process *it = &profile->processes[i];
        double looks;

        looks_of_process(profile, i, it->total, &looks);
        fprintf(page->out, "%s\n{\"command\":", page->separator);
        page_json_string(page->out, it->command);
        fputs(",\"exe\":", page->out);
        page_json_string(page->out, it->exe);
        fprintf(page->out,
                ",\"pid\":%" PRIu32 ",\"runs\":%" PRIu32 ",\"live\":%s,\"threads\":%" PRIu32
                ",\"scale\":%.9g,\"looks\":%.9g}",
                it->pid, it->runs, it->live ? "true" : "false", it->threads, profile_scale(it),
                looks);
        page->separator = ",";
    }
    close_member(page, ']');
}

static void put_strings(struct page *page) {
    open_member(page, "strings", '[');
    for (uint32_t i = 0; i < page->n_strings; i++) {
        fputs(page->separator, page->out);
        page_json_string(page->out, page->strings[i]);
        page->separator = ",";
    }
    close_member(page, ']');
}

/* ---- the whole ---- */

/* By root, as the summary asks for it: contexts with weight of their own. */
static uint64_t *count_contexts(const struct profile *profile) {
    uint64_t *below = memory_new(profile->n_nodes, sizeof(*below), "contexts");

    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];

        if (node->count > 0 && !profile_is_pruned(profile, node->location))
            below[profile_root(profile, node->process)]++;
    }
    return below;
}

/* The end of the text report, each line a word and a sentence. */
static void put_facts(struct page *page, uint64_t total) {
    static const struct glyphs glyphs = {.plus_minus = "\u00b1", .times = "\u00d7"};
    static const struct paint paint = {"", "", "", "", ""};
    char *lines = NULL;
    size_t bytes;
    struct text text = {.out = open_memstream(&lines, &bytes),
                        .profile = page->profile,
                        .options = &format_default_options,
                        .glyphs = &glyphs,
                        .paint = &paint,
                        .total = total,
                        .calls = profile_of_calls(page->profile),
                        .below = count_contexts(page->profile)};

    if (text.out == NULL)
        profile_die("the summary");
    if (total > 0)
        text_summary(&text);
    fclose(text.out);
    open_member(page, "facts", '[');
    page_json_facts(page->out, lines);
    close_member(page, ']');
    free(text.below);
    free(lines);
}

static void put_head(struct page *page, const char *kind, const char *by, uint64_t total) {
    const struct profile *profile = page->profile;

    page->separator = "";
    fputs("{\"version\":1", page->out);
    page->separator = ",";
    member_string(page, "kind", kind);
    member_string(page, "type", profile->type);
    member_string(page, "unit", profile->unit);
    member_string(page, "measure", human_type(profile, 2));
    member_string(page, "by", by);
    member_double(page, "phi", profile->phi);
    member_double(page, "epsilon", profile->epsilon);
    member_string(page, "summary", profile->summary);
    fprintf(page->out, ",\n\"time_ms\":%" PRIu64 ",\n\"wide\":%s", profile->time_ns / 1000000,
            page->wide ? "true" : "false");
    member_weight(page, "total", total);
}

static void begin(struct page *page, FILE *out, const struct profile *profile, uint64_t total) {
    *page = (struct page){.out = out, .profile = profile, .wide = total >= EXACT_NUMBERS};
    page->strings = memory_grow(page->strings, 0, &page->room, sizeof(*page->strings), "strings");
    page->strings[page->n_strings++] = "";
}

static void end(struct page *page) {
    put_strings(page);
    fputs("}\n", page->out);
    intern_free(&page->by_pointer);
    free(page->strings);
}

static void put_tables(struct page *page, bool by_site) {
    put_functions(page);
    put_locations(page, by_site);
    put_nodes(page);
    put_processes(page);
}

void page_data_write(FILE *out, const struct profile *profile,
                     const struct format_options *options) {
    struct profile *grouped = format_select(profile, options);
    struct page page;

    begin(&page, out, grouped, profile_total(grouped));
    put_head(&page, "profile", profile_by_word(options->by), profile_total(grouped));
    put_facts(&page, profile_total(grouped));
    put_tables(&page, options->by == PROFILE_BY_SITE);
    end(&page);
    profile_free(grouped);
}

/* ---- comparisons ---- */

static void put_bounds(struct page *page, const struct diff_weight *weights, size_t offset,
                       const char *name) {
    open_member(page, name, '[');
    for (uint32_t i = 0; i < page->profile->n_nodes; i++)
        put_weight(page, *(const uint64_t *)((const char *)&weights[i] + offset));
    close_member(page, ']');
}

static void put_diff_weights(struct page *page, const char *name,
                             const struct diff_weight *weights) {
    open_member(page, name, '{');
    put_bounds(page, weights, offsetof(struct diff_weight, before), "before");
    put_bounds(page, weights, offsetof(struct diff_weight, before_error), "before_error");
    put_bounds(page, weights, offsetof(struct diff_weight, before_more), "before_more");
    put_bounds(page, weights, offsetof(struct diff_weight, after_error), "after_error");
    put_bounds(page, weights, offsetof(struct diff_weight, after_more), "after_more");
    open_member(page, "interval", '[');
    for (uint32_t i = 0; i < page->profile->n_nodes; i++, page->separator = ",")
        fprintf(page->out, "%s%.6g", page->separator, weights[i].interval);
    close_member(page, ']');
    open_member(page, "beyond", '[');
    for (uint32_t i = 0; i < page->profile->n_nodes; i++)
        put_number(page, weights[i].beyond);
    close_member(page, ']');
    close_member(page, '}');
}

static void put_sides(struct page *page, const struct diff *diff) {
    static const char *const names[DIFF_SIDES] = {"before", "after"};

    for (int i = 0; i < DIFF_SIDES; i++) {
        open_member(page, names[i], '{');
        member_string(page, "name", diff->side[i].name);
        member_string(page, "exe", diff->side[i].exe);
        member_weight(page, "total", diff->side[i].total);
        close_member(page, '}');
    }
}

static void put_diff(struct page *page, const struct diff *diff) {
    static const char *const sampling[] = {
        [DIFF_SAMPLED] = "sampled", [DIFF_EXACT] = "exact", [DIFF_UNKNOWN] = "unknown"};

    open_member(page, "diff", '{');
    put_sides(page, diff);
    member_double(page, "scale", diff->scale);
    member_string(page, "sampling", sampling[diff->sampling]);
    fprintf(page->out, ",\"absolute\":%s,\"compared\":%" PRIu64 ",\"beyond\":%" PRIu64,
            diff->mode == DIFF_ABSOLUTE ? "true" : "false", diff->compared, diff->beyond);
    page->separator = ",";
    put_diff_weights(page, "self", diff->self);
    put_diff_weights(page, "inclusive", diff->inclusive);
    close_member(page, '}');
}

void page_data_write_diff(FILE *out, const struct diff *diff) {
    uint64_t larger =
        diff->total.before > diff->total.after ? diff->total.before : diff->total.after;
    struct page page;

    begin(&page, out, diff->profile, larger);
    put_head(&page, "diff", profile_by_word(diff->by), diff->total.after);
    open_member(&page, "facts", '[');
    close_member(&page, ']');
    put_tables(&page, diff->by == PROFILE_BY_SITE);
    put_diff(&page, diff);
    end(&page);
}

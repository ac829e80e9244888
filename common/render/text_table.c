/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_table.c - the flat table: the functions (or lines, sites, modules) of the largest own
 * weight; labels, of which some stand below others, by their inclusive one.
 *
 * Inclusive weights count a recursive function once: only its outermost frame on each path.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/shorten.h"
#include "common/base/utf8.h"
#include "common/render/format_number.h"
#include "common/render/text.h"

#define MODULE_WIDTH 28u /* longer ones are cut, or push their row where it may be of any width */
#define MODULE_LEAST 12u
#define NAME_LEAST   16u

struct entry {
    uint32_t location;
    struct numbers numbers;
    uint64_t rank; /* the weight by which it has its place */
};

static int compare(const void *a, const void *b, void *arg) {
    const struct entry *x = a, *y = b;
    const struct profile *profile = arg;
    const struct profile_location *px = &profile->locations[x->location];
    const struct profile_location *py = &profile->locations[y->location];
    int by_name;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    if (px->n_lines == 0 || py->n_lines == 0)
        return 0;
    by_name = strcmp(profile->functions[px->lines[0].function].name,
                     profile->functions[py->lines[0].function].name);
    return by_name != 0 ? by_name : (x->location > y->location) - (x->location < y->location);
}

/* Has the row a number that is not 0.0? */
static bool is_shown(const struct text *text, uint64_t weight) {
    return weight > 0 && (text->calls || text_share(text, weight) >= TEXT_LEAST);
}

/* Entries with weight, heaviest first; what was pruned is none of them. */
static struct entry *make_entries(const struct text *text, uint32_t *n) {
    const struct profile *profile = text->profile;
    struct entry *entries = memory_new(profile->n_locations, sizeof *entries, "functions");
    *n = 0;
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_flat *flat = &text->flat[i];
        bool by_label = text->options->by == PROFILE_BY_LABEL;
        entries[*n].rank = by_label ? flat->inclusive : flat->self;
        if (entries[*n].rank == 0 || profile_is_pruned(profile, i))
            continue;
        entries[*n].location = i;
        entries[(*n)++].numbers = (struct numbers){.inclusive = flat->inclusive,
                                                   .inclusive_error = flat->upper - flat->inclusive,
                                                   .self = flat->self,
                                                   .self_error = flat->self_upper - flat->self};
    }
    qsort_r(entries, *n, sizeof *entries, compare, (void *)(uintptr_t)profile);
    return entries;
}

static const char *module_name(const struct text *text, const struct entry *entry) {
    uint32_t module = text->profile->locations[entry->location].module;

    return module == 0 ? "-" : profile_basename(text->profile->modules[module].path);
}

/* "  vdbe.c:712": where the line is, or where the function begins. For free(). */
static char *describe(const struct text *text, const struct profile_location *place,
                      const struct profile_function *function) {
    uint32_t line = place->lines[0].line != 0 ? place->lines[0].line : function->start_line;
    FILE *out = memory_stream("a report");
    if (text->options->by == PROFILE_BY_SITE && place->address != 0)
        fprintf(out, "  0x%" PRIx64, place->address);
    if (*function->file != '\0') {
        fputs("  ", out);
        utf8_put(out, profile_basename(function->file));
    }
    if (*function->file != '\0' && line != 0)
        fprintf(out, ":%" PRIu32, line);
    return memory_stream_end(out, NULL, "a report");
}

/* Columns that the names of modules get at most; 0: any number. */
static size_t max_module_width(const struct text *text) {
    size_t part = text->options->width / 4;
    if (part == 0)
        return 0;
    return part < MODULE_LEAST ? MODULE_LEAST : part < MODULE_WIDTH ? part : MODULE_WIDTH;
}

static void put_module(const struct text *text, const struct entry *entry, int module_width) {
    char *module = shorten(module_name(text, entry), max_module_width(text), text->glyphs->gap);
    int pad = module_width - (int)utf8_columns(module);
    fprintf(text->out, "%s%s%s%*s  ", text->paint->dim, module, text->paint->off, pad > 0 ? pad : 0,
            "");
    free(module);
}

static void put_entry(const struct text *text, const struct entry *entry, int module_width) {
    const struct profile_location *place = &text->profile->locations[entry->location];
    const struct profile_function *function = &text->profile->functions[place->lines[0].function];
    size_t used = text->columns + (size_t)module_width + 2, width = text->options->width, room;
    char *name, *where;
    text_numbers(text, &entry->numbers);
    if (text_has_modules(text))
        put_module(text, entry, module_width);
    room = width == 0 ? 0 : width > used + NAME_LEAST ? width - used : NAME_LEAST;
    name = shorten(text_without_module(text, function->name, entry->location), room,
                   text->glyphs->gap);
    where = describe(text, place, function);
    fputs(name, text->out);
    if (*where != '\0' && (room == 0 || utf8_columns(name) + utf8_columns(where) <= room))
        fprintf(text->out, "%s%s%s", text->paint->dim, where, text->paint->off);
    fputc('\n', text->out);
    free(where);
    free(name);
}

/* The last row: what all others have. */
static void put_rest(const struct text *text, uint64_t self, uint32_t n, const char *what) {
    struct numbers numbers = {.self = self};
    text_numbers(text, &numbers);
    fprintf(text->out, "%s", PROFILE_PRUNED);
    if (n > 0)
        fprintf(text->out, " %s more %s", format_count(n).text, what);
    else
        fputs(" functions that are not known", text->out);
    fputc('\n', text->out);
}

void text_table(const struct text *text, uint32_t rows) {
    static const struct title {
        const char *one, *all;
    } titles[] = {[PROFILE_BY_FUNCTION] = {"function", "functions"},
                  [PROFILE_BY_SITE] = {"site", "sites"},
                  [PROFILE_BY_LINE] = {"line", "lines"},
                  [PROFILE_BY_MODULE] = {"module", "modules"},
                  [PROFILE_BY_THREAD] = {"thread", "threads"},
                  [PROFILE_BY_LABEL] = {"label", "labels"}};
    const struct title *title = &titles[text->options->by];
    bool has_modules = text_has_modules(text);
    int module_width = has_modules ? (int)strlen("module") : 0;
    uint64_t self = 0;
    uint32_t n, shown;
    struct entry *entries;
    char columns[64];
    size_t limit = max_module_width(text);

    if (rows == 0)
        return;
    entries = make_entries(text, &n);
    shown = n < rows ? n : rows;
    while (shown > 0 && !is_shown(text, entries[shown - 1].rank))
        shown--;
    for (uint32_t i = 0; i < shown && has_modules; i++) {
        size_t columns_needed = utf8_columns(module_name(text, &entries[i]));
        if (limit > 0 && columns_needed > limit)
            columns_needed = limit;
        if (columns_needed > (size_t)module_width && columns_needed <= MODULE_WIDTH)
            module_width = (int)columns_needed;
    }
    fprintf(text->out, "%sHottest %s%s\n", text->paint->bold, title->all, text->paint->off);
    if (has_modules)
        snprintf(columns, sizeof columns, "%-*s  %s", module_width, "module", title->one);
    else
        snprintf(columns, sizeof columns, "%s", title->one);
    text_columns_title(text, columns);
    for (uint32_t i = 0; i < shown; i++) {
        put_entry(text, &entries[i], module_width);
        self += entries[i].numbers.self;
    }
    if (is_shown(text, text->total - self))
        put_rest(text, text->total - self, n - shown, n - shown == 1 ? title->one : title->all);
    fputc('\n', text->out);
    free(entries);
}

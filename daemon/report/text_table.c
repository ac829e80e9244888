/*
 * text_table.c - the flat table: the functions (or lines, sites, modules) of the largest own
 * weight.
 *
 * Inclusive weights count a recursive function once: only its outermost frame on each path.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/report/bounds.h"
#include "daemon/report/human.h"
#include "daemon/report/memory.h"
#include "daemon/report/shorten.h"
#include "daemon/report/text.h"
#include "daemon/report/utf8.h"

#define MODULE_WIDTH 28 /* longer ones push their row */

struct entry { /* error: by how much self can be more */
    uint32_t location;
    uint64_t self, error, inclusive;
};

static int compare(const void *a, const void *b, void *arg) {
    const struct entry *x = a, *y = b;
    const struct profile *profile = arg;
    const struct profile_location *px = &profile->locations[x->location];
    const struct profile_location *py = &profile->locations[y->location];
    int by_name;

    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    if (px->n_lines == 0 || py->n_lines == 0)
        return 0;
    by_name = strcmp(profile->functions[px->lines[0].function].name,
                     profile->functions[py->lines[0].function].name);
    return by_name != 0 ? by_name : (x->location > y->location) - (x->location < y->location);
}

/* Entries with weight, heaviest first; what was pruned is none of them. */
static struct entry *make_entries(const struct text *text, uint32_t *n) {
    const struct profile *profile = text->profile;
    struct entry *entries = memory_new(profile->n_locations, sizeof(*entries), "functions");

    struct profile_flat *flat = bounds_flat(profile, text->view.inclusive);

    for (uint32_t i = 0; i < profile->n_locations; i++)
        entries[i] = (struct entry){.location = i,
                                    .self = flat[i].self,
                                    .error = flat[i].self_upper - flat[i].self,
                                    .inclusive = flat[i].inclusive};
    free(flat);
    *n = 0;
    for (uint32_t i = 1; i < profile->n_locations; i++)
        if (entries[i].self > 0 && !profile_is_pruned(profile, i))
            entries[(*n)++] = entries[i];
    qsort_r(entries, *n, sizeof(*entries), compare, (void *)(uintptr_t)profile);
    return entries;
}

static const char *module_name(const struct text *text, const struct entry *entry) {
    uint32_t module = text->profile->locations[entry->location].module;

    return module == 0 ? "-" : profile_basename(text->profile->modules[module].path);
}

/* " vdbe.c:712": where the line is, or where the function begins. */
static void put_place(const struct text *text, const struct profile_location *place,
                      const struct profile_function *function) {
    uint32_t line = place->lines[0].line != 0 ? place->lines[0].line : function->start_line;

    if (text->options->by == PROFILE_BY_SITE && place->address != 0)
        fprintf(text->out, "  %s0x%" PRIx64 "%s", text->paint->dim, place->address,
                text->paint->off);
    if (*function->file == '\0')
        return;
    fprintf(text->out, "  %s%s", text->paint->dim, profile_basename(function->file));
    if (line != 0)
        fprintf(text->out, ":%" PRIu32, line);
    fputs(text->paint->off, text->out);
}

static void put_entry(const struct text *text, const struct entry *entry, int module_width) {
    const struct profile_location *place = &text->profile->locations[entry->location];
    const struct profile_function *function = &text->profile->functions[place->lines[0].function];
    size_t used = text->columns + (size_t)module_width + 2, width = text->options->width, room;
    char *name;

    text_numbers(text, entry->inclusive, entry->self, entry->error);
    if (text->options->by != PROFILE_BY_MODULE) {
        const char *module = module_name(text, entry);
        int pad = module_width - (int)utf8_columns(module);

        fprintf(text->out, "%s%s%s%*s  ", text->paint->dim, module, text->paint->off,
                pad > 0 ? pad : 0, "");
    }
    room = width == 0 ? 0 : width > used + 20 ? width - used : 20;
    name = shorten(text_without_module(text, function->name, entry->location), room,
                   text->glyphs->gap);
    fputs(name, text->out);
    if (room == 0 || utf8_columns(name) + utf8_columns(profile_basename(function->file)) + 8 < room)
        put_place(text, place, function);
    fputc('\n', text->out);
    free(name);
}

void text_table(const struct text *text, uint32_t rows) {
    static const struct title {
        const char *one, *all;
    } titles[] = {[PROFILE_BY_FUNCTION] = {"function", "functions"},
                  [PROFILE_BY_SITE] = {"site", "sites"},
                  [PROFILE_BY_LINE] = {"line", "lines"},
                  [PROFILE_BY_MODULE] = {"module", "modules"}};
    const struct title *title = &titles[text->options->by];
    int module_width = text->options->by == PROFILE_BY_MODULE ? 0 : (int)strlen("module");
    uint64_t self = 0;
    uint32_t n, shown;
    struct entry *entries;
    char columns[64] = "module";

    if (text->options->top == 0)
        return;
    entries = make_entries(text, &n);
    shown = n < text->options->top ? n : text->options->top;
    shown = shown < rows ? shown : rows;
    for (uint32_t i = 0; i < shown && text->options->by != PROFILE_BY_MODULE; i++) {
        int columns_needed = (int)utf8_columns(module_name(text, &entries[i]));

        if (columns_needed > module_width && columns_needed <= MODULE_WIDTH)
            module_width = columns_needed;
    }
    fprintf(text->out, "%sHottest %s%s\n", text->paint->bold, title->all, text->paint->off);
    if (text->options->by != PROFILE_BY_MODULE)
        snprintf(columns, sizeof(columns), "%-*s  %s", module_width, "module", title->one);
    text_columns_title(text, columns);
    for (uint32_t i = 0; i < shown; i++) {
        put_entry(text, &entries[i], module_width);
        self += entries[i].self;
    }
    if (self < text->total) {
        text_numbers(text, 0, text->total - self, 0);
        fprintf(text->out, "%s", PROFILE_PRUNED);
        if (n > shown)
            fprintf(text->out, " %s more %s", human_count(n - shown).text,
                    n - shown == 1 ? title->one : title->all);
        else
            fputs(" functions that are not known", text->out);
        fputc('\n', text->out);
    }
    fputc('\n', text->out);
    free(entries);
}

/*
 * symbols.c - one request to the worker for each module: all its locations at once.
 */
#include "daemon/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct batch {
    uint32_t *location;
    struct symbol_query *query;
    struct symbol *symbol;
    size_t n;
};

static void set_symbol(struct profile *profile, uint32_t location, const struct symbol *symbol) {
    struct profile_line *lines = calloc(symbol->n_lines + 1, sizeof *lines);
    if (lines == NULL)
        profile_die("no memory for source lines");
    for (uint32_t i = 0; i < symbol->n_lines; i++) {
        const struct symbol_line *l = &symbol->lines[i];
        lines[i].function = profile_add_function(profile, l->name, l->system_name,
                                                 l->file != NULL ? l->file : "", l->start_line);
        lines[i].line = l->line;
    }
    profile_set_lines(profile, location, lines, symbol->n_lines);
    free(lines);
}

static void name_by_address(struct profile *profile, uint32_t location) {
    char name[32];
    struct profile_line line = {0};
    snprintf(name, sizeof name, "0x%" PRIx64, profile->locations[location].address);
    line.function = profile_add_function(profile, name, name, "", 0);
    profile_set_lines(profile, location, &line, 1);
}

static void collect(const struct profile *profile, uint32_t module, struct batch *batch) {
    batch->n = 0;
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_location *l = &profile->locations[i];
        if (l->n_lines != 0 || l->module != module)
            continue;
        batch->location[batch->n] = i;
        batch->query[batch->n] = l->routine != 0 ? (struct symbol_query){l->routine, true}
                                                 : (struct symbol_query){l->address, l->is_entry};
        batch->n++;
    }
}

void symbolize(struct profile *profile, const uint32_t *module_of, struct elf_worker *worker) {
    uint32_t locations = profile->n_locations;
    struct batch batch = {
        .location = calloc(locations + 1, sizeof *batch.location),
        .query = calloc(locations + 1, sizeof *batch.query),
        .symbol = calloc(locations + 1, sizeof *batch.symbol),
    };
    if (batch.location == NULL || batch.query == NULL || batch.symbol == NULL)
        profile_die("no memory for symbols");
    collect(profile, 0, &batch);
    for (size_t i = 0; i < batch.n; i++)
        name_by_address(profile, batch.location[i]);
    for (uint32_t module = 1; module < profile->n_modules; module++) {
        collect(profile, module, &batch);
        if (batch.n == 0)
            continue;
        elf_worker_symbols(worker, module_of[module], batch.query, batch.n, batch.symbol);
        for (size_t i = 0; i < batch.n; i++) {
            set_symbol(profile, batch.location[i], &batch.symbol[i]);
            symbol_clear(&batch.symbol[i]);
        }
    }
    free(batch.location);
    free(batch.query);
    free(batch.symbol);
}

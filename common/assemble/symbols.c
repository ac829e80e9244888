/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * symbols.c - one request for each location, those of a module together.
 */
#include "common/assemble/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/assemble/generated.h"
#include "common/base/memory.h"

/* The name of last resort, "libx.so+0x12", is by the module's name in the profile. */
static const char *name_of(struct profile *profile, uint32_t location, const char *name) {
    const char *module =
        profile_basename(profile->modules[profile->locations[location].module].path);
    const char *place = strrchr(name, '+');
    if (!profile_is_place_name(name) || place == NULL || *module == '\0')
        return name;
    size_t bytes = strlen(module) + strlen(place) + 1;
    char *whole = memory_new(1, bytes, "a name");
    snprintf(whole, bytes, "%s%s", module, place);
    const char *kept = profile_string(profile, whole);
    free(whole);
    return kept;
}

static void set_symbol(struct profile *profile, uint32_t location, const struct symbol *symbol) {
    struct profile_line *lines = memory_new(symbol->n_lines + 1, sizeof *lines, "source lines");
    for (uint32_t i = 0; i < symbol->n_lines; i++) {
        const struct symbol_line *l = &symbol->lines[i];
        lines[i].function = profile_add_function(profile, name_of(profile, location, l->name),
                                                 name_of(profile, location, l->system_name),
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

static struct symbol_query query_of(const struct profile_location *location) {
    return location->routine != 0 ? (struct symbol_query){location->routine, true}
                                  : (struct symbol_query){location->address, location->is_entry};
}

static int by_module(const void *a, const void *b, void *arg) {
    const struct profile_location *locations = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (locations[i].module != locations[k].module)
        return locations[i].module < locations[k].module ? -1 : 1;
    return i < k ? -1 : i > k;
}

/* The locations in modules that have no lines yet, those of a module together. */
static size_t collect(struct profile *profile, uint32_t *location) {
    size_t n = 0;
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_location *l = &profile->locations[i];
        if (l->n_lines == 0 && l->module == 0)
            name_by_address(profile, i);
        else if (l->n_lines == 0)
            location[n++] = i;
    }
    qsort_r(location, n, sizeof *location, by_module, profile->locations);
    return n;
}

/* Names of the locations without lines: `request` is in the order of `location`. */
struct naming {
    struct profile *profile;
    const uint32_t *location;
    const struct symbol_request *request;
    size_t n;
};

static void set_symbols(void *arg) {
    const struct naming *naming = arg;
    for (size_t i = 0; i < naming->n; i++) {
        naming->profile->unresolved += naming->request[i].is_for_now;
        set_symbol(naming->profile, naming->location[i], &naming->request[i].symbol);
    }
}

void symbolize(struct profile *profile, const uint32_t *module_of, struct symbol_service *service,
               enum symbol_patience patience) {
    uint32_t *location = memory_new(profile->n_locations + 1, sizeof *location, "symbols");
    struct symbol_request *request =
        memory_new(profile->n_locations + 1, sizeof *request, "symbols");
    size_t n = collect(profile, location);
    struct naming naming = {profile, location, request, n};
    const char *what;
    for (size_t i = 0; i < n; i++) {
        const struct profile_location *l = &profile->locations[location[i]];
        request[i] = (struct symbol_request){.module = module_of[l->module], .query = query_of(l)};
    }
    symbol_service_resolve(service, request, n, patience);
    bool named = memory_try(set_symbols, &naming, &what);
    for (size_t i = 0; i < n; i++)
        symbol_clear(&request[i].symbol);
    if (!named)
        memory_die(what);
    free(location);
    free(request);
    generated_demangle(profile, service);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * generated.c - makers of code name it by what their compiler calls it, which may be anything: it
 * is demangled where files are parsed.
 */
#include "common/assemble/generated.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

#define NAME_MOST 1024u /* bytes; longer ones stay as they are */

/* Locations with such names. */
struct mangled {
    struct profile *profile;
    uint32_t *location;
    const char **name;
    struct symbol *symbol;
    size_t n;
};

/* As those of C++, Rust and D begin. */
static bool is_mangled(const char *name) {
    return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D') &&
           strlen(name) <= NAME_MOST && strchr(name, '\n') == NULL;
}

static void collect(struct mangled *mangled) {
    const struct profile *profile = mangled->profile;
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_location *it = &profile->locations[i];
        if (it->n_lines != 1 || strcmp(profile->modules[it->module].path, GENERATED_MODULE) != 0)
            continue;
        const char *name = profile->functions[it->lines[0].function].name;
        if (is_mangled(name)) {
            mangled->location[mangled->n] = i;
            mangled->name[mangled->n++] = name;
        }
    }
}

static void set_names(void *arg) {
    const struct mangled *mangled = arg;
    for (size_t i = 0; i < mangled->n; i++) {
        struct profile_line line = {0};
        if (mangled->symbol[i].n_lines != 1)
            continue;
        line.function = profile_add_function(mangled->profile, mangled->symbol[i].lines[0].name,
                                             mangled->name[i], "", 0);
        profile_set_lines(mangled->profile, mangled->location[i], &line, 1);
    }
}

void generated_demangle(struct profile *profile, struct symbol_service *service) {
    struct mangled mangled = {.profile = profile};
    const char *what;
    mangled.location = memory_new(profile->n_locations, sizeof *mangled.location, "symbols");
    mangled.name = memory_new(profile->n_locations, sizeof *mangled.name, "symbols");
    mangled.symbol = memory_new(profile->n_locations, sizeof *mangled.symbol, "symbols");
    collect(&mangled);
    symbol_service_demangle(service, mangled.name, mangled.n, mangled.symbol);
    bool named = memory_try(set_names, &mangled, &what);
    for (size_t i = 0; i < mangled.n; i++)
        symbol_clear(&mangled.symbol[i]);
    if (!named)
        memory_die(what);
    free(mangled.location);
    free(mangled.name);
    free(mangled.symbol);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * firefox_tables.h - the tables that all threads of a Firefox Profiler file share: stacks, frames,
 * functions, sources, resources, libraries, strings.
 */
#ifndef HCCT_FIREFOX_TABLES_H
#define HCCT_FIREFOX_TABLES_H

#include "common/base/json_out.h"
#include "common/base/intern.h"
#include "common/profile/profile.h"

struct firefox_category {
    const char *name, *color; /* the viewer's words for colors */
};

extern const struct firefox_category firefox_categories[]; /* ended by one without a name */

/* All functions of a name in a module are one. */
struct firefox_function {
    const char *name;
    uint32_t module;
    const char *file; /* "" when none of them knows it */
    uint32_t start_line;
    uint64_t entry; /* where it begins, if `has_entry` */
    bool has_entry;
    uint32_t symbol; /* its place among the native symbols, if `has_entry` */
};

struct firefox_tables {
    const struct profile *profile;
    uint32_t *stack;    /* by node: its place in the table of stacks */
    uint32_t *function; /* by location */
    uint32_t *depth;    /* by location: how many frames it is inlined into */
    struct firefox_function *functions;
    uint32_t n_functions, function_room; /* the first is none, and not in the file */
    const char **strings;
    uint32_t n_strings, string_room; /* the first is "" */
    const char **files;
    uint32_t n_files, file_room; /* the first is none, and not in the file */
    struct intern by_name, by_text, by_file;
};

/* `profile` is grouped, and must outlive the tables. */
void firefox_tables_make(struct firefox_tables *tables, const struct profile *profile);
void firefox_tables_free(struct firefox_tables *tables);

/* Places in the tables of strings and, for a file that is not "", of sources; new ones are added.
 * The text must outlive the tables. */
uint32_t firefox_string(struct firefox_tables *tables, const char *text);
uint32_t firefox_source(struct firefox_tables *tables, const char *file);

/* Has an address in a module's file. */
bool firefox_has_address(const struct profile_location *place);

/* firefox_shared.c: the members "libs" and "shared" of the file. */
void firefox_put_libs(struct json_out *json, const struct firefox_tables *tables);
void firefox_put_shared(struct json_out *json, struct firefox_tables *tables);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * dwarf_scope.h - the functions of a module by address, as its debug information has them.
 *
 * A compile unit's functions are listed once, when the first address in it is asked for: asking
 * dwarf_getscopes would go through the whole unit for each address. Those in namespaces come first,
 * which is nearly all; within types and other functions one looks only for an address that is not
 * in them, as that is where most of a unit's entries are. Units are found by their own
 * ranges where there is no .debug_aranges (clang and rustc write none).
 * Runs in the worker child.
 */
#ifndef HCCT_DWARF_SCOPE_H
#define HCCT_DWARF_SCOPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_range;

enum dwarf_listing { DWARF_NOT_LISTED, DWARF_LISTED_OUTER, DWARF_LISTED_ALL };

struct dwarf_unit {
    Dwarf_Die die;
    enum dwarf_listing listing;    /* what is in `functions` */
    struct dwarf_range *functions; /* by start; may nest */
    size_t n_functions;
};

struct dwarf_scopes {
    struct dwarf_unit *units;
    size_t n_units;
    struct dwarf_range *ranges; /* of the units, by start */
    size_t n_ranges;
};

/* Lists the units; none when memory runs out. */
void dwarf_scopes_load(struct dwarf_scopes *scopes, Dwarf *dwarf);
void dwarf_scopes_clear(struct dwarf_scopes *scopes);

#define DWARF_CHAIN_MAX 64 /* one function, and inlined ones within each other */

/* The function that covers an address and the functions inlined into it there. n is 0 in code of no
 * function, such as an assembler file's: its lines may be known all the same. */
struct dwarf_chain {
    Dwarf_Die unit;
    Dwarf_Die die[DWARF_CHAIN_MAX]; /* die[0] is the function itself, the last the innermost */
    unsigned n;
};

/* False: no unit is known there. With `inlines` false only the function itself is found. */
bool dwarf_scopes_find(struct dwarf_scopes *scopes, uint64_t address, bool inlines,
                       struct dwarf_chain *chain);

#endif

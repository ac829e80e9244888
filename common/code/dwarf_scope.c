/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * dwarf_scope.c - the functions of a module by address, as its debug information has them.
 */
#include "common/code/dwarf_scope.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/array_grow.h"

#define NESTING_MAX 64 /* of DIEs that are searched for functions: hostile files nest deeper */

struct dwarf_range {
    uint64_t start, end;
    uint64_t reach;     /* the highest `end` up to here */
    size_t unit;        /* of a unit's range: its number */
    Dwarf_Die function; /* of a function's range */
};

struct range_list {
    struct dwarf_range *items;
    size_t n, room;
};

/* By start; of two that start together the larger first, so that what nests comes later. */
static int by_start(const void *a, const void *b) {
    const struct dwarf_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end > y->end ? -1 : x->end < y->end;
}

static void add_ranges(struct range_list *list, Dwarf_Die *die, const struct dwarf_range *what) {
    Dwarf_Addr base, start, end;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
        if (start >= end)
            continue;
        if (!array_grow(&list->items, list->n, &list->room, sizeof *list->items))
            return;
        struct dwarf_range *range = &list->items[list->n++];
        *range = *what;
        range->start = start;
        range->end = end;
    }
}

static void sort_ranges(struct range_list *list) {
    uint64_t reach = 0;
    if (list->n > 0)
        qsort(list->items, list->n, sizeof *list->items, by_start);
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].end > reach)
            reach = list->items[i].end;
        list->items[i].reach = reach;
    }
}

/* The innermost range that covers the address, or NULL. */
static const struct dwarf_range *find_range(const struct dwarf_range *ranges, size_t n,
                                            uint64_t address) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0 && address < ranges[low - 1].reach)
        if (address < ranges[--low].end)
            return &ranges[low];
    return NULL;
}

/* ---- units ---- */

void dwarf_scopes_load(struct dwarf_scopes *scopes, Dwarf *dwarf) {
    struct range_list ranges = {0};
    size_t room = 0;
    Dwarf_CU *cu = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    memset(scopes, 0, sizeof *scopes);
    while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &split) == 0) {
        if (type == DW_UT_skeleton && split.addr != NULL)
            die = split;
        else if (type != DW_UT_compile)
            continue;
        if (!array_grow(&scopes->units, scopes->n_units, &room, sizeof *scopes->units))
            break;
        struct dwarf_range range = {.unit = scopes->n_units};
        scopes->units[scopes->n_units++] = (struct dwarf_unit){.die = die};
        add_ranges(&ranges, &die, &range);
    }
    sort_ranges(&ranges);
    scopes->ranges = ranges.items;
    scopes->n_ranges = ranges.n;
}

void dwarf_scopes_clear(struct dwarf_scopes *scopes) {
    for (size_t i = 0; i < scopes->n_units; i++)
        free(scopes->units[i].functions);
    free(scopes->units);
    free(scopes->ranges);
    memset(scopes, 0, sizeof *scopes);
}

/* ---- functions of a unit ---- */

/* True for DIEs that may hold functions; but for DWARF_LISTED_ALL, those that are made for that. */
static bool may_hold_functions(int tag, enum dwarf_listing listing) {
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
        return true;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
        return listing == DWARF_LISTED_ALL;
    default:
        return false;
    }
}

static void list_functions(Dwarf_Die *parent, enum dwarf_listing listing, struct range_list *list,
                           int depth) {
    Dwarf_Die die;
    if (depth == NESTING_MAX || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram) {
            struct dwarf_range range = {.function = die};
            add_ranges(list, &die, &range);
        }
        if (may_hold_functions(tag, listing))
            list_functions(&die, listing, list, depth + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static void list_unit(struct dwarf_unit *unit, enum dwarf_listing listing) {
    struct range_list list = {0};
    list_functions(&unit->die, listing, &list, 0);
    sort_ranges(&list);
    free(unit->functions);
    unit->functions = list.items;
    unit->n_functions = list.n;
    unit->listing = listing;
}

/* The function of a unit that covers the address, or NULL. */
static const struct dwarf_range *find_function(struct dwarf_unit *unit, uint64_t address) {
    const struct dwarf_range *found = NULL;
    while (found == NULL && unit->listing < DWARF_LISTED_ALL) {
        list_unit(unit, unit->listing + 1);
        found = find_range(unit->functions, unit->n_functions, address);
    }
    return found;
}

/* ---- the chain of an address ---- */

/* Finds the inlined call among the children of `parent` that covers the address, through lexical
 * blocks. */
static bool find_inlined(Dwarf_Die *parent, uint64_t address, int depth, Dwarf_Die *found) {
    Dwarf_Die die;
    if (depth == NESTING_MAX || dwarf_child(parent, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);
        if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) ||
            dwarf_haspc(&die, address) <= 0)
            continue;
        if (tag == DW_TAG_inlined_subroutine) {
            *found = die;
            return true;
        }
        if (find_inlined(&die, address, depth + 1, found))
            return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

bool dwarf_scopes_find(struct dwarf_scopes *scopes, uint64_t address, bool inlines,
                       struct dwarf_chain *chain) {
    const struct dwarf_range *range = find_range(scopes->ranges, scopes->n_ranges, address);
    if (range == NULL)
        return false;
    struct dwarf_unit *unit = &scopes->units[range->unit];
    const struct dwarf_range *function = find_range(unit->functions, unit->n_functions, address);
    if (function == NULL)
        function = find_function(unit, address);
    chain->unit = unit->die;
    chain->n = 0;
    if (function == NULL)
        return true;
    chain->die[chain->n++] = function->function;
    while (inlines && chain->n < DWARF_CHAIN_MAX &&
           find_inlined(&chain->die[chain->n - 1], address, 0, &chain->die[chain->n]))
        chain->n++;
    return true;
}

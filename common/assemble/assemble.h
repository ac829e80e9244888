/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * assemble.h - makes a neutral profile of copied trees, of one or more processes.
 *
 * A tree's node is a (routine, call site in its caller); a profile's node is a place in the code.
 * So the call site that a child names becomes its parent's place, and a routine's self weight
 * stands at its entry: see assemble.c.
 */
#ifndef HCCT_ASSEMBLE_H
#define HCCT_ASSEMBLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/profile/profile.h"
#include "common/tree/scatter.h"
#include "common/tree/tree_copy.h"

struct assemble_params {
    double phi;     /* contexts of that share of N are called hot, for the record */
    double epsilon; /* as the trees were made with, for the record */
    const char *summary;
    FILE *contexts; /* NULL, or where contexts are written to (profile_contexts.h), which takes no
                     * memory: the profile then has roots alone */
};

/* A context that has a number. */
struct assemble_number {
    uint64_t number;
    uint32_t parent; /* place in the list, from 1 on, lower; 0: it has no caller */
    uint32_t frame;  /* of its place (frame_is_leaf_pc); 0: a thread begins there */
};

/* One process. */
struct assemble_part {
    struct tree_copy copy;
    struct scatter_effects effects; /* of functions */
    bool linked; /* its command is a name of its exe, maybe a link's, and no script */
    struct assemble_number *numbers; /* owned; n_numbers */
    size_t n_numbers;
    char *call_modules;             /* owned: where process.call_modules points; NULL: nowhere */
    struct profile_process process; /* but what is the tree's: assemble_trees() fills that in */
};

/* The profile of all parts, symbols not resolved. Type
 * and unit are as the parts' collectors and clocks say; period and times are the caller's to fill
 * in. *module_of, malloc'ed, maps the profile's module indices to module ids (code/module.h). */
struct profile *assemble_trees(struct assemble_part *parts, size_t n,
                               const struct assemble_params *params, uint32_t **module_of);

#endif

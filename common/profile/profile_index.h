/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * profile_index.h - what a profile keeps to find equal entries again. For profile.c, and for who
 * makes a profile of one that is complete already (profile_image.c).
 */
#ifndef HCCT_PROFILE_INDEX_H
#define HCCT_PROFILE_INDEX_H

#include <stdint.h>

#include "common/base/memory.h"
#include "common/base/intern.h"
#include "common/profile/profile.h"

struct profile_index {
    struct pool pool;     /* strings and lines */
    const char **strings; /* by number; 0 is "" */
    uint32_t n_strings;
    uint32_t *roots; /* by process */
    uint32_t string_room, module_room, function_room, location_room, node_room, process_room;
    uint32_t root_room;
    struct intern by_text, by_module, by_function, by_address, by_lines, by_child;
};

/* The number of profile_string(profile, text). */
uint32_t profile_string_number(struct profile *profile, const char *text);

/* A node more, which no other one is like: profile_add_node() will not find it. */
uint32_t profile_append_node(struct profile *profile, const struct profile_node *node);

/* Room for so many contexts more, which are about to be added. */
void profile_reserve_nodes(struct profile *profile, uint32_t n);

#endif

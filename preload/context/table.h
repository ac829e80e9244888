/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * table.h - the contexts of a process by number: a tree of return addresses, one number for each
 * path from its root.
 *
 * Numbers are exact: a node is found by its parent's number, its own address and the module that
 * has it, which are compared whole. Nodes are only added, without a lock, and stay for good. So
 * there are WIRE_CONTEXTS of them; who would need more gets none. A number is the table's tag,
 * which no other process has, and the node.
 *
 * After a dlclose an address may mean other code: that is of another module of the log, and so has
 * another node. Another session of the daemon knows none of the nodes: a new root is made then, and
 * whatever is older than the root is not met again.
 */
#ifndef HCCT_CONTEXT_TABLE_H
#define HCCT_CONTEXT_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire/compiler.h"
#include "common/wire/wire.h"
#include "preload/life/modules.h"

#define CONTEXT_LINE             8u /* places that are searched in each level, but for the last */
#define CONTEXT_LEVELS           6u
#define CONTEXT_LEVEL_BITS       7u /* lines of the first level; four times as many of each next one */
#define CONTEXT_PLACES_LOG       (CONTEXT_LEVEL_BITS + 3u)
#define CONTEXT_PLACES_OF(level) (1u << (CONTEXT_PLACES_LOG + 2u * (level)))
#define CONTEXT_PLACES                                                                             \
    (((1u << 2u * CONTEXT_LEVELS) - 1) / 3 << CONTEXT_PLACES_LOG) /* of all levels */

struct context_node {
    _Atomic uint64_t pc; /* as in struct wire_context, set last; 0: not filled yet */
    uint32_t parent;     /* a lower number */
    uint32_t module;     /* of the module log, from 1 on, that the address is in; 0: in none */
};

/* A place is empty (0), or has part of a hash in its upper half and a node's number below. */
struct context_table {
    uint64_t tag;          /* in the upper half; not 0 */
    _Atomic uint32_t used; /* nodes that were taken, but for 0 */
    _Atomic uint32_t root; /* the present one; 0: none yet */
    _Alignas(WIRE_CACHE_LINE) _Atomic uint64_t place[CONTEXT_PLACES];
    struct context_node node[WIRE_CONTEXTS];
};

_Static_assert(WIRE_CONTEXTS <= CONTEXT_PLACES_OF(CONTEXT_LEVELS - 1), "a place for each");

/* A new one. NULL: there is no memory. Any context; makes system calls. */
struct context_table *context_table_make(void);

static inline uint64_t context_hash(uint32_t parent, uint64_t pc) {
    uint64_t hash = (pc ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 29 ^ parent) * 0xff51afd7ed558ccdull;
    return hash ^ hash >> 32;
}

static inline bool context_is_node(const struct context_table *all, uint64_t place, uint64_t hash,
                                   uint32_t parent, uint64_t pc) {
    const struct context_node *node = &all->node[(uint32_t)place % WIRE_CONTEXTS];
    return (place ^ hash) >> 32 == 0 && node->parent == parent &&
           atomic_load_explicit(&node->pc, memory_order_relaxed) == pc;
}

/* The module that a node is to be of: that one, or one that was found in that validity
 * (life/modules.h), which is what the address means then. */
struct context_meant {
    uint32_t module;
    uint32_t validity; /* 0: `module` */
};

static inline bool context_is_meant(const struct context_table *all, uint64_t place,
                                    struct context_meant meant) {
    uint32_t module = all->node[(uint32_t)place % WIRE_CONTEXTS].module;
    if (meant.validity == 0)
        return module == meant.module;
    return module == 0 || modules_was_found(module - 1, meant.validity);
}

/* How many places of a level are searched, and where the i-th of these is in a level that begins at
 * `first`: a line; all of the last level, which has more than there are nodes. */
static inline uint32_t context_places(unsigned level) {
    return level + 1 < CONTEXT_LEVELS ? CONTEXT_LINE : CONTEXT_PLACES_OF(level);
}

static inline uint32_t context_place(uint32_t first, unsigned level, uint64_t hash, uint32_t i) {
    return first + (((uint32_t)hash * CONTEXT_LINE + i) & (CONTEXT_PLACES_OF(level) - 1));
}

/* The node of that address below `parent`; 0: there is none. Any context. */
static inline uint32_t context_find(const struct context_table *all, uint32_t parent, uint64_t pc,
                                    struct context_meant meant) {
    uint64_t hash = context_hash(parent, pc);
    uint32_t first = 0;
    for (unsigned level = 0; level < CONTEXT_LEVELS; level++) {
        for (uint32_t i = 0; i < context_places(level); i++) {
            uint64_t place = atomic_load_explicit(&all->place[context_place(first, level, hash, i)],
                                                  memory_order_acquire);
            if (place == 0)
                return 0;
            if (hcct_likely(context_is_node(all, place, hash, parent, pc) &&
                            context_is_meant(all, place, meant)))
                return (uint32_t)place;
        }
        first += CONTEXT_PLACES_OF(level);
    }
    return 0;
}

/* The same of that module, made on first sight; 0: there is no room. Any context. */
uint32_t context_add(struct context_table *all, uint32_t parent, uint64_t pc, uint32_t module);

/* The root as long as the session is the same; 0: there is no room. Any context. */
uint32_t context_root(struct context_table *all, uint32_t epoch);

/* The number is a node's of that table, and not older than that root. Any context. */
static inline bool context_holds(uint64_t number, uint64_t tag, uint32_t root) {
    return (number ^ tag) >> 32 == 0 && (uint32_t)number >= root;
}

#endif

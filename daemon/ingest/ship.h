/*
 * ship.h - a shipped stack (common/wire/wire.h: SHIP) on its way from a ring to the unwinder.
 *
 * All that are on their way take SHIPS_BYTES_MAX at most, whoever sends them. Thread-safe but for
 * the lists, which have an owner each.
 */
#ifndef HCCT_SHIP_H
#define HCCT_SHIP_H

#include <stdint.h>

#include "common/code/shipped_stack.h"

#define SHIPS_BYTES_MAX (16ull << 20)

struct process;

struct ship {
    struct ship *next;
    struct process *process; /* once it is queued (ships.h) */
    uint64_t weight;
    uint32_t generation;        /* of the module log, by which its addresses are read */
    uint64_t bytes;             /* of all of it */
    struct shipped_stack stack; /* and what follows it */
};

struct ship_list {
    struct ship *first, *last;
};

/* One with the numbers of `sizes`, and room for what they say. NULL: too many are on their way, or
 * there is no memory. */
struct ship *ship_new(const struct shipped_stack *sizes);
void ship_free(struct ship *ship);

void ship_list_add(struct ship_list *list, struct ship *ship);
struct ship *ship_list_take(struct ship_list *list); /* the first, NULL: it is empty */

#endif

/*
 * ship.c - memory of shipped stacks, counted.
 */
#include "daemon/ingest/ship.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static _Atomic uint64_t on_their_way; /* bytes */

struct ship *ship_new(const struct shipped_stack *sizes) {
    uint64_t bytes = offsetof(struct ship, stack) + shipped_bytes(sizes);
    struct ship *ship = NULL;
    if (atomic_fetch_add(&on_their_way, bytes) + bytes <= SHIPS_BYTES_MAX)
        ship = malloc(bytes);
    if (ship == NULL) {
        atomic_fetch_sub(&on_their_way, bytes);
        return NULL;
    }
    *ship = (struct ship){.bytes = bytes, .stack = *sizes};
    return ship;
}

void ship_free(struct ship *ship) {
    atomic_fetch_sub(&on_their_way, ship->bytes);
    free(ship);
}

void ship_list_add(struct ship_list *list, struct ship *ship) {
    ship->next = NULL;
    if (list->first == NULL)
        list->first = ship;
    else
        list->last->next = ship;
    list->last = ship;
}

struct ship *ship_list_take(struct ship_list *list) {
    struct ship *ship = list->first;
    if (ship != NULL)
        list->first = ship->next;
    return ship;
}

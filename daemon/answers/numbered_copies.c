/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * numbered_copies.c - callers before what they call. A context one of whose callers is not known
 * has no path, and is left out.
 */
#include "daemon/answers/numbered_copies.h"

#include <stdlib.h>

#include "common/base/array_grow.h"

#define NOWHERE UINT32_MAX

/* Puts the node into the part; 0: no memory. */
static uint32_t put(struct assemble_part *part, size_t *room, const struct numbered_table *table,
                    uint32_t i, uint32_t parent) {
    const struct numbered_node *node = numbered_node(table, i);
    if (!array_grow(&part->numbers, part->n_numbers, room, sizeof *part->numbers))
        return 0;
    part->numbers[part->n_numbers++] =
        (struct assemble_number){.number = (uint64_t)table->tag << 32 | i,
                                 .parent = parent,
                                 .frame = node->kind == NUMBERED_PLACE ? node->frame : 0};
    return (uint32_t)part->n_numbers;
}

/* Where its parent is in the part. */
static uint32_t place_of(const struct numbered_table *table, const uint32_t *place,
                         const struct numbered_node *node) {
    if (node->kind == NUMBERED_ROOT)
        return 0;
    return node->kind == NUMBERED_UNUSED ? NOWHERE : place[node->parent - table->first];
}

static bool copy_table(const struct numbered_table *table, struct assemble_part *part,
                       size_t *room) {
    uint32_t *place = calloc(table->n + 1, sizeof *place);
    bool copied = place != NULL;
    for (uint32_t k = 0; k < table->n && copied; k++) {
        const struct numbered_node *node = &table->node[k];
        place[k] = place_of(table, place, node);
        if (place[k] == NOWHERE || node->kind == NUMBERED_ROOT)
            continue;
        place[k] = put(part, room, table, table->first + k, place[k]);
        copied = place[k] != 0;
    }
    free(place);
    return copied;
}

bool numbered_copy_all(struct process *process, struct assemble_part *part) {
    bool copied = true;
    size_t room = 0;
    pthread_mutex_lock(&process->lock);
    for (const struct numbered_table *t = process->numbered.tables; t != NULL && copied;
         t = t->next)
        copied = copy_table(t, part, &room);
    pthread_mutex_unlock(&process->lock);
    return copied;
}

/* How many nodes are between the root and it, itself counted; 0: they are not all known. */
static uint32_t depth_of(const struct numbered_table *table, uint32_t i) {
    const struct numbered_node *node = numbered_node(table, i);
    uint32_t depth = 0;
    for (; node != NULL && node->kind > NUMBERED_ROOT; depth++)
        node = numbered_node(table, node->parent);
    return node != NULL && node->kind == NUMBERED_ROOT ? depth : 0;
}

bool numbered_copy_one(const struct numbered *numbered, uint64_t number,
                       struct assemble_part *part) {
    const struct numbered_table *table = numbered_find(numbered, number);
    uint32_t i = (uint32_t)number, depth = table != NULL ? depth_of(table, i) : 0;
    size_t first = part->n_numbers, room = first;
    if (depth == 0)
        return true;
    for (uint32_t k = 0; k < depth; k++)
        if (put(part, &room, table, i, 0) == 0)
            return false;
    for (uint32_t k = depth; k-- > 0; i = numbered_node(table, i)->parent) {
        struct assemble_number *it = &part->numbers[first + k];
        const struct numbered_node *node = numbered_node(table, i);
        it->number = (uint64_t)table->tag << 32 | i;
        it->frame = node->kind == NUMBERED_PLACE ? node->frame : 0;
        it->parent = k > 0 ? (uint32_t)(first + k) : 0;
    }
    return true;
}

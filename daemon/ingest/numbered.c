/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * numbered.c - lists of nodes, the newest session's first. What an agent has written is not
 * believed: a parent is a lower node of the same session, or there is none.
 */
#include "daemon/ingest/numbered.h"

#include <stdlib.h>

#include "common/base/array_grow.h"
#include "common/wire/wire.h"

static const struct wire_context *entry_of(const struct session_memory *memory, uint32_t i) {
    const char *first = (const char *)memory->session + WIRE_CONTEXTS_OFFSET(memory->slot_bytes);
    return (const struct wire_context *)(const void *)first + i;
}

uint32_t numbered_sent(const struct session_memory *memory) {
    uint32_t n = atomic_load_explicit(&memory->session->contexts_used, memory_order_acquire);
    return n < memory->contexts_ready ? n : memory->contexts_ready;
}

static uint32_t frame_of(struct addresses *addresses, const struct wire_context *it) {
    uint64_t pc = it->pc & ~WIRE_CONTEXT_EXACT;
    return addresses_place(addresses, it->module, (it->pc & WIRE_CONTEXT_EXACT) != 0 ? pc : pc - 1);
}

static struct numbered_node node_of(const struct numbered_table *table, uint32_t i,
                                    const struct wire_context *shared,
                                    struct addresses *addresses) {
    struct wire_context it; /* a copy that the agent can't change under our hands */
    it.pc = *(const volatile uint64_t *)&shared->pc;
    it.parent = *(const volatile uint32_t *)&shared->parent;
    it.module = *(const volatile uint32_t *)&shared->module;
    if ((it.pc & (WIRE_CONTEXT_ROOT | WIRE_CONTEXT_EXACT)) == WIRE_CONTEXT_ROOT && it.parent == 0)
        return (struct numbered_node){.kind = NUMBERED_ROOT};
    if (it.pc == 0 || it.parent < table->first || it.parent >= i)
        return (struct numbered_node){.kind = NUMBERED_UNUSED};
    if (it.pc == WIRE_CONTEXT_THREAD)
        return (struct numbered_node){.kind = NUMBERED_THREAD, .parent = it.parent};
    if ((it.pc & (WIRE_CONTEXT_ROOT | WIRE_CONTEXT_THREAD)) != 0)
        return (struct numbered_node){.kind = NUMBERED_UNUSED};
    return (struct numbered_node){
        .kind = NUMBERED_PLACE, .parent = it.parent, .frame = frame_of(addresses, &it)};
}

static void free_table(struct numbered_table *table) {
    free(table->node);
    free(table);
}

/* The oldest is last. */
static void drop_oldest(struct numbered *numbered) {
    struct numbered_table **at = &numbered->tables;
    while ((*at)->next != NULL)
        at = &(*at)->next;
    numbered->nodes -= (*at)->n;
    numbered->n_tables--;
    if (*at == numbered->own)
        numbered->own = NULL;
    free_table(*at);
    *at = NULL;
}

/* Of the session that goes on; NULL: there are none, or no memory, or its agent says another thing
 * than before: a table for each word of a liar would be one more each time. */
static struct numbered_table *table_of(struct numbered *numbered,
                                       const struct session_memory *memory) {
    struct numbered_table *table = numbered->own;
    uint32_t tag = atomic_load_explicit(&memory->session->contexts_tag, memory_order_acquire);
    uint32_t first = atomic_load_explicit(&memory->session->contexts_first, memory_order_relaxed);
    if (tag == 0 || first == 0 || first >= WIRE_CONTEXTS)
        return NULL;
    if (table != NULL)
        return table->tag == tag && table->first == first ? table : NULL;
    table = calloc(1, sizeof *table);
    if (table == NULL)
        return NULL;
    *table = (struct numbered_table){.next = numbered->tables, .tag = tag, .first = first};
    numbered->tables = numbered->own = table;
    numbered->n_tables++;
    return table;
}

/* For one node more: sessions that the program had before make it. */
static bool make_room(struct numbered *numbered, struct numbered_table *table) {
    while (numbered->nodes >= NUMBERED_MOST && table->next != NULL)
        drop_oldest(numbered);
    return numbered->nodes < NUMBERED_MOST &&
           array_grow(&table->node, table->n, &table->room, sizeof *table->node);
}

void numbered_take(struct numbered *numbered, const struct session_memory *memory,
                   struct addresses *addresses, uint32_t upto) {
    if (upto == 0)
        return;
    struct numbered_table *table = table_of(numbered, memory);
    for (uint32_t i = table != NULL ? table->first + table->n : upto; i < upto; i++) {
        if (!make_room(numbered, table))
            return;
        table->node[table->n++] = node_of(table, i, entry_of(memory, i), addresses);
        numbered->nodes++;
    }
}

const struct numbered_node *numbered_node(const struct numbered_table *table, uint32_t i) {
    uint32_t at = i - table->first;
    return i >= table->first && at < table->n ? &table->node[at] : NULL;
}

const struct numbered_table *numbered_find(const struct numbered *numbered, uint64_t number) {
    for (const struct numbered_table *t = numbered->tables; t != NULL; t = t->next) {
        const struct numbered_node *node = numbered_node(t, (uint32_t)number);
        if (t->tag == number >> 32 && node != NULL && node->kind == NUMBERED_PLACE)
            return t;
    }
    return NULL;
}

/* Nothing comes to them any more: what has no nodes goes, and room for more. Returns the end. */
static struct numbered_table **trim_tables(struct numbered *numbered) {
    struct numbered_table **at = &numbered->tables;
    while (*at != NULL) {
        struct numbered_table *table = *at;
        if (table->n == 0) {
            *at = table->next;
            numbered->n_tables--;
            free_table(table);
            continue;
        }
        void *node = realloc(table->node, table->n * sizeof *table->node);
        if (node != NULL) {
            table->node = node;
            table->room = table->n;
        }
        at = &table->next;
    }
    return at;
}

void numbered_fold(struct numbered *into, struct numbered *from) {
    struct numbered_table **end = trim_tables(from);
    *end = into->tables;
    into->tables = from->tables;
    into->nodes += from->nodes;
    into->n_tables += from->n_tables;
    *from = (struct numbered){0};
    while (into->nodes > NUMBERED_MOST || into->n_tables > NUMBERED_TABLES_MOST)
        drop_oldest(into);
}

void numbered_each_frame(const struct numbered *numbered, void (*mark)(uint32_t frame)) {
    for (const struct numbered_table *t = numbered->tables; t != NULL; t = t->next)
        for (uint32_t i = 0; i < t->n; i++)
            if (t->node[i].kind == NUMBERED_PLACE)
                mark(t->node[i].frame);
}

void numbered_clear(struct numbered *numbered) {
    for (struct numbered_table *table = numbered->tables, *next; table != NULL; table = next) {
        next = table->next;
        free_table(table);
    }
    *numbered = (struct numbered){0};
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * numbered_test.c - contexts with numbers, as an agent writes them, and as it should not: room for
 * them, what is taken, what is left out, and what stays of processes that are folded.
 */
#include "daemon/ingest/numbered.h"

#include <unistd.h>

#include "common/code/frame.h"
#include "daemon/ingest/drain.h"
#include "daemon/ingest/process.h"
#include "daemon/ingest/resume.h"
#include "daemon/ingest/session_room.h"
#include "tests/check.h"

#define FIRST 5u
#define TAG   0x40001234u

static const struct session_needs no_needs;
static const struct session_sampling walks = {.rate = 100, .every = 1};
static struct session_memory memory;
static struct addresses *addresses;
static uint32_t marked;

static void mark(uint32_t frame) {
    CHECK(frame != 0);
    marked++;
}

static struct wire_context *entry(uint32_t i) {
    char *first = (char *)memory.session + WIRE_CONTEXTS_OFFSET(memory.slot_bytes);
    return (struct wire_context *)(void *)first + i;
}

static uint64_t number(uint32_t i) {
    return (uint64_t)TAG << 32 | i;
}

/* No more than there can be, and all is accounted for. */
static void test_room(void) {
    uint64_t before = session_room_taken();
    session_memory_extend(&memory, getpid(), 1);
    CHECK_UINT(memory.contexts_ready, 0);
    CHECK_UINT(session_room_taken(), before);
    atomic_store(&memory.session->contexts_wanted, 1);
    session_memory_extend(&memory, getpid(), 1);
    uint32_t few = memory.contexts_ready;
    CHECK(few > 1 && few < WIRE_CONTEXTS / 2);
    session_memory_extend(&memory, getpid(), 1);
    CHECK_UINT(memory.contexts_ready, few);
    CHECK_UINT(session_room_taken(), before + few * sizeof(struct wire_context));
    atomic_store(&memory.session->contexts_used, UINT32_MAX);
    CHECK_UINT(numbered_sent(&memory), few);
    atomic_store(&memory.session->contexts_wanted, UINT32_MAX);
    session_memory_extend(&memory, getpid(), 1);
    CHECK_UINT(memory.contexts_ready, WIRE_CONTEXTS);
    CHECK_UINT(atomic_load(&memory.session->contexts_ready), WIRE_CONTEXTS);
}

static void write_entries(void) {
    *entry(FIRST) = (struct wire_context){WIRE_CONTEXT_ROOT | 77, 0, 0};
    *entry(FIRST + 1) = (struct wire_context){0x401000, FIRST, 1};
    *entry(FIRST + 2) = (struct wire_context){WIRE_CONTEXT_THREAD, FIRST + 1, 0};
    *entry(FIRST + 3) = (struct wire_context){0x401000 | WIRE_CONTEXT_EXACT, FIRST + 2, 1};
    /* what none may be: its own caller, below a later one, below one of before, nothing */
    *entry(FIRST + 4) = (struct wire_context){0x401000, FIRST + 4, 1};
    *entry(FIRST + 5) = (struct wire_context){0x401000, UINT32_MAX, 1};
    *entry(FIRST + 6) = (struct wire_context){0x401000, FIRST - 1, 1};
    *entry(FIRST + 7) = (struct wire_context){0, FIRST, 1};
    *entry(FIRST + 8) = (struct wire_context){WIRE_CONTEXT_ROOT, FIRST, 1};
    *entry(FIRST + 9) = (struct wire_context){0x402000, FIRST + 3, 1};
}

static void test_taken(struct numbered *numbered) {
    uint32_t n = FIRST + 10;
    write_entries();
    numbered_take(numbered, &memory, addresses, n);
    CHECK(numbered->tables == NULL); /* they have no tag yet */
    atomic_store(&memory.session->contexts_tag, TAG);
    atomic_store(&memory.session->contexts_first, FIRST);
    numbered_take(numbered, &memory, addresses, FIRST + 2);
    CHECK_UINT(numbered->nodes, 2);
    numbered_take(numbered, &memory, addresses, n);
    numbered_take(numbered, &memory, addresses, n);
    CHECK_UINT(numbered->nodes, 10);
    const struct numbered_table *table = numbered_find(numbered, number(FIRST + 9));
    CHECK(table != NULL && numbered_find(numbered, number(FIRST + 1)) == table);
    CHECK(numbered_node(table, FIRST + 9)->parent == FIRST + 3);
    CHECK(numbered_node(table, FIRST + 2)->kind == NUMBERED_THREAD);
    CHECK(numbered_node(table, FIRST + 10) == NULL && numbered_node(table, FIRST - 1) == NULL);
    for (uint32_t i = 4; i < 9; i++) {
        CHECK(numbered_find(numbered, number(FIRST + i)) == NULL);
        CHECK(numbered_node(table, FIRST + i)->kind == NUMBERED_UNUSED);
    }
    CHECK(numbered_find(numbered, number(FIRST)) == NULL); /* a root is no context */
    CHECK(numbered_find(numbered, number(FIRST + 1) ^ 1ull << 40) == NULL);
    numbered_each_frame(numbered, mark);
    CHECK_UINT(marked, 3);
}

/* Of modules that have followed each other at one address, that which the agent names; in one that
 * is not in the log, or elsewhere, in none. */
static void test_modules(void) {
    static const struct {
        uint64_t pc;
        uint32_t module, of, site;
    } places[] = {{0x401101, 1, 4, 0x400100},
                  {0x401101, 2, 9, 0x3ff100},
                  {0x401101, 3, 0, 0},
                  {0x409001, 1, 0, 0},
                  {0x401101, 0, 0, 0}};
    struct numbered numbered = {0};
    CHECK(addresses_add(addresses, 0x401000, 0x402000, 0x1000, 4, 1));
    CHECK(addresses_add(addresses, 0x401000, 0x402000, 0x2000, 9, 2));
    atomic_store(&memory.session->contexts_tag, TAG + 2);
    *entry(FIRST) = (struct wire_context){WIRE_CONTEXT_ROOT, 0, 0};
    for (uint32_t i = 0; i < 5; i++)
        *entry(FIRST + 1 + i) = (struct wire_context){places[i].pc, FIRST, places[i].module};
    numbered_take(&numbered, &memory, addresses, FIRST + 6);
    for (uint32_t i = 0; i < 5; i++) {
        struct frame_key key;
        CHECK(frame_get(numbered_node(numbered.tables, FIRST + 1 + i)->frame, &key));
        CHECK_UINT(key.site_module, places[i].of);
        CHECK_UINT(key.site, places[i].site);
    }
    numbered_clear(&numbered);
}

/* An agent says once where its table begins: one that says another thing each time gets no table
 * for each of its words. */
static void test_changed(void) {
    struct numbered numbered = {0};
    atomic_store(&memory.session->contexts_tag, TAG + 3);
    numbered_take(&numbered, &memory, addresses, FIRST + 2);
    for (uint32_t i = 1; i < 10; i++) {
        atomic_store(&memory.session->contexts_tag, TAG + 3 + i);
        numbered_take(&numbered, &memory, addresses, FIRST + 3);
    }
    atomic_store(&memory.session->contexts_tag, TAG + 3);
    atomic_store(&memory.session->contexts_first, FIRST + 1);
    numbered_take(&numbered, &memory, addresses, FIRST + 3);
    CHECK(numbered.tables != NULL && numbered.tables->next == NULL);
    CHECK_UINT(numbered.nodes, 2);
    atomic_store(&memory.session->contexts_first, FIRST);
    numbered_take(&numbered, &memory, addresses, FIRST + 3);
    CHECK_UINT(numbered.nodes, 3);
    numbered_clear(&numbered);
    CHECK(numbered.tables == NULL && numbered.own == NULL);
}

/* Processes of few contexts each, or of none: what is kept of all of them has an end as well, and
 * the latest are kept. */
static void test_many(void) {
    struct numbered all = {0};
    for (uint32_t i = 0; i < NUMBERED_TABLES_MOST + 10; i++) {
        struct numbered one = {0}, none = {0};
        atomic_store(&memory.session->contexts_tag, TAG + 100 + i);
        numbered_take(&none, &memory, addresses, FIRST);
        CHECK(none.n_tables == 1 && none.nodes == 0);
        numbered_fold(&all, &none);
        numbered_take(&one, &memory, addresses, FIRST + 2);
        numbered_fold(&all, &one);
    }
    CHECK_UINT(all.n_tables, NUMBERED_TABLES_MOST);
    CHECK_UINT(all.nodes, 2 * NUMBERED_TABLES_MOST);
    CHECK(all.tables->room == 2);
    CHECK(numbered_find(&all, (uint64_t)(TAG + 109) << 32 | (FIRST + 1)) == NULL);
    CHECK(numbered_find(&all, (uint64_t)(TAG + 110) << 32 | (FIRST + 1)) != NULL);
    numbered_clear(&all);
    CHECK_UINT(all.n_tables, 0);
}

/* What a session has before it goes for what comes. */
static void test_full(void) {
    struct numbered before = {0}, now = {0};
    atomic_store(&memory.session->contexts_tag, TAG + 20);
    numbered_take(&before, &memory, addresses, WIRE_CONTEXTS);
    numbered_fold(&now, &before);
    CHECK_UINT(now.nodes, WIRE_CONTEXTS - FIRST);
    atomic_store(&memory.session->contexts_tag, TAG + 21);
    numbered_take(&now, &memory, addresses, FIRST + 10);
    CHECK_UINT(now.nodes, 10);
    CHECK_UINT(now.n_tables, 1);
    CHECK(numbered_find(&now, (uint64_t)(TAG + 21) << 32 | (FIRST + 1)) != NULL);
    numbered_clear(&now);
}

static struct process *session_with_number(uint32_t tag) {
    struct process_params params = {
        .pid = getpid(), .uid = getuid(), .sampling = walks, .tree = {.epsilon = 0.01}};
    struct process *p = process_new(&params);
    CHECK(p != NULL);
    struct wire_session *session = p->memory.session;
    atomic_store(&session->contexts_wanted, FIRST + 2);
    process_drain(p, NULL, NULL);
    char *first = (char *)session + WIRE_CONTEXTS_OFFSET(p->memory.slot_bytes);
    struct wire_context *entry = (struct wire_context *)(void *)first;
    entry[FIRST] = (struct wire_context){WIRE_CONTEXT_ROOT, 0, 0};
    entry[FIRST + 1] = (struct wire_context){0x401000, FIRST, 0};
    atomic_store(&session->contexts_first, FIRST);
    atomic_store(&session->contexts_tag, tag);
    atomic_store(&session->contexts_used, FIRST + 2);
    return p;
}

/* The agent took hcctd for dead, and has come back: what it gave before can still be decoded. */
static void test_resumed(void) {
    struct process *old = session_with_number(TAG), *p = session_with_number(TAG + 1);
    uint64_t before = number(FIRST + 1), now = before + (1ull << 32);
    process_drain(old, NULL, NULL);
    CHECK(numbered_find(&old->numbered, before) != NULL);
    CHECK(resume(p, old));
    process_free(old);
    CHECK(numbered_find(&p->numbered, before) != NULL);
    process_drain(p, NULL, NULL);
    CHECK(numbered_find(&p->numbered, before) != NULL);
    CHECK(numbered_find(&p->numbered, now) != NULL);
    CHECK_UINT(p->numbered.nodes, 4);
    process_end(p, true);
    process_free(p);
}

/* The oldest go first. */
static void test_folded(struct numbered *numbered) {
    struct numbered all = {0};
    numbered_fold(&all, numbered);
    CHECK(numbered->tables == NULL && numbered->nodes == 0 && all.nodes == 10);
    atomic_store(&memory.session->contexts_tag, TAG + 1);
    atomic_store(&memory.session->contexts_first, 1);
    numbered_take(numbered, &memory, addresses, WIRE_CONTEXTS);
    CHECK_UINT(numbered->nodes, WIRE_CONTEXTS - 1);
    numbered_fold(&all, numbered);
    CHECK_UINT(all.nodes, WIRE_CONTEXTS - 1);
    CHECK(numbered_find(&all, number(FIRST + 1)) == NULL);
    numbered_clear(&all);
    CHECK(all.tables == NULL && all.nodes == 0);
    atomic_store(&memory.session->contexts_first, UINT32_MAX);
    numbered_take(numbered, &memory, addresses, 10);
    CHECK(numbered->tables == NULL);
}

int main(void) {
    struct numbered numbered = {0};
    addresses = addresses_new(frame_own_user());
    CHECK(addresses != NULL && session_memory_make(&memory, getpid(), &walks, &no_needs));
    test_room();
    test_taken(&numbered);
    test_modules();
    test_changed();
    test_many();
    test_full();
    test_resumed();
    test_folded(&numbered);
    session_memory_free(&memory);
    addresses_free(addresses);
    CHECK_UINT(session_room_taken(), 0);
    return check_report();
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session_room_test.c - an agent's word gets it no more slots than its process has threads for; all
 * sessions together get no more than the limit, and give back what they have.
 */
#include "daemon/ingest/session_room.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/ingest/session_memory.h"
#include "tests/check.h"

#define THREADS 300u

static const struct session_needs no_needs;
static const struct session_sampling walks = {.rate = 100, .every = 1};
static const struct session_sampling calls = {.collector = WIRE_COLLECT_CALLS, .every = 1};

/* What is allocated in truth. */
static uint64_t allocated(const struct session_memory *memory) {
    struct stat stat;
    CHECK(fstat(memory->fd, &stat) == 0);
    return (uint64_t)stat.st_blocks * 512;
}

/* The agent asks for as many slots as there can be, sweep after sweep. */
static void ask_for_all(struct session_memory *memory) {
    atomic_store(&memory->session->slots_used, UINT32_MAX);
    for (int sweep = 0; sweep < 20; sweep++)
        session_memory_extend(memory, getpid(), 1);
}

static void test_lie(const struct session_sampling *sampling) {
    struct session_memory memory;
    CHECK(session_memory_make(&memory, getpid(), sampling, &no_needs));
    CHECK_UINT(session_room_taken(), allocated(&memory));
    ask_for_all(&memory);
    uint32_t may = session_room_slots(getpid(), memory.slot_bytes, 1);
    CHECK(may < WIRE_SLOTS_MAX);
    CHECK_UINT(memory.slots_ready, may);
    CHECK_UINT(memory.slots_refused, WIRE_SLOTS_MAX - may);
    CHECK_UINT(session_room_taken(), allocated(&memory));
    CHECK(allocated(&memory) < 2 * SESSION_ROOM_SPARE);
    atomic_store(&memory.session->slots_used, 1);
    session_memory_extend(&memory, getpid(), 1);
    CHECK_UINT(memory.slots_refused, 0);
    session_memory_free(&memory);
    CHECK_UINT(session_room_taken(), 0);
}

/* ---- true words ---- */

static pthread_barrier_t all_there, all_seen;

static void *be_there(void *unused) {
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_seen);
    return unused;
}

static void test_truth(void) {
    struct session_memory memory;
    pthread_t thread[THREADS];
    uint32_t alone = session_room_slots(getpid(), WIRE_CALLS_BYTES, 1);
    pthread_barrier_init(&all_there, NULL, THREADS + 1);
    pthread_barrier_init(&all_seen, NULL, THREADS + 1);
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, be_there, NULL) != 0)
            exit(1);
    pthread_barrier_wait(&all_there);
    CHECK(session_memory_make(&memory, getpid(), &walks, &no_needs));
    ask_for_all(&memory);
    CHECK(memory.slots_ready >= THREADS);
    CHECK(session_room_slots(getpid(), WIRE_CALLS_BYTES, 1) >= alone + 2 * THREADS);
    session_memory_free(&memory);
    pthread_barrier_wait(&all_seen);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* ---- all together ---- */

static void test_limit(void) {
    struct session_memory memory, more;
    uint64_t limit = session_room_limit();
    CHECK(limit > 0 && !session_room_take(limit + 1) && !session_room_take(UINT64_MAX));
    CHECK(session_memory_make(&memory, getpid(), &walks, &no_needs));
    uint64_t rest = limit - session_room_taken();
    CHECK(session_room_take(rest));
    CHECK(!session_memory_make(&more, getpid(), &walks,
                               &no_needs)); /* another session, or more of this */
    ask_for_all(&memory);
    CHECK_UINT(memory.slots_refused, WIRE_SLOTS_MAX - memory.slots_ready);
    CHECK_UINT(session_room_taken(), limit);
    session_room_give(rest);
    ask_for_all(&memory);
    CHECK_UINT(memory.slots_ready, session_room_slots(getpid(), WIRE_SLOT_BYTES, 1));
    session_memory_free(&memory);
    CHECK_UINT(session_room_taken(), 0);
}

int main(void) {
    test_lie(&walks);
    test_lie(&calls);
    test_truth();
    test_limit();
    return check_report();
}

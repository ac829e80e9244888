/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session_memory.c - a sealed memfd and its mapping.
 */
#include "daemon/ingest/session_memory.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/ingest/session_room.h"

/* What is allocated at first is paid for by every process, and most of a build's end before they
 * write to any of it. */
#define FIRST_SLOTS            1u
#define FIRST_SLOTS_OF_EVENTS  16u /* a thread's first sample may wait for its own */
#define FIRST_MODULES          64u
#define FIRST_CONTEXTS         4096u
#define FIRST_MODULES_OF_CALLS 512 /* one without an entry would not be followed at first */

static bool allocate(struct session_memory *memory, uint64_t offset, uint64_t bytes) {
    if (!session_room_take(bytes))
        return false;
    if (fallocate(memory->fd, 0, (off_t)offset, (off_t)bytes) != 0) {
        session_room_give(bytes);
        return false;
    }
    memory->taken += bytes;
    return true;
}

/* Another that shares the memory may have published more. */
static void publish(_Atomic uint32_t *ready, uint32_t upto) {
    uint32_t old = atomic_load(ready);
    while (old < upto && !atomic_compare_exchange_weak(ready, &old, upto))
        ;
}

static bool allocate_slots(struct session_memory *memory, uint32_t upto) {
    uint32_t have = memory->slots_ready;
    if (!allocate(memory, WIRE_SLOTS_OFFSET + have * memory->slot_bytes,
                  (upto - have) * memory->slot_bytes))
        return false;
    memory->slots_ready = upto;
    publish(&memory->session->slots_ready, upto);
    return true;
}

static bool allocate_modules(struct session_memory *memory, uint32_t upto) {
    uint32_t have = memory->modules_ready;
    if (!allocate(memory, WIRE_MODULES_OFFSET + (uint64_t)have * WIRE_MODULE_BYTES,
                  (uint64_t)(upto - have) * WIRE_MODULE_BYTES))
        return false;
    memory->modules_ready = upto;
    publish(&memory->session->modules_ready, upto);
    return true;
}

static bool allocate_contexts(struct session_memory *memory, uint32_t upto) {
    uint32_t have = memory->contexts_ready;
    if (!allocate(memory,
                  WIRE_CONTEXTS_OFFSET(memory->slot_bytes) + have * sizeof(struct wire_context),
                  (upto - have) * sizeof(struct wire_context)))
        return false;
    memory->contexts_ready = upto;
    publish(&memory->session->contexts_ready, upto);
    return true;
}

static bool open_memory(struct session_memory *memory) {
    uint64_t bytes = WIRE_SESSION_BYTES(memory->slot_bytes);
    memory->fd = memfd_create("hcct-session", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory->fd < 0 || ftruncate(memory->fd, (off_t)bytes) != 0)
        return false;
    if (fcntl(memory->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return false;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory->fd, 0);
    if (at == MAP_FAILED)
        return false;
    memory->session = at;
    return true;
}

/* The header and the modules that follow it at once. */
static bool allocate_first(struct session_memory *memory, uint32_t modules, uint32_t slots) {
    if (!allocate(memory, 0, WIRE_MODULES_OFFSET + (uint64_t)modules * WIRE_MODULE_BYTES))
        return false;
    memory->modules_ready = modules;
    atomic_store_explicit(&memory->session->modules_ready, modules, memory_order_release);
    return allocate_slots(memory, slots);
}

static uint32_t first_slots(const struct session_sampling *sampling, bool events) {
    return (events ? FIRST_SLOTS_OF_EVENTS : FIRST_SLOTS) * session_memory_places(sampling);
}

bool session_memory_make(struct session_memory *memory, pid_t pid,
                         const struct session_sampling *sampling,
                         const struct session_needs *needs) {
    bool calls = sampling->collector == WIRE_COLLECT_CALLS;
    *memory =
        (struct session_memory){.fd = -1, .slot_bytes = calls ? WIRE_CALLS_BYTES : WIRE_SLOT_BYTES};
    bool heap = needs->heap || wire_of_heap(sampling->collector);
    bool events = needs->events || wire_of_events(sampling->collector);
    if (!open_memory(memory) ||
        (heap && !allocate(memory, WIRE_BLOCKS_OFFSET, WIRE_BLOCKS_BYTES)) ||
        !allocate_first(memory, calls ? FIRST_MODULES_OF_CALLS : FIRST_MODULES,
                        first_slots(sampling, events))) {
        session_memory_free(memory);
        return false;
    }
    struct wire_session *session = memory->session;
    session->magic = WIRE_SESSION_MAGIC;
    session->version = WIRE_VERSION;
    session->pid = (uint32_t)pid;
    atomic_store(&session->rate, sampling->rate);
    session->clock = sampling->clock;
    atomic_store(&session->burst_length_ns, sampling->burst_length_ns);
    atomic_store(&session->burst_period_ns, sampling->burst_period_ns);
    atomic_store(&session->control, WIRE_CONTROL_ON);
    atomic_store(&session->max_frames, WIRE_MAX_FRAMES);
    return true;
}

/* Allocates what is allocated already, which changes nothing: neither is to believe what the agent
 * can write. */
bool session_memory_share(struct session_memory *memory, const struct session_memory *other) {
    uint64_t bytes = WIRE_SESSION_BYTES(other->slot_bytes);
    *memory = (struct session_memory){.fd = fcntl(other->fd, F_DUPFD_CLOEXEC, 0),
                                      .slot_bytes = other->slot_bytes,
                                      .slots_ready = other->slots_ready,
                                      .modules_ready = other->modules_ready,
                                      .contexts_ready = other->contexts_ready};
    void *at = memory->fd >= 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_NORESERVE, memory->fd, 0)
                               : MAP_FAILED;
    if (at != MAP_FAILED) {
        memory->session = at;
        return true;
    }
    session_memory_free(memory);
    return false;
}

void session_memory_free(struct session_memory *memory) {
    if (memory->session != NULL)
        munmap(memory->session, WIRE_SESSION_BYTES(memory->slot_bytes));
    if (memory->fd >= 0)
        close(memory->fd);
    session_room_give(memory->taken);
    *memory = (struct session_memory){.fd = -1};
}

static uint32_t at_most(uint32_t n, uint32_t limit) {
    return n < limit ? n : limit;
}

static uint32_t at_least(uint32_t n, uint32_t limit) {
    return n > limit ? n : limit;
}

/* Twice as many, or as many as are asked for, of those that the process may have. */
static void extend_slots(struct session_memory *memory, pid_t pid, uint32_t places) {
    uint32_t used = atomic_load_explicit(&memory->session->slots_used, memory_order_relaxed);
    memory->slots_refused = 0;
    if (used < memory->slots_ready || memory->slots_ready >= WIRE_SLOTS_MAX)
        return;
    uint32_t wanted = at_least(at_most(used, WIRE_SLOTS_MAX), 2 * memory->slots_ready);
    uint32_t upto = at_most(wanted, session_room_slots(pid, memory->slot_bytes, places));
    if (upto <= memory->slots_ready || !allocate_slots(memory, upto))
        memory->slots_refused = at_most(used, WIRE_SLOTS_MAX) - memory->slots_ready;
}

/* None until the first is asked for; then ahead of need. */
static void extend_contexts(struct session_memory *memory) {
    uint32_t wanted =
        at_most(atomic_load_explicit(&memory->session->contexts_wanted, memory_order_relaxed),
                WIRE_CONTEXTS);
    if (wanted == 0 || (wanted < memory->contexts_ready / 2 && memory->contexts_ready > 0) ||
        memory->contexts_ready == WIRE_CONTEXTS)
        return;
    uint32_t upto = at_least(at_least(2 * wanted, 2 * memory->contexts_ready), FIRST_CONTEXTS);
    (void)allocate_contexts(memory, at_most(upto, WIRE_CONTEXTS));
}

void session_memory_extend(struct session_memory *memory, pid_t pid, uint32_t places) {
    extend_slots(memory, pid, places);
    extend_contexts(memory);
    uint32_t used = atomic_load_explicit(&memory->session->modules_used, memory_order_relaxed);
    /* ahead of need: an object without an entry is generated code to whoever reads a stack */
    if (used >= memory->modules_ready / 2 && memory->modules_ready < WIRE_MODULES_MAX)
        allocate_modules(memory, at_most(2 * memory->modules_ready, WIRE_MODULES_MAX));
}

uint64_t session_memory_ring(const struct session_memory *memory) {
    return WIRE_RING_WORDS(memory->slot_bytes);
}

struct wire_slot *session_memory_slot(const struct session_memory *memory, uint32_t i) {
    return (struct wire_slot *)(void *)((char *)memory->session + WIRE_SLOTS_OFFSET +
                                        i * memory->slot_bytes);
}

struct wire_module *session_memory_module(const struct session_memory *memory, uint32_t i) {
    return (struct wire_module *)(void *)((char *)memory->session + WIRE_MODULES_OFFSET +
                                          (size_t)i * WIRE_MODULE_BYTES);
}

const struct wire_block *session_memory_blocks(const struct session_memory *memory) {
    return (const struct wire_block *)(const void *)((char *)memory->session + WIRE_BLOCKS_OFFSET);
}

uint32_t session_memory_slots(const struct session_memory *memory) {
    return at_most(atomic_load_explicit(&memory->session->slots_used, memory_order_acquire),
                   memory->slots_ready);
}

uint32_t session_memory_modules(const struct session_memory *memory) {
    return at_most(atomic_load_explicit(&memory->session->modules_used, memory_order_acquire),
                   memory->modules_ready);
}

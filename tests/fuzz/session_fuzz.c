/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session_fuzz.c - anything in the memory that a process shares with the daemon: its header, its
 * module log, its slots and their rings, its sampled blocks, contexts with numbers, marks and
 * names. The daemon drains it, lists its threads and ends it.
 *
 * The process is this very program, so that what the module log names is looked up in earnest.
 */
#include <stdbool.h>
#include <unistd.h>

#include "common/wire/ring.h"
#include "daemon/ingest/drain.h"
#include "daemon/ingest/numbered.h"
#include "daemon/ingest/process.h"
#include "daemon/ingest/registry.h"
#include "daemon/ingest/threads.h"
#include "tests/fuzz/fuzz.h"

#define DRAINS_MAX 6u /* of one input */
#define SLOTS_MAX  8u
#define RATE       100u

enum act {
    ACT_DRAIN,
    ACT_HEADER,
    ACT_MODULE,
    ACT_SLOT,
    ACT_STATE,
    ACT_LIST,
    ACT_WORDS,
    ACT_CONTEXT,
    ACT_MARK,
    ACT_BLOCK,
    ACT_NAME,
    ACTS
};

static unsigned drains;
static bool grows; /* as many slots as the input asks for */

/* The slot that the next byte names, of those that there is memory for. */
static struct wire_slot *take_slot(struct process *p, struct fuzz_input *input) {
    return session_memory_slot(&p->memory, fuzz_take_byte(input) % p->memory.slots_ready);
}

static void put_header(struct process *p, struct fuzz_input *input) {
    uint8_t *agents = (uint8_t *)&p->memory.session->modules_used;
    size_t bytes = sizeof *p->memory.session - offsetof(struct wire_session, modules_used);
    fuzz_take(input, agents, fuzz_take_byte(input) % (bytes + 1));
    /* a lie makes the daemon allocate slots, twice as many each time: few inputs are worth that */
    if (!grows && atomic_load(&p->memory.session->slots_used) > SLOTS_MAX)
        atomic_store(&p->memory.session->slots_used, SLOTS_MAX);
}

/* A record as the agent appends it, or one that says other sizes than it has. */
static void put_module(struct process *p, struct fuzz_input *input) {
    uint32_t i = atomic_load(&p->memory.session->modules_used);
    struct wire_module *module =
        session_memory_module(&p->memory, i < p->memory.modules_ready ? i : 0);
    uint8_t choice = fuzz_take_byte(input);
    module->start = fuzz_take_byte(input) * 4096u;
    module->end = module->start + fuzz_take_byte(input) * 4096u;
    module->bias = fuzz_take_byte(input);
    if ((choice & 1) != 0)
        fuzz_take(input, &module->end, sizeof module->end);
    module->is_vdso = (choice & 2) != 0;
    module->build_id_len = (choice & 4) != 0 ? fuzz_take_byte(input) : 0;
    fuzz_take(input, module->build_id, 4);
    module->generation = fuzz_take_byte(input);
    fuzz_take(input, module->path, choice >> 4);
    module->path_len = (choice & 8) != 0 ? (uint16_t)fuzz_take_word(input) : choice >> 4;
    atomic_store(&module->filled, 1);
    atomic_store(&p->memory.session->modules_used, i + 1);
}

static void put_words(struct process *p, struct fuzz_input *input) {
    struct wire_slot *slot = take_slot(p, input);
    uint64_t ring = session_memory_ring(&p->memory), at = atomic_load(&slot->head);
    for (unsigned n = fuzz_take_byte(input) % 8; n > 0; n--) {
        uint8_t verb = fuzz_take_byte(input);
        uint64_t operand = fuzz_take_byte(input);
        bool is_raw = verb >> 4 == 0;
        ring_put(slot, ring, at++,
                 is_raw ? fuzz_take_word(input) : wire_word(verb >> 4, operand << (verb & 15)));
    }
    ring_publish(slot, at);
}

/* One more, whose number, parent and module are near to what may be; sometimes the table begins
 * elsewhere, or is another one. */
static void put_context(struct process *p, struct fuzz_input *input) {
    struct wire_session *session = p->memory.session;
    uint8_t choice = fuzz_take_byte(input);
    uint32_t i = atomic_load(&session->contexts_used), ready = p->memory.contexts_ready;
    if ((choice & 1) != 0)
        atomic_store(&session->contexts_first, fuzz_take_byte(input));
    if ((choice & 2) != 0)
        atomic_store(&session->contexts_tag, fuzz_take_byte(input));
    if ((choice & 4) != 0)
        atomic_store(&session->contexts_wanted, fuzz_take_byte(input));
    if (i < ready) {
        char *first = (char *)session + WIRE_CONTEXTS_OFFSET(p->memory.slot_bytes);
        struct wire_context *entry = (struct wire_context *)(void *)first + i;
        uint64_t flags = (uint64_t)(choice >> 4) << 60, address = fuzz_take_byte(input) * 1024u;
        entry->pc = flags | address;
        entry->parent = fuzz_take_byte(input);
        entry->module = fuzz_take_byte(input);
    }
    atomic_store(&session->contexts_used,
                 (choice & 8) != 0 ? (uint32_t)fuzz_take_word(input) : i + 1);
}

static void put_mark(struct process *p, struct fuzz_input *input) {
    struct wire_session *session = p->memory.session;
    uint64_t number = atomic_load(&session->marks) + 1;
    struct wire_mark *mark = &session->mark[(number - 1) % WIRE_MARKS];
    uint8_t choice = fuzz_take_byte(input);
    fuzz_take(input, mark->name, choice % sizeof mark->name);
    atomic_store(&mark->time_ns, fuzz_take_word(input));
    atomic_store(&mark->number, (choice & 0x80) != 0 ? fuzz_take_word(input) : number);
    atomic_store(&session->marks, (choice & 0x40) != 0 ? fuzz_take_word(input) : number);
}

/* Where the heap is sampled. */
static void put_block(struct process *p, struct fuzz_input *input) {
    if (p->heap == NULL)
        return;
    struct wire_block *block =
        (struct wire_block *)session_memory_blocks(&p->memory) + fuzz_take_byte(input);
    atomic_store(&block->number, fuzz_take_byte(input));
    atomic_store(&block->weight, fuzz_take_word(input) >> fuzz_take_byte(input) % 64);
}

/* What names a function of Python or a label, and whole lists of labels, with as many words as they
 * say, or others. */
static void put_name(struct process *p, struct fuzz_input *input) {
    struct wire_slot *slot = take_slot(p, input);
    uint64_t ring = session_memory_ring(&p->memory), at = atomic_load(&slot->head);
    uint8_t choice = fuzz_take_byte(input), n = fuzz_take_byte(input);
    bool list = (choice & 1) != 0;
    uint64_t about = (choice & 2) != 0 ? WIRE_LABEL : WIRE_PYTHON;
    uint64_t words = list ? n %= WIRE_LABELS + 2 : (n + 7u) / 8;
    words = (choice & 4) != 0 ? fuzz_take_byte(input) : words;
    ring_put(slot, ring, at++, wire_word(WIRE_PUSH, (list ? WIRE_LABEL : WIRE_NAME) | n));
    if (!list)
        ring_put(slot, ring, at++, about | fuzz_take_byte(input));
    for (; words > 0; words--)
        ring_put(slot, ring, at++, list ? fuzz_take_byte(input) : fuzz_take_word(input));
    if ((choice & 8) != 0) {
        ring_put(slot, ring, at++, wire_word(WIRE_PUSH, about | fuzz_take_byte(input)));
        ring_put(slot, ring, at++, about | fuzz_take_byte(input));
        ring_put(slot, ring, at++, wire_word(WIRE_CREDIT, n));
    }
    ring_publish(slot, at);
}

static void drain(struct process *p) {
    if (drains++ < DRAINS_MAX)
        process_drain_and_see(p, NULL, NULL);
}

static void list(struct process *p) {
    struct process_threads_ended ended;
    struct process_stats stats;
    size_t n;
    struct process_thread *threads = process_threads(p, &n, &ended);
    fuzz_must(n <= WIRE_SLOTS_MAX);
    free(threads);
    process_get_stats(p, &stats);
    pthread_mutex_lock(&p->lock);
    fuzz_must(process_tree(p) != NULL);
    pthread_mutex_unlock(&p->lock);
}

static void check_numbered(const struct numbered *numbered) {
    uint32_t nodes = 0;
    for (const struct numbered_table *t = numbered->tables; t != NULL; t = t->next) {
        for (uint32_t i = 0; i < t->n; i++)
            fuzz_must(t->node[i].kind <= NUMBERED_ROOT || t->node[i].parent < t->first + i);
        nodes += t->n;
    }
    fuzz_must(nodes == numbered->nodes && nodes <= NUMBERED_MOST);
    fuzz_must(numbered->tables == NULL || numbered->tables->next == NULL); /* it is one session */
}

static void act(struct process *p, struct fuzz_input *input) {
    uint8_t what = fuzz_take_byte(input) % (ACTS + 3);
    struct wire_slot *slot;
    switch (what) {
    case ACT_DRAIN:
        drain(p);
        break;
    case ACT_HEADER:
        put_header(p, input);
        break;
    case ACT_MODULE:
        put_module(p, input);
        break;
    case ACT_SLOT:
        slot = take_slot(p, input);
        fuzz_take(input, slot, fuzz_take_byte(input) % sizeof *slot);
        break;
    case ACT_STATE:
        slot = take_slot(p, input);
        atomic_store(&slot->state, fuzz_take_byte(input) % 4);
        break;
    case ACT_LIST:
        list(p);
        break;
    case ACT_CONTEXT:
        put_context(p, input);
        break;
    case ACT_MARK:
        put_mark(p, input);
        break;
    case ACT_BLOCK:
        put_block(p, input);
        break;
    case ACT_NAME:
        put_name(p, input);
        break;
    default:
        put_words(p, input);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    struct process_params params = {.pid = getpid(),
                                    .uid = getuid(),
                                    .sampling = {.rate = RATE, .every = 1},
                                    .tree = {.epsilon = 0.01, .max_bytes = 1u << 20}};
    uint8_t choice = fuzz_take_byte(&input);
    params.sampling.collector = choice % WIRE_COLLECTORS;
    grows = choice == 0xfe; /* walks: their slots are the small ones */
    struct process *p = process_new(&params);
    fuzz_must(p != NULL);
    drains = 0;
    atomic_store(&p->memory.session->slots_used, 2);
    while (input.size > 0)
        act(p, &input);
    process_drain(p, NULL, NULL);
    list(p);
    process_end(p, true);
    check_numbered(&p->numbered);
    list(p);
    registry_put(p);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "session", .mutations = 400};

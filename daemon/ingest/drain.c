/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * drain.c - a process's rings and its module log, read by turns, as the log has to be read before
 * the words that need it.
 */
#include "daemon/ingest/drain.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/code/module.h"
#include "daemon/ingest/deferred_unwind.h"
#include "daemon/ingest/marks.h"
#include "daemon/ingest/registry.h"
#include "daemon/ingest/threads.h"
#include "daemon/ingest/windows.h"

/* Frames that REPEAT may push in one drain of a process, at some 50 ns each, while others wait. */
#define REPEATS_MAX        (1ull << 20)
#define REPEATS_MAX_AT_END (1ull << 23)
#define NAME_NS            50000000u /* a program names a thread a moment after it has begun */
#define NAME_PART          4         /* of a ring that may fill meanwhile */
#define FILLS_SOON_PART    16        /* of a ring, read in one sweep: the next one should be soon */

/* ---- modules ---- */

static uint32_t intern(const struct process *p, const struct wire_module *shared) {
    struct wire_module m; /* a copy that the agent can't change under our hands */
    char path[sizeof m.path + 1];
    memcpy(&m, shared, sizeof m);
    size_t length = m.path_len <= sizeof m.path ? m.path_len : 0;
    memcpy(path, m.path, length);
    path[length] = '\0';
    struct module_mapping mapping = {
        .pid = p->pid,
        .uid = p->uid,
        .start = m.start,
        .end = m.end,
        .path = path,
        .build_id = m.build_id,
        .build_id_len = m.build_id_len <= sizeof m.build_id ? m.build_id_len : 0,
        .is_vdso = m.is_vdso != 0,
    };
    return module_intern(&mapping);
}

static void publish_nothing(struct wire_module *m) {
    atomic_store(&m->table, WIRE_TABLE_NONE);
    atomic_store(&m->sites, WIRE_TABLE_NONE);
}

static void see_modules(struct process *p, process_module_seen *seen, void *arg) {
    uint32_t n = session_memory_modules(&p->memory);
    for (; p->modules_seen < n; p->modules_seen++) {
        struct wire_module *m = session_memory_module(&p->memory, p->modules_seen);
        if (atomic_load_explicit(&m->filled, memory_order_acquire) == 0)
            return; /* the agent is about to; in order, so that later entries hide earlier ones */
        uint32_t module = m->start < m->end ? intern(p, m) : 0; /* else it is of nothing */
        addresses_add(p->addresses, m->start, m->end, m->bias, module, m->generation);
        if (module == 0)
            publish_nothing(m);
        else if (seen != NULL)
            seen(arg, p, p->modules_seen, module);
    }
}

/* ---- rings ---- */

/* The slot's thread has ended and its ring is empty: the next thread may have it. */
static void recycle(struct process *p, uint32_t i, struct wire_slot *slot) {
    process_stats_add_slot(&p->ended, slot);
    for (int c = 0; c < WIRE_COUNTERS; c++)
        atomic_store_explicit(&slot->counter[c], 0, memory_order_relaxed);
    reader_close(p->readers[i]);
    p->ended.threads++;
    if (!p->readers[i]->broken)
        atomic_store_explicit(&slot->state, WIRE_SLOT_FREE, memory_order_release);
}

/* One drain of all of a process's rings. */
struct sweep {
    process_module_seen *seen;
    void *arg;
    uint64_t now;
    uint64_t repeats_left;
    bool last;       /* nothing comes any more */
    bool any;        /* there was something to read */
    bool fills_soon; /* so much that a ring may be full before the next sweep */
    bool copies;     /* of stacks, which fill a ring at any time */
};

/* On the wall clock, what a sample stands for beyond the sampling interval was a sleep: measured.
 */
static uint64_t measured_above(const struct process *p, uint64_t step) {
    return wire_clock_sleeps(p->sampling.clock) ? step : 0;
}

/* What samples weigh at the rate of now. */
static uint64_t step_of(const struct process *p) {
    uint32_t rate = atomic_load_explicit(&p->memory.session->rate, memory_order_relaxed);
    return rate > 0 ? 1000000000u / rate : 0;
}

static struct reader *new_reader(const struct process *p) {
    struct reader *reader = calloc(1, sizeof *reader);
    if (reader != NULL && !wire_of_heap(p->sampling.collector))
        reader->events_mean = process_events_mean(p->sampling.collector);
    if (reader != NULL)
        reader->numbers = wire_of_numbers(p->sampling.collector);
    return reader;
}

static struct reader *reader_of(struct process *p, uint32_t i) {
    if (p->readers[i] == NULL)
        p->readers[i] = new_reader(p);
    if (p->readers[i] != NULL) {
        p->readers[i]->step = step_of(p);
        p->readers[i]->measured_above = measured_above(p, p->readers[i]->step);
        p->readers[i]->scatter = p->scatter;
        p->readers[i]->bursts = &p->ended.bursts;
        p->readers[i]->deferred = &p->deferred_read;
        p->readers[i]->size = session_memory_ring(&p->memory);
        p->readers[i]->keeper = p->trace;
        p->readers[i]->subwindows = p->subwindows;
        p->readers[i]->heap = p->heap;
        p->readers[i]->draws_shift = process_draws_shift(p);
    }
    return p->readers[i];
}

/* They may have had several labels. */
static void refuse(struct process *p, const struct reader *reader,
                   const struct reader_effect *effect) {
    struct context_root root = reader->root;
    root.labels = 0;
    deferred_unwind_refuse(p, &root, effect->refused, effect->refused_weight);
}

/* Up to the end, or as far as is left of what one process may ask of a sweep. Each ring gets on a
 * little, whatever the others do. True: there is more. */
static bool read_ring(struct process *p, struct sweep *sweep, struct reader *reader,
                      struct wire_slot *slot) {
    struct reader_effect effect;
    uint64_t end = reader_end(reader, slot);
    see_modules(p, sweep->seen, sweep->arg); /* in the log before the words that need them */
    do {
        reader->repeat_max = sweep->repeats_left > 0 ? sweep->repeats_left : 1;
        reader_drain(reader, slot, end, p->tree, p->addresses, &effect);
        reader_rest(reader, &effect, sweep->now);
        sweep->any |= effect.credits > 0;
        sweep->fills_soon |= effect.words > reader->size / FILLS_SOON_PART;
        sweep->copies |= effect.copies;
        sweep->repeats_left -=
            effect.repeats < sweep->repeats_left ? effect.repeats : sweep->repeats_left;
        draws_add_all(&p->ended.draws, &effect.draws);
        if (wire_of_events(p->sampling.collector) && effect.greatest > p->ended.scatter.lone)
            p->ended.scatter.lone = effect.greatest;
        refuse(p, reader, &effect);
        if (p->sampling.collector == WIRE_COLLECT_CALLS)
            p->ended.counter[WIRE_LOST] += effect.discarded;
        if (effect.map_changed)
            see_modules(p, sweep->seen, sweep->arg);
    } while (effect.map_changed && !effect.undrained);
    return effect.undrained;
}

/* A thread's contexts begin with the name that it has when its first words are read. True: they may
 * wait, for it may still get one. */
static bool awaits_name(const struct process *p, const struct sweep *sweep, struct reader *reader,
                        struct wire_slot *slot, uint32_t state) {
    if (!p->sampling.threads || reader->open)
        return false;
    if (reader->found_ns == 0)
        reader->found_ns = sweep->now;
    threads_name(p, slot, reader->root.thread);
    return !sweep->last && state == WIRE_SLOT_OWNED && slot->tid != p->sampling.own_pid &&
           sweep->now - reader->found_ns < NAME_NS &&
           reader_end(reader, slot) - reader->at < reader->size / NAME_PART;
}

static void drain_slot(struct process *p, uint32_t i, struct sweep *sweep) {
    struct wire_slot *slot = session_memory_slot(&p->memory, i);
    /* the state before the ring: what is published when the thread has ended is all there is */
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    if (state == WIRE_SLOT_FREE)
        return;
    struct reader *reader = reader_of(p, i);
    if (reader == NULL)
        return;
    if (awaits_name(p, sweep, reader, slot, state))
        sweep->any = true;
    else if (read_ring(p, sweep, reader, slot))
        p->undrained = true;
    else if (state == WIRE_SLOT_ENDED)
        recycle(p, i, slot);
}

/* Their modules are in the log that was read meanwhile, unless an entry of that is still being
 * filled: then they are taken the next time. */
static void take_numbered(struct process *p, uint32_t upto, bool last) {
    if (last || p->modules_seen == session_memory_modules(&p->memory))
        numbered_take(&p->numbered, &p->memory, p->addresses, upto);
}

static _Atomic bool hurry;

void drain_hurry(bool now) {
    hurry = now;
}

static bool drain_all(struct process *p, struct sweep sweep) {
    uint32_t numbered = p->sampling.place == 0 ? numbered_sent(&p->memory) : 0;
    p->undrained = false;
    process_take_names(p);
    if (!p->shares)
        marks_take(p);
    uint32_t n = session_memory_slots(&p->memory), i = p->sampling.place;
    for (; i < n && (sweep.last || !hurry); i += session_memory_places(&p->sampling))
        drain_slot(p, i, &sweep);
    p->undrained |= i < n;
    take_numbered(p, numbered, sweep.last);
    p->fills_soon = sweep.fills_soon;
    if (sweep.copies)
        p->copied_mono_ns = sweep.now;
    return sweep.any;
}

/* What is left in a ring of calls then, its agent counts. */
static bool is_read(const struct process *p) {
    return p->live && !(p->reads_no_more && p->sampling.collector == WIRE_COLLECT_CALLS);
}

static bool drain(struct process *p, process_module_seen *seen, void *arg, bool blocks) {
    struct raw_sample_list deferred;
    bool any = false;
    pthread_mutex_lock(&p->lock);
    uint64_t now = clock_now();
    windows_turn(p, now);
    if (is_read(p)) {
        addresses_refresh(p->addresses);
        process_see_mean(p);
        if (blocks)
            process_see_blocks(p);
        any = drain_all(p, (struct sweep){.seen = p->shares ? NULL : seen,
                                          .arg = arg,
                                          .now = now,
                                          .repeats_left = REPEATS_MAX});
        session_memory_extend(&p->memory, p->pid, session_memory_places(&p->sampling));
        atomic_store_explicit(&p->memory.session->heartbeat_ns, now, memory_order_relaxed);
    }
    deferred_unwind_take(p, &deferred);
    pthread_mutex_unlock(&p->lock);
    deferred_unwind_submit(p, &deferred);
    return any;
}

bool process_drain(struct process *p, process_module_seen *seen, void *arg) {
    return drain(p, seen, arg, false);
}

bool process_drain_and_see(struct process *p, process_module_seen *seen, void *arg) {
    return drain(p, seen, arg, true);
}

/* ---- the end ---- */

void process_end(struct process *p, bool over) {
    struct process_stats last;
    struct raw_sample_list deferred;
    pthread_mutex_lock(&p->lock);
    p->over = over;
    windows_turn(p, clock_now());
    if (p->live) {
        process_see_mean(p);
        process_see_blocks(p);
        drain_all(p, (struct sweep){
                         .now = clock_now(), .repeats_left = REPEATS_MAX_AT_END, .last = true});
        p->ended.broken += p->undrained; /* what is left is dropped: no honest ring asks for more */
        process_stop_reading(p);         /* threads of a process that goes on may still write */
    }
    deferred_unwind_take(p, &deferred);
    if (p->live) {
        scatter_finish(p->scatter);
        process_stats_locked(p, &last);
        struct scatter_effects effects = process_effects_locked(p);
        scatter_effects_free(&p->effects);
        p->effects = effects;
        p->threads_open = last.threads - p->ended.threads;
        p->ended = last;
        p->ended_mono_ns = clock_now();
        followed_end(&p->followed, &p->memory);
        p->live = false; /* last: who reads this without the lock goes by the times above */
        (void)process_tree(p);
        process_give_back(p);
        mcct_flush(p->tree);
    }
    bool finished = !p->live && !process_has_deferred(p);
    pthread_mutex_unlock(&p->lock);
    deferred_unwind_submit(p, &deferred);
    if (finished)
        process_say_finished(p);
}

void process_finish(struct process *p) {
    process_end(p, true);
    registry_finished(p);
}

/*
 * process.c - draining, module log, end of a process.
 */
#include "daemon/ingest/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/code/frame.h"
#include "common/code/module.h"
#include "common/wire/call_sites.h"
#include "common/wire/tags.h"
#include "daemon/ingest/deferred_unwind.h"
#include "daemon/ingest/proc_stat.h"
#include "daemon/ingest/windows.h"

/* Frames that REPEAT may push in one drain of a process, at some 50 ns each, while others wait. */
#define REPEATS_MAX        (1ull << 20)
#define REPEATS_MAX_AT_END (1ull << 23)
#define FILLS_SOON_PART    16 /* of a ring, read in one sweep: the next one should be soon */

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- birth ---- */

static uint64_t next_number(void) {
    static _Atomic uint64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}

static char *executable_of(pid_t pid) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        n = snprintf(path, sizeof path, "[process %d]", (int)pid);
    path[n] = '\0';
    return strdup(path);
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

const char *process_command(const struct process *p) {
    const char *command = p->command;
    return command != NULL ? command : last_part(p->exe);
}

struct process *process_new(const struct process_params *params) {
    struct process *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->number = next_number();
    p->pid = params->pid;
    p->uid = params->uid;
    p->sampling = params->sampling;
    p->refs = 1;
    p->runs = 1;
    p->live = true;
    p->pidfd = p->memory.fd = -1;
    p->since_ns = clock_ns(CLOCK_REALTIME);
    p->since_mono_ns = clock_ns(CLOCK_MONOTONIC);
    identity_read(params->pid, &p->identity);
    p->exe = executable_of(params->pid);
    p->tree = mcct_new(&params->tree);
    p->frames = frame_user(params->uid);
    p->addresses = addresses_new(p->frames);
    p->arena = arena_get(params->uid);
    if (params->sampling.collector == WIRE_COLLECT_WALKS)
        p->scatter = scatter_new(); /* without it intervals are those of independent samples */
    pthread_mutex_init(&p->lock, NULL);
    if (p->exe == NULL || p->tree == NULL || p->frames == NULL || p->addresses == NULL ||
        p->arena == NULL || !addresses_name_generated(p->addresses, params->pid, params->uid) ||
        !session_memory_make(&p->memory, params->pid, &params->sampling) ||
        (params->sampling.collector == WIRE_COLLECT_WALKS && !windows_begin(p, &params->tree))) {
        process_free(p);
        return NULL;
    }
    atomic_store(&p->memory.session->heartbeat_ns, clock_ns(CLOCK_MONOTONIC));
    return p;
}

struct process *process_new_finished(const struct process *like) {
    struct process *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    *p = (struct process){
        .number = next_number(),
        .pid = like->pid,
        .uid = like->uid,
        .identity = like->identity,
        .exe = like->exe,
        .command = like->command,
        .linked = like->linked,
        .tags = like->tags,
        .since_ns = like->since_ns,
        .since_mono_ns = like->since_mono_ns,
        .sampling = like->sampling,
        .refs = 1,
        .pidfd = -1,
        .runs = like->runs,
        .threads_open = like->threads_open,
        .ended_mono_ns = like->ended_mono_ns,
        .memory = {.fd = -1},
        .tree = like->tree,
        .frames = like->frames,
        .ended = like->ended,
        .followed = like->followed,
    };
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

static void free_readers(struct process *p) {
    for (uint32_t i = 0; i < p->memory.slots_ready; i++) {
        if (p->readers[i] != NULL)
            reader_close(p->readers[i]);
        free(p->readers[i]);
        p->readers[i] = NULL;
    }
}

static void give_back(struct process *p) {
    free_readers(p);
    scatter_free(p->scatter);
    p->scatter = NULL;
    if (p->memory.session != NULL)
        session_memory_free(&p->memory);
    if (!process_has_deferred(p)) { /* else the last of them does it */
        addresses_free(p->addresses);
        p->addresses = NULL;
    }
    arena_put(p->arena);
    p->arena = NULL;
}

void process_free(struct process *p) {
    give_back(p);
    scatter_effects_free(&p->effects);
    mcct_free(p->tree);
    subwindows_free(p->subwindows);
    if (p->pidfd >= 0)
        close(p->pidfd);
    pthread_mutex_destroy(&p->lock);
    free((char *)p->exe);
    free(p->command);
    free(p->tags);
    followed_clear(&p->followed);
    free(p);
}

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

/* What an agent calls its program, when that is something. */
static void take_tags(struct process *p) {
    char text[TAGS_ROOM]; /* a copy that the agent can't change under our hands */
    memcpy(text, p->memory.session->tags, sizeof text);
    text[sizeof text - 1] = '\0';
    if (p->tags == NULL && tags_check(text))
        p->tags = strdup(text);
}

/* By what name its program was executed. */
static void take_command(struct process *p) {
    char name[WIRE_COMMAND_ROOM]; /* a copy, as above */
    memcpy(name, p->memory.session->command, sizeof name);
    name[sizeof name - 1] = '\0';
    const char *last = last_part(name);
    if (p->command == NULL && last[0] != '\0' && strchr(last, '/') == NULL)
        p->command = strdup(last);
    p->linked = name[0] == '/' && p->command != NULL;
}

/* What an agent says before its first module, by which it is known to be whole. */
static void take_names(struct process *p) {
    if (p->names_taken || session_memory_modules(&p->memory) == 0 ||
        atomic_load_explicit(&session_memory_module(&p->memory, 0)->filled, memory_order_acquire) ==
            0)
        return;
    take_tags(p);
    take_command(p);
    p->names_taken = true;
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
        uint32_t module = intern(p, m);
        addresses_add(p->addresses, m->start, m->end, m->bias, module, m->generation);
        if (module == 0)
            publish_nothing(m);
        else if (seen != NULL)
            seen(arg, p, p->modules_seen, module);
    }
}

static uint64_t publishable(const struct call_sites *sites, uint64_t table) {
    return sites != NULL && sites->verdict == CALLS_FOLLOWED ? table : WIRE_TABLE_NONE;
}

void process_publish_table_locked(struct process *p, const struct module_table *it) {
    if (!p->live || it->index >= p->memory.modules_ready)
        return;
    struct wire_module *m = session_memory_module(&p->memory, it->index);
    if (it->kind == TABLE_UNWIND) {
        atomic_store_explicit(&m->table, it->table, memory_order_release);
        return;
    }
    const struct call_sites *sites = arena_table(p->arena, it->table);
    followed_note(&p->followed, it->index, it->module, sites);
    atomic_store_explicit(&m->sites, publishable(sites, it->table), memory_order_release);
}

void process_publish_table(struct process *p, const struct module_table *it) {
    pthread_mutex_lock(&p->lock);
    process_publish_table_locked(p, it);
    pthread_mutex_unlock(&p->lock);
}

/* ---- rings ---- */

static void add_counters(struct process_stats *sum, const struct wire_slot *slot) {
    for (int i = 0; i < WIRE_COUNTERS; i++)
        sum->counter[i] += atomic_load_explicit(&slot->counter[i], memory_order_relaxed);
}

/* The slot's thread has ended and its ring is empty: the next thread may have it. */
static void recycle(struct process *p, uint32_t i, struct wire_slot *slot) {
    add_counters(&p->ended, slot);
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
    uint64_t repeats_left;
    bool any;        /* there was something to read */
    bool fills_soon; /* so much that a ring may be full before the next sweep */
    bool copies;     /* of stacks, which fill a ring at any time */
};

/* On the wall clock, what a sample stands for beyond the sampling interval was a sleep: measured.
 */
static uint64_t measured_above(const struct process *p, uint64_t step) {
    return p->sampling.clock == WIRE_CLOCK_WALL ? step : 0;
}

/* What samples weigh at the rate of now. */
static uint64_t step_of(const struct process *p) {
    uint32_t rate = atomic_load_explicit(&p->memory.session->rate, memory_order_relaxed);
    return rate > 0 ? 1000000000u / rate : 0;
}

static struct reader *reader_of(struct process *p, uint32_t i) {
    if (p->readers[i] == NULL)
        p->readers[i] = calloc(1, sizeof *p->readers[i]);
    if (p->readers[i] != NULL) {
        p->readers[i]->step = step_of(p);
        p->readers[i]->measured_above = measured_above(p, p->readers[i]->step);
        p->readers[i]->scatter = p->scatter;
        p->readers[i]->deferred = &p->deferred_read;
        p->readers[i]->size = session_memory_ring(&p->memory);
        p->readers[i]->keeper = p->trace;
        p->readers[i]->subwindows = p->subwindows;
    }
    return p->readers[i];
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
        sweep->any |= effect.credits > 0;
        sweep->fills_soon |= effect.words > reader->size / FILLS_SOON_PART;
        sweep->copies |= effect.copies;
        sweep->repeats_left -=
            effect.repeats < sweep->repeats_left ? effect.repeats : sweep->repeats_left;
        draws_add_all(&p->ended.draws, &effect.draws);
        deferred_unwind_refuse(p, effect.refused, effect.refused_weight);
        if (effect.map_changed)
            see_modules(p, sweep->seen, sweep->arg);
    } while (effect.map_changed && !effect.undrained);
    return effect.undrained;
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
    if (read_ring(p, sweep, reader, slot))
        p->undrained = true;
    else if (state == WIRE_SLOT_ENDED)
        recycle(p, i, slot);
}

static bool drain_all(struct process *p, uint64_t now, uint64_t repeat_max,
                      process_module_seen *seen, void *arg) {
    struct sweep sweep = {.seen = seen, .arg = arg, .repeats_left = repeat_max};
    p->undrained = false;
    take_names(p);
    uint32_t n = session_memory_slots(&p->memory);
    for (uint32_t i = 0; i < n; i++)
        drain_slot(p, i, &sweep);
    p->fills_soon = sweep.fills_soon;
    if (sweep.copies)
        p->copied_mono_ns = now;
    return sweep.any;
}

static bool is_read(const struct process *p) {
    return p->live && !(p->said_goodbye && p->sampling.collector == WIRE_COLLECT_CALLS);
}

bool process_drain(struct process *p, process_module_seen *seen, void *arg) {
    struct raw_sample_list deferred;
    bool any = false;
    pthread_mutex_lock(&p->lock);
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    windows_turn(p, now);
    if (is_read(p)) {
        addresses_refresh(p->addresses);
        any = drain_all(p, now, REPEATS_MAX, seen, arg);
        session_memory_extend(&p->memory, p->pid);
        atomic_store_explicit(&p->memory.session->heartbeat_ns, now, memory_order_relaxed);
    }
    deferred_unwind_take(p, &deferred);
    pthread_mutex_unlock(&p->lock);
    deferred_unwind_submit(p, &deferred);
    return any;
}

/* `otherwise`: it is gone. */
static uint64_t cpu_now(const struct process *p, uint64_t otherwise) {
    struct proc_stat stat;
    uint64_t earlier = p->memory.session->earlier_ns; /* the clock goes on over exec */
    if (!proc_stat_read(p->pid, &stat))
        return otherwise;
    return stat.cpu_ns > earlier ? stat.cpu_ns - earlier : 0;
}

void process_say_goodbye(struct process *p) {
    pthread_mutex_lock(&p->lock);
    if (p->live) {
        p->said_goodbye = true;
        p->goodbye_cpu_ns = cpu_now(p, p->ended.cpu_ns);
        atomic_fetch_or(&p->memory.session->control, WIRE_CONTROL_GONE);
        uint32_t n = session_memory_slots(&p->memory);
        for (uint32_t i = 0; i < n; i++)
            reader_wake(session_memory_slot(&p->memory, i));
    }
    pthread_mutex_unlock(&p->lock);
}

/* ---- end and statistics ---- */

static void sum_live(struct process *p, struct process_stats *sum) {
    struct wire_session *session = p->memory.session;
    uint32_t n = session_memory_slots(&p->memory);
    for (uint32_t i = 0; i < n; i++) {
        if (p->readers[i] == NULL)
            continue;
        sum->threads += p->readers[i]->open;
        sum->broken += p->readers[i]->broken;
        add_counters(sum, session_memory_slot(&p->memory, i));
    }
    sum->counter[WIRE_LOST_NS] += atomic_load(&session->lost_ns);
    sum->counter[WIRE_LOST] += atomic_load(&session->lost);
    sum->slots_missing += atomic_load(&session->slots_missing);
    sum->slots_refused += p->memory.slots_refused;
    sum->modules_missing += atomic_load(&session->modules_missing);
    sum->timers_missing += atomic_load(&session->timers_missing);
    sum->perf_refused += atomic_load(&session->perf_refused);
    sum->fine_refused += atomic_load(&session->fine_refused);
    sum->confined += atomic_load(&session->confined);
    sum->signal = atomic_load(&session->signal);
    sum->rate = atomic_load(&session->rate);
    sum->burst_length_ns = atomic_load(&session->burst_length_ns);
    sum->burst_period_ns = atomic_load(&session->burst_period_ns);
    scatter_sum(p->scatter, sum->burst_length_ns != 0, &sum->scatter);
    sum->off = (atomic_load(&session->control) & WIRE_CONTROL_ON) == 0;
    sum->cpu_ns = p->said_goodbye ? p->goodbye_cpu_ns : cpu_now(p, sum->cpu_ns);
}

void process_stats_locked(struct process *p, struct process_stats *stats) {
    *stats = p->ended;
    if (p->live)
        sum_live(p, stats);
    /* the kernel counts in hundredths of a second; what was credited is certain */
    if (p->sampling.clock != WIRE_CLOCK_WALL && stats->cpu_ns < stats->counter[WIRE_CREDITED_NS])
        stats->cpu_ns = stats->counter[WIRE_CREDITED_NS];
}

char *process_call_modules_locked(const struct process *p) {
    return followed_text(&p->followed, p->live ? &p->memory : NULL);
}

struct scatter_effects process_effects_locked(struct process *p) {
    bool bursts = p->live && atomic_load(&p->memory.session->burst_length_ns) != 0;
    struct scatter_effects now = scatter_effects(p->live ? p->scatter : NULL, bursts);
    scatter_effects_add(&now, &p->effects);
    return now;
}

void process_get_stats(struct process *p, struct process_stats *stats) {
    pthread_mutex_lock(&p->lock);
    process_stats_locked(p, stats);
    pthread_mutex_unlock(&p->lock);
}

void process_end(struct process *p) {
    struct process_stats last;
    struct raw_sample_list deferred;
    pthread_mutex_lock(&p->lock);
    windows_turn(p, windows_now());
    if (p->live) {
        drain_all(p, clock_ns(CLOCK_MONOTONIC), REPEATS_MAX_AT_END, NULL, NULL);
        p->ended.broken += p->undrained; /* what is left is dropped: no honest ring asks for more */
    }
    deferred_unwind_take(p, &deferred);
    if (p->live) {
        process_stats_locked(p, &last);
        struct scatter_effects effects = process_effects_locked(p);
        scatter_effects_free(&p->effects);
        p->effects = effects;
        p->threads_open = last.threads - p->ended.threads;
        p->ended = last;
        p->ended_mono_ns = clock_ns(CLOCK_MONOTONIC);
        followed_end(&p->followed, &p->memory);
        p->live = false; /* last: who reads this without the lock goes by the times above */
        give_back(p);
        mcct_flush(p->tree);
    }
    bool finished = !p->live && !process_has_deferred(p);
    pthread_mutex_unlock(&p->lock);
    deferred_unwind_submit(p, &deferred);
    if (finished)
        process_say_finished(p);
}

void process_say_finished(struct process *p) {
    void (*finished)(struct process *) = atomic_exchange(&p->finished, NULL);
    if (finished != NULL)
        finished(p);
}

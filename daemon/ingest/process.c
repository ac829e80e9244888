/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * process.c - from what processes are made, what is published to them and counted of them.
 */
#include "daemon/ingest/windows.h"
#include "daemon/ingest/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/code/frame.h"
#include "common/wire/call_sites.h"
#include "common/wire/tags.h"
#include "daemon/ingest/proc_stat.h"

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

static struct subwindows *new_subwindows(const struct mcct_params *tree, uint64_t since_ns) {
    const struct subwindows_params params = {.tree = *tree, .n_counts = PROCESS_COUNTS};
    return subwindows_new(&params, windows_time(since_ns));
}

static bool make_memory(struct process *p, const struct process_params *params) {
    if (params->beside != NULL)
        return session_memory_share(&p->memory, &params->beside->memory);
    return session_memory_make(&p->memory, params->pid, &params->sampling, &params->needs);
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
    p->since_mono_ns = clock_now();
    identity_read(params->pid, &p->identity);
    p->exe = executable_of(params->pid);
    p->tree = mcct_new(&params->tree);
    p->frames = frame_user(params->uid);
    p->addresses = addresses_new(p->frames);
    p->arena = params->beside != NULL ? arena_ref(params->beside->arena) : arena_get(params->uid);
    p->shares = params->beside != NULL;
    uint32_t collector = params->sampling.collector;
    bool windows = process_keeps_windows(collector), heap = wire_of_heap(collector);
    if (collector == WIRE_COLLECT_WALKS || (wire_of_events(collector) && !heap))
        p->scatter = scatter_new(collector != WIRE_COLLECT_WALKS); /* without it intervals are those
                                                                    * of independent samples */
    if (windows)
        p->subwindows = new_subwindows(&params->tree, p->since_mono_ns);
    if (heap)
        p->heap = heap_new(&params->tree);
    pthread_mutex_init(&p->lock, NULL);
    if (p->exe == NULL || p->tree == NULL || p->frames == NULL || p->addresses == NULL ||
        p->arena == NULL || !addresses_name_generated(p->addresses, params->pid, params->uid) ||
        !make_memory(p, params) || (windows && p->subwindows == NULL) ||
        (heap && p->heap == NULL)) {
        process_free(p);
        return NULL;
    }
    atomic_store(&p->memory.session->heartbeat_ns, clock_now());
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

void process_give_back(struct process *p) {
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
    process_give_back(p);
    scatter_effects_free(&p->effects);
    mcct_free(p->tree);
    heap_free(p->heap);
    subwindows_free(p->subwindows);
    if (p->pidfd >= 0)
        close(p->pidfd);
    pthread_mutex_destroy(&p->lock);
    free((char *)p->exe);
    free(p->command);
    free(p->tags);
    followed_clear(&p->followed);
    numbered_clear(&p->numbered);
    free(p);
}

/* ---- what it is sampled by ---- */

uint64_t process_period(const struct session_sampling *sampling, uint64_t rate) {
    if (sampling->collector == WIRE_COLLECT_WALKS)
        return rate > 0 ? 1000000000u / rate : 0;
    return wire_of_numbers(sampling->collector) ? 0 : process_events_mean(sampling->collector);
}

/* ---- the tree ---- */

/* Of blocks of which it is not known where they were allocated. */
static uint32_t unknown_frame(struct process *p) {
    return p->addresses != NULL ? addresses_frame(p->addresses, WIRE_PSEUDO_LOST, 0) : 0;
}

void process_see_mean(struct process *p) {
    if (!p->live || !wire_of_blocks(p->sampling.collector) ||
        wire_of_numbers(p->sampling.collector))
        return;
    uint64_t mean = wire_blocks_mean(
        atomic_load_explicit(&p->memory.session->blocks_doubled, memory_order_relaxed));
    if (mean > p->ended.scatter.lone)
        p->ended.scatter.lone = mean;
}

void process_see_blocks(struct process *p) {
    if (p->heap != NULL && p->live)
        heap_see(p->heap, session_memory_blocks(&p->memory));
}

struct mcct *process_tree(struct process *p) {
    struct draws draws;
    if (p->heap == NULL)
        return p->tree;
    struct scatter *scatter = scatter_new(true);
    struct mcct *now = heap_tree(p->heap, unknown_frame(p), wire_of_numbers(p->sampling.collector),
                                 &draws, scatter);
    if (now != NULL) {
        mcct_free(p->tree);
        p->tree = now;
        p->ended.draws = draws;
        scatter_effects_free(&p->effects);
        p->effects = scatter_effects(scatter, false);
    }
    scatter_free(scatter);
    if (!p->live && !process_has_deferred(p)) { /* nothing changes any more */
        free_readers(p);                        /* of threads that did not end: they stand in it */
        heap_free(p->heap);
        p->heap = NULL;
    }
    return p->tree;
}

/* ---- names ---- */

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

void process_take_names(struct process *p) {
    if (p->names_taken || session_memory_modules(&p->memory) == 0 ||
        atomic_load_explicit(&session_memory_module(&p->memory, 0)->filled, memory_order_acquire) ==
            0)
        return;
    take_tags(p);
    take_command(p);
    p->names_taken = true;
}

/* ---- tables ---- */

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

/* ---- goodbye ---- */

/* Samples of CPU time. */
static bool has_cpu_time(const struct process *p) {
    return p->sampling.collector == WIRE_COLLECT_WALKS && !wire_clock_sleeps(p->sampling.clock);
}

/* Where the clock is not known: the latest that was, or what there is an account of, which is
 * certain. */
static uint64_t cpu_accounted(const struct process *p, const struct process_stats *stats) {
    uint64_t sum = stats->counter[WIRE_CREDITED_NS] + stats->counter[WIRE_LOST_NS] +
                   stats->unasked_ns + stats->gap_ns;
    return has_cpu_time(p) && sum > stats->cpu_ns ? sum : stats->cpu_ns;
}

/* By the process's clock; where it is gone, what it has said as it ended. `stats`: all else. */
static uint64_t cpu_now(const struct process *p, const struct process_stats *stats) {
    const struct wire_session *session = p->memory.session;
    uint64_t earlier = session->earlier_ns; /* the clock goes on over exec */
    if (p->before.by == BEFORE_BY_OTHER)
        earlier += p->before.earlier_ns;
    struct proc_stat stat = {.cpu_ns = atomic_load(&session->cpu_ns)};
    bool is_there = !p->executed && proc_stat_read(p->pid, &stat);
    if (p->executed || (!is_there && stat.cpu_ns == 0))
        return cpu_accounted(p, stats);
    return stat.cpu_ns > earlier ? stat.cpu_ns - earlier : 0;
}

static bool take_lock(struct process *p, bool wait) {
    if (!wait)
        return pthread_mutex_trylock(&p->lock) == 0;
    pthread_mutex_lock(&p->lock);
    return true;
}

static void wake_all(struct process *p) {
    uint32_t n = session_memory_slots(&p->memory);
    for (uint32_t i = 0; i < n; i++)
        reader_wake(session_memory_slot(&p->memory, i));
}

bool process_say_goodbye(struct process *p, bool wait) {
    if (!take_lock(p, wait))
        return false;
    if (p->live && !p->said_goodbye) {
        atomic_fetch_or(&p->memory.session->control, WIRE_CONTROL_GONE);
        wake_all(p);
        p->goodbye_cpu_ns = cpu_now(p, &p->ended);
        p->said_goodbye = true;
    }
    pthread_mutex_unlock(&p->lock);
    return true;
}

void process_stop_reading(struct process *p) {
    atomic_fetch_or(&p->memory.session->control, WIRE_CONTROL_GONE | WIRE_CONTROL_READ);
    p->reads_no_more = true;
}

void process_say_read(struct process *p) {
    pthread_mutex_lock(&p->lock);
    if (p->live)
        process_stop_reading(p);
    pthread_mutex_unlock(&p->lock);
}

bool process_has_left(struct process *p) {
    pthread_mutex_lock(&p->lock);
    bool left = p->live && atomic_load(&p->memory.session->left) != 0;
    pthread_mutex_unlock(&p->lock);
    return left;
}

/* ---- statistics ---- */

static void add_time(const struct process *p, const struct wire_unsampled *more,
                     struct process_stats *sum) {
    if (p->sampling.collector == WIRE_COLLECT_WALKS)
        sum->counter[WIRE_LOST_NS] += atomic_load(&more->lost_ns);
    sum->unasked_ns += atomic_load(&more->unasked_ns);
}

/* Of a program's first session it is said what had come before it; else the last hcctd had some of
 * that, and nothing of it is left. */
static void add_missed(const struct process *p, struct process_stats *sum) {
    const struct wire_session *session = p->memory.session;
    bool again = p->before.by == BEFORE_BY_CLOCK;
    sum->gap_ns +=
        again ? session->before_ns
              : atomic_load(&session->between.lost_ns) + atomic_load(&session->between.unasked_ns);
    sum->gap_children_ns += p->missed.children_ns;
    sum->restarts += again;
}

/* Before the session, and after it where there is no other one. */
static void add_unsampled(const struct process *p, struct process_stats *sum) {
    const struct wire_session *session = p->memory.session;
    uint64_t earlier = p->before.earlier_ns;
    if (p->missed.so)
        add_missed(p, sum);
    else if (p->before.by == BEFORE_BY_SESSION || p->before.by == BEFORE_BY_OTHER)
        add_time(p, &session->between, sum);
    else if (p->before.by == BEFORE_BY_CLOCK)
        sum->unasked_ns += session->before_ns;
    if (p->over)
        add_time(p, &session->after, sum);
    sum->start_ns -= earlier < sum->start_ns ? earlier : sum->start_ns;
}

static void sum_live(struct process *p, struct process_stats *sum) {
    struct wire_session *session = p->memory.session;
    uint32_t n = session_memory_slots(&p->memory);
    for (uint32_t i = 0; i < n; i++) {
        if (p->readers[i] == NULL)
            continue;
        sum->threads += p->readers[i]->open;
        sum->broken += p->readers[i]->broken;
        process_stats_add_slot(sum, session_memory_slot(&p->memory, i));
    }
    process_stats_add_session(sum, session, p->sampling.place);
    add_unsampled(p, sum);
    sum->children += session->is_child != 0;
    sum->generated_refused += addresses_is_refused(p->addresses);
    sum->slots_refused += p->memory.slots_refused;
    sum->signal = atomic_load(&session->signal);
    sum->rate = atomic_load(&session->rate);
    sum->burst_length_ns = atomic_load(&session->burst_length_ns);
    sum->burst_period_ns = atomic_load(&session->burst_period_ns);
    scatter_sum(p->scatter, sum->burst_length_ns != 0, &sum->scatter);
    sum->off = (atomic_load(&session->control) & WIRE_CONTROL_ON) == 0 ||
               atomic_load(&session->stopped) != 0;
    sum->cpu_ns = p->said_goodbye ? p->goodbye_cpu_ns : cpu_now(p, sum);
}

void process_stats_locked(struct process *p, struct process_stats *stats) {
    *stats = p->ended;
    if (p->live)
        sum_live(p, stats);
    if (wire_of_heap(p->sampling.collector)) /* what that weighs is in the tree */
        stats->counter[WIRE_LOST_NS] = 0;
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

void process_count_reading(struct process *p, uint64_t ns) {
    pthread_mutex_lock(&p->lock);
    p->ended.reading_ns += ns;
    if (p->live)
        atomic_fetch_add_explicit(&p->memory.session->reading_ns, ns, memory_order_relaxed);
    pthread_mutex_unlock(&p->lock);
}

void process_get_stats(struct process *p, struct process_stats *stats) {
    pthread_mutex_lock(&p->lock);
    process_stats_locked(p, stats);
    pthread_mutex_unlock(&p->lock);
}

void process_say_finished(struct process *p) {
    void (*finished)(struct process *) = atomic_exchange(&p->finished, NULL);
    if (finished != NULL)
        finished(p);
}

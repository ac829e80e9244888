/*
 * registry.c - three lists under one lock, newest first: who lives is looked at many times a
 * second, and in a build all the others are many more.
 *
 * Folding adds the tree of an old finished process to that of its executable and name (mcct_merge),
 * so that a build of ten thousand compilers stays as small as one.
 */
#include "daemon/ingest/registry.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/ingest/windows.h"

/* A process that has just ended is in LIVE until registry_finish() moves it. */
enum { NOWHERE, LIVE, FINISHED, FOLDED, LISTS };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct process *first;
    unsigned n;
} lists[LISTS];
static uint64_t numbers;
static uint64_t dropped;

/* ---- lists ---- */

static void link_locked(struct process *process, unsigned list) {
    process->listed = list;
    process->next = lists[list].first;
    lists[list].first = process;
    lists[list].n++;
}

/* It is in one. */
static void unlink_locked(struct process *process) {
    struct process **at = &lists[process->listed].first;
    while (*at != process)
        at = &(*at)->next;
    *at = process->next;
    lists[process->listed].n--;
    process->listed = NOWHERE;
}

void registry_add(struct process *process) {
    pthread_mutex_lock(&lock);
    process->number = ++numbers;
    link_locked(process, process->live ? LIVE : process->pid != 0 ? FINISHED : FOLDED);
    pthread_mutex_unlock(&lock);
}

static void put_locked(struct process *process) {
    if (--process->refs == 0)
        process_free(process);
}

void registry_put(struct process *process) {
    if (process == NULL)
        return;
    pthread_mutex_lock(&lock);
    put_locked(process);
    pthread_mutex_unlock(&lock);
}

void registry_ref(struct process *process) {
    pthread_mutex_lock(&lock);
    process->refs++;
    pthread_mutex_unlock(&lock);
}

struct process *registry_find_live(pid_t pid) {
    pthread_mutex_lock(&lock);
    struct process *p = lists[LIVE].first;
    while (p != NULL && !(p->live && p->pid == pid))
        p = p->next;
    if (p != NULL)
        p->refs++;
    pthread_mutex_unlock(&lock);
    return p;
}

struct process *registry_find_waiting(pid_t pid, const struct process_identity *identity) {
    pthread_mutex_lock(&lock);
    struct process *p = lists[FINISHED].first;
    while (p != NULL && !(p->waiting && p->pid == pid && identity_same(&p->identity, identity)))
        p = p->next;
    if (p != NULL)
        p->refs++;
    pthread_mutex_unlock(&lock);
    return p;
}

unsigned registry_live(void) {
    pthread_mutex_lock(&lock);
    unsigned n = lists[LIVE].n;
    pthread_mutex_unlock(&lock);
    return n;
}

static int by_number(const void *a, const void *b) {
    uint64_t i = (*(struct process *const *)a)->number, k = (*(struct process *const *)b)->number;
    return (i > k) - (i < k);
}

/* Of the lists from..to - 1. */
static struct process **list_some(unsigned from, unsigned to, registry_want *want, const void *arg,
                                  size_t *n) {
    size_t room = 0;
    *n = 0;
    pthread_mutex_lock(&lock);
    for (unsigned l = from; l < to; l++)
        room += lists[l].n;
    struct process **list = calloc(room + 1, sizeof *list); /* NULL says more than "none" */
    for (unsigned l = from; l < to && list != NULL; l++)
        for (struct process *p = lists[l].first; p != NULL; p = p->next) {
            if (want != NULL && !want(p, arg))
                continue;
            p->refs++;
            list[(*n)++] = p;
        }
    pthread_mutex_unlock(&lock);
    if (*n > 1)
        qsort(list, *n, sizeof *list, by_number);
    return list;
}

struct process **registry_list(registry_want *want, const void *arg, size_t *n) {
    return list_some(LIVE, LISTS, want, arg, n);
}

static bool is_live(const struct process *process, const void *unused) {
    (void)unused;
    return process->live;
}

struct process **registry_list_live(size_t *n) {
    return list_some(LIVE, LIVE + 1, is_live, NULL, n);
}

void registry_free_list(struct process **list, size_t n) {
    for (size_t i = 0; i < n; i++)
        registry_put(list[i]);
    free(list);
}

/* ---- finished processes ---- */

/* Nothing is to be credited to it any more, and nobody has a reference: who lists processes would
 * count it twice, by itself and in the one that it is folded into. */
static bool may_be_folded(const struct process *p) {
    return !process_has_ships(p) && !p->waiting && p->refs == 1;
}

/* Of all that may be folded, if they are more than are kept one by one. */
static struct process *oldest_finished_locked(void) {
    struct process *oldest = NULL;
    unsigned n = 0;
    for (struct process *p = lists[FINISHED].first; p != NULL; p = p->next) {
        if (!may_be_folded(p))
            continue;
        n++;
        if (oldest == NULL || p->number < oldest->number)
            oldest = p;
    }
    return n > REGISTRY_FINISHED_MAX ? oldest : NULL;
}

static struct process *oldest_folded_locked(void) {
    struct process *oldest = NULL;
    for (struct process *p = lists[FOLDED].first; p != NULL; p = p->next)
        if (oldest == NULL || p->number < oldest->number)
            oldest = p;
    return lists[FOLDED].n > REGISTRY_FOLDED_MAX ? oldest : NULL;
}

static void add_ships(struct process_ships *sum, const struct process_ships *s) {
    sum->credited += s->credited;
    sum->complete += s->complete;
    sum->truncated += s->truncated;
    sum->no_module += s->no_module;
    sum->no_rule += s->no_rule;
    sum->bad_stack += s->bad_stack;
    sum->short_copy += s->short_copy;
    sum->refused += s->refused;
}

static void add_stats(struct process_stats *sum, const struct process_stats *s) {
    for (int i = 0; i < WIRE_COUNTERS; i++)
        sum->counter[i] += s->counter[i];
    sum->cpu_ns += s->cpu_ns;
    sum->threads += s->threads;
    sum->slots_missing += s->slots_missing;
    sum->slots_refused += s->slots_refused;
    sum->rate_changes += s->rate_changes;
    sum->modules_missing += s->modules_missing;
    sum->timers_missing += s->timers_missing;
    sum->broken += s->broken;
    sum->perf_refused += s->perf_refused;
    sum->fine_refused += s->fine_refused;
    sum->confined += s->confined;
    sum->restarts += s->restarts;
    sum->unfinished += s->unfinished;
    sum->gap_ns += s->gap_ns;
    add_ships(&sum->ships, &s->ships);
    draws_add_all(&sum->draws, &s->draws);
    scatter_add_sums(&sum->scatter, &s->scatter);
}

static struct process *folded_for_locked(const struct process *p) {
    for (struct process *f = lists[FOLDED].first; f != NULL; f = f->next)
        if (f->uid == p->uid && f->sampling.collector == p->sampling.collector &&
            f->sampling.lines == p->sampling.lines && strcmp(f->exe, p->exe) == 0 &&
            strcmp(process_command(f), process_command(p)) == 0 &&
            strcmp(process_tags(f), process_tags(p)) == 0)
            return f;
    return NULL;
}

/* A query may hold a reference to `into`: it looks at the tree under its lock. */
static void merge(struct process *into, struct process *p) {
    pthread_mutex_lock(&into->lock);
    pthread_mutex_lock(&p->lock);
    mcct_merge(into->tree, p->tree); /* what finds no memory is in the total and in `unseen` */
    windows_fold(into, p);
    add_stats(&into->ended, &p->ended);
    scatter_effects_add(&into->effects, &p->effects);
    into->runs += p->runs;
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&into->lock);
}

static void fold_locked(struct process *p) {
    struct process *into = folded_for_locked(p);
    unlink_locked(p);
    if (into == NULL) {
        p->pid = 0; /* it becomes the first of its executable */
        link_locked(p, FOLDED);
        return;
    }
    merge(into, p);
    put_locked(p);
}

static void drop_locked(struct process *p) {
    dropped += p->ended.counter[WIRE_CREDITED_NS];
    unlink_locked(p);
    put_locked(p);
}

/* True: one was folded. */
static bool make_room_locked(void) {
    struct process *finished = oldest_finished_locked();
    if (finished != NULL)
        fold_locked(finished);
    struct process *folded = oldest_folded_locked();
    if (folded != NULL)
        drop_locked(folded);
    return finished != NULL;
}

void registry_finish(struct process *process) {
    process_end(process);
    pthread_mutex_lock(&lock);
    if (process->listed == LIVE) {
        unlink_locked(process);
        link_locked(process, FINISHED);
    }
    while (make_room_locked()) /* others may have waited until a query let them go */
        ;
    pthread_mutex_unlock(&lock);
}

void registry_remove(struct process *process) {
    pthread_mutex_lock(&lock);
    if (process->listed != NOWHERE) { /* it may have been folded meanwhile */
        unlink_locked(process);
        put_locked(process);
    }
    pthread_mutex_unlock(&lock);
}

static bool is_gone(const struct process *p) {
    struct process_identity now;
    return p->waiting && !(identity_read(p->pid, &now) && identity_same(&now, &p->identity));
}

void registry_give_up(void) {
    pthread_mutex_lock(&lock);
    for (struct process *p = lists[FINISHED].first; p != NULL; p = p->next) {
        if (!is_gone(p))
            continue;
        pthread_mutex_lock(&p->lock);
        p->ended.unfinished = 1;
        pthread_mutex_unlock(&p->lock);
        p->waiting = false;
    }
    while (make_room_locked())
        ;
    pthread_mutex_unlock(&lock);
}

void registry_clear(void) {
    pthread_mutex_lock(&lock);
    for (unsigned l = LIVE; l < LISTS; l++) {
        for (struct process *p = lists[l].first, *next; p != NULL; p = next) {
            next = p->next;
            put_locked(p);
        }
        lists[l].first = NULL;
        lists[l].n = 0;
    }
    pthread_mutex_unlock(&lock);
}

uint64_t registry_dropped(void) {
    pthread_mutex_lock(&lock);
    uint64_t n = dropped;
    pthread_mutex_unlock(&lock);
    return n;
}

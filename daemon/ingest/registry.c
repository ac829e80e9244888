/*
 * registry.c - a list under one lock, newest first.
 *
 * Folding adds the tree of an old finished process to that of its executable (mcct_merge), so that
 * a build of ten thousand compilers stays as small as one.
 */
#include "daemon/ingest/registry.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/ingest/windows.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct process *all;
static uint64_t dropped;

void registry_add(struct process *process) {
    pthread_mutex_lock(&lock);
    process->next = all;
    all = process;
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
    struct process *p = all;
    while (p != NULL && !(p->live && p->pid == pid))
        p = p->next;
    if (p != NULL)
        p->refs++;
    pthread_mutex_unlock(&lock);
    return p;
}

struct process *registry_find_waiting(pid_t pid, const struct process_identity *identity) {
    pthread_mutex_lock(&lock);
    struct process *p = all;
    while (p != NULL && !(p->waiting && p->pid == pid && identity_same(&p->identity, identity)))
        p = p->next;
    if (p != NULL)
        p->refs++;
    pthread_mutex_unlock(&lock);
    return p;
}

unsigned registry_live(void) {
    unsigned n = 0;
    pthread_mutex_lock(&lock);
    for (struct process *p = all; p != NULL; p = p->next)
        n += p->live;
    pthread_mutex_unlock(&lock);
    return n;
}

struct process **registry_list(registry_want *want, const void *arg, size_t *n) {
    size_t room = 0;
    *n = 0;
    pthread_mutex_lock(&lock);
    for (struct process *p = all; p != NULL; p = p->next)
        room++;
    struct process **list = room > 0 ? calloc(room, sizeof *list) : NULL;
    for (struct process *p = all; p != NULL && list != NULL; p = p->next) {
        if (want == NULL || want(p, arg)) {
            p->refs++;
            list[(*n)++] = p;
        }
    }
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < *n / 2; i++) { /* the list is newest first */
        struct process *swap = list[i];
        list[i] = list[*n - 1 - i];
        list[*n - 1 - i] = swap;
    }
    return list;
}

void registry_free_list(struct process **list, size_t n) {
    for (size_t i = 0; i < n; i++)
        registry_put(list[i]);
    free(list);
}

/* ---- finished processes ---- */

static void unlink_locked(struct process *process) {
    struct process **at = &all;
    while (*at != NULL && *at != process)
        at = &(*at)->next;
    if (*at != NULL)
        *at = process->next;
}

/* And nothing is to be credited to it any more. */
static bool is_finished(const struct process *p) {
    return !p->live && !process_has_ships(p) && p->pid != 0 && !p->waiting;
}

static bool is_folded(const struct process *p) {
    return !p->live && p->pid == 0;
}

static struct process *oldest_locked(bool (*is)(const struct process *), unsigned *n) {
    struct process *oldest = NULL;
    *n = 0;
    for (struct process *p = all; p != NULL; p = p->next) {
        if (is(p)) {
            (*n)++;
            oldest = p;
        }
    }
    return oldest;
}

static void add_ships(struct process_ships *sum, const struct process_ships *s) {
    sum->credited += s->credited;
    sum->complete += s->complete;
    sum->truncated += s->truncated;
    sum->no_module += s->no_module;
    sum->no_rule += s->no_rule;
    sum->bad_stack += s->bad_stack;
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
    sum->restarts += s->restarts;
    sum->unfinished += s->unfinished;
    sum->gap_ns += s->gap_ns;
    add_ships(&sum->ships, &s->ships);
}

static struct process *folded_for_locked(const struct process *p) {
    for (struct process *f = all; f != NULL; f = f->next)
        if (is_folded(f) && f->uid == p->uid && f->sampling.collector == p->sampling.collector &&
            f->sampling.lines == p->sampling.lines && strcmp(f->exe, p->exe) == 0)
            return f;
    return NULL;
}

/* Queries may hold references to both: they look at the tree under each one's own lock. */
static void fold_locked(struct process *p) {
    struct process *into = folded_for_locked(p);
    if (into == NULL) {
        p->pid = 0; /* it becomes the first of its executable */
        return;
    }
    pthread_mutex_lock(&into->lock);
    pthread_mutex_lock(&p->lock);
    mcct_merge(into->tree, p->tree); /* what finds no memory is in the total and in `unseen` */
    windows_fold(into, p);
    add_stats(&into->ended, &p->ended);
    into->runs += p->runs;
    p->folded = true;
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&into->lock);
    unlink_locked(p);
    put_locked(p);
}

static void drop_locked(struct process *p) {
    dropped += p->ended.counter[WIRE_CREDITED_NS];
    unlink_locked(p);
    put_locked(p);
}

static void make_room_locked(void) {
    unsigned n;
    struct process *oldest = oldest_locked(is_finished, &n);
    if (n > REGISTRY_FINISHED_MAX)
        fold_locked(oldest);
    oldest = oldest_locked(is_folded, &n);
    if (n > REGISTRY_FOLDED_MAX)
        drop_locked(oldest);
}

void registry_finish(struct process *process) {
    process_end(process);
    pthread_mutex_lock(&lock);
    make_room_locked();
    pthread_mutex_unlock(&lock);
}

void registry_remove(struct process *process) {
    pthread_mutex_lock(&lock);
    unlink_locked(process);
    put_locked(process);
    pthread_mutex_unlock(&lock);
}

static bool is_gone(const struct process *p) {
    struct process_identity now;
    return p->waiting && !(identity_read(p->pid, &now) && identity_same(&now, &p->identity));
}

void registry_give_up(void) {
    pthread_mutex_lock(&lock);
    for (struct process *p = all, *next; p != NULL; p = next) {
        next = p->next;
        if (!is_gone(p))
            continue;
        pthread_mutex_lock(&p->lock);
        p->ended.unfinished = 1;
        pthread_mutex_unlock(&p->lock);
        p->waiting = false;
    }
    unsigned n;
    for (oldest_locked(is_finished, &n); n > REGISTRY_FINISHED_MAX; n--)
        make_room_locked();
    pthread_mutex_unlock(&lock);
}

void registry_clear(void) {
    pthread_mutex_lock(&lock);
    for (struct process *p = all, *next; p != NULL; p = next) {
        next = p->next;
        put_locked(p);
    }
    all = NULL;
    pthread_mutex_unlock(&lock);
}

uint64_t registry_dropped(void) {
    pthread_mutex_lock(&lock);
    uint64_t n = dropped;
    pthread_mutex_unlock(&lock);
    return n;
}

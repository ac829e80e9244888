/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * registry.c - three lists under one lock, newest first: the living ones are read many times a
 * second, and in a build all the others are many more.
 *
 * Folding adds the tree of an old finished process to that of its executable and name (mcct_merge),
 * so that a build of ten thousand compilers stays as small as one.
 */
#include "daemon/ingest/registry.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/ingest/windows.h"

/* A process that has just ended is in LIVE until registry_finished() moves it. */
enum { NOWHERE, LIVE, FINISHED, FOLDED, LISTS };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct process *first;
    unsigned n;
} lists[LISTS];
static uint64_t dropped;

/* A merge under way. Its weight is in neither of the two for others to count: who wants to see
 * either waits for its end. */
static struct {
    const struct process *from, *into; /* NULL: there is none */
    pthread_cond_t done;
} folding = {.done = PTHREAD_COND_INITIALIZER};

/* Of registry_wait_finished(). */
static struct {
    pthread_cond_t changed;
    bool crowded, stop;
    bool held_up; /* there are too many still, as somebody holds them */
} keeper = {.changed = PTHREAD_COND_INITIALIZER};

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
    link_locked(process, process->live ? LIVE : process->pid != 0 ? FINISHED : FOLDED);
    pthread_mutex_unlock(&lock);
}

static void say_crowded_locked(void) {
    keeper.crowded = true;
    pthread_cond_signal(&keeper.changed);
}

/* What is to be freed when the lock is no longer held, as a tree may be large; or NULL. The last
 * that held up the folding of `process` sets it going again. */
static struct process *put_locked(struct process *process) {
    if (--process->refs == 0)
        return process;
    if (keeper.held_up && process->refs == 1 && process->listed == FINISHED)
        say_crowded_locked();
    return NULL;
}

static void free_unlocked(struct process *process) {
    if (process != NULL)
        process_free(process);
}

void registry_put(struct process *process) {
    if (process == NULL)
        return;
    pthread_mutex_lock(&lock);
    process = put_locked(process);
    pthread_mutex_unlock(&lock);
    free_unlocked(process);
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

struct process *registry_find_numbered(uint64_t number) {
    pthread_mutex_lock(&lock);
    struct process *p = lists[LIVE].first;
    while (p != NULL && !(p->live && p->number == number))
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

static bool is_folding_locked(registry_filter *filter, const void *arg) {
    return folding.from != NULL &&
           (filter == NULL || filter(folding.from, arg) || filter(folding.into, arg));
}

struct process **registry_list(registry_filter *filter, const void *arg, size_t *n) {
    size_t room = 0;
    *n = 0;
    pthread_mutex_lock(&lock);
    while (is_folding_locked(filter, arg))
        pthread_cond_wait(&folding.done, &lock);
    for (unsigned l = LIVE; l < LISTS; l++)
        room += lists[l].n;
    struct process **list = calloc(room + 1, sizeof *list); /* NULL says more than "none" */
    for (unsigned l = LIVE; l < LISTS && list != NULL; l++)
        for (struct process *p = lists[l].first; p != NULL; p = p->next) {
            if (filter != NULL && !filter(p, arg))
                continue;
            p->refs++;
            list[(*n)++] = p;
        }
    pthread_mutex_unlock(&lock);
    if (*n > 1)
        qsort(list, *n, sizeof *list, by_number);
    return list;
}

size_t registry_all_live(struct process *list[REGISTRY_LIVE_MAX]) {
    size_t n = 0;
    pthread_mutex_lock(&lock);
    for (struct process *p = lists[LIVE].first; p != NULL && n < REGISTRY_LIVE_MAX; p = p->next)
        if (p->live) {
            p->refs++;
            list[n++] = p;
        }
    pthread_mutex_unlock(&lock);
    return n;
}

void registry_put_all(struct process *const *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        registry_put(list[i]);
}

void registry_free_list(struct process **list, size_t n) {
    registry_put_all(list, n);
    free(list);
}

/* ---- finished processes ---- */

/* Nothing is to be credited to it any more, and nobody has a reference: who lists processes would
 * count it twice, by itself and in the one that it is folded into. */
static bool may_be_folded(const struct process *p) {
    return !process_has_deferred(p) && !p->waiting && p->refs == 1;
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

static struct process *folded_for_locked(const struct process *p) {
    for (struct process *f = lists[FOLDED].first; f != NULL; f = f->next)
        if (f->uid == p->uid && f->sampling.collector == p->sampling.collector &&
            f->sampling.lines == p->sampling.lines && f->sampling.threads == p->sampling.threads &&
            strcmp(f->exe, p->exe) == 0 && strcmp(process_command(f), process_command(p)) == 0 &&
            strcmp(process_tags(f), process_tags(p)) == 0)
            return f;
    return NULL;
}

/* A query may hold a reference to `into`: it reads the tree under its lock. */
static void merge(struct process *into, struct process *p) {
    pthread_mutex_lock(&into->lock);
    pthread_mutex_lock(&p->lock);
    /* what finds no memory is in the total and in `unseen` */
    mcct_merge(process_tree(into), process_tree(p));
    windows_fold(into, p);
    process_stats_add(&into->ended, &p->ended);
    scatter_effects_add(&into->effects, &p->effects);
    followed_add(&into->followed, &p->followed);
    numbered_fold(&into->numbered, &p->numbered);
    into->runs += p->runs;
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&into->lock);
}

/* The lock is given up while trees are merged: others live on meanwhile. Nobody else has a
 * reference to `p`, and none can be had. */
static struct process *merge_unlocked(struct process *into, struct process *p) {
    folding.from = p;
    folding.into = into;
    into->refs++;
    pthread_mutex_unlock(&lock);
    merge(into, p);
    pthread_mutex_lock(&lock);
    folding.from = folding.into = NULL;
    pthread_cond_broadcast(&folding.done);
    put_locked(into); /* the list has one */
    return put_locked(p);
}

/* What is to be freed, or NULL. */
static struct process *fold_locked(struct process *p) {
    struct process *into = folded_for_locked(p);
    unlink_locked(p);
    if (into != NULL)
        return merge_unlocked(into, p);
    p->pid = 0; /* it becomes the first of its executable */
    link_locked(p, FOLDED);
    return NULL;
}

static struct process *drop_locked(struct process *p) {
    dropped += p->ended.counter[WIRE_CREDITED_NS];
    unlink_locked(p);
    return put_locked(p);
}

bool registry_fold(void) {
    struct process *gone[2] = {NULL, NULL};
    pthread_mutex_lock(&lock);
    struct process *finished = oldest_finished_locked();
    if (finished != NULL)
        gone[0] = fold_locked(finished);
    keeper.held_up = finished == NULL && lists[FINISHED].n > REGISTRY_FINISHED_MAX;
    struct process *folded = oldest_folded_locked();
    if (folded != NULL)
        gone[1] = drop_locked(folded);
    pthread_mutex_unlock(&lock);
    free_unlocked(gone[0]);
    free_unlocked(gone[1]);
    return finished != NULL;
}

static void look_for_crowd_locked(void) {
    if (!keeper.crowded && lists[FINISHED].n > REGISTRY_FINISHED_MAX + REGISTRY_FINISHED_MORE)
        say_crowded_locked();
}

bool registry_wait_finished(uint64_t until_ns) {
    const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000u),
                                   .tv_nsec = (long)(until_ns % 1000000000u)};
    int late = 0;
    pthread_mutex_lock(&lock);
    while (!keeper.crowded && !keeper.stop && late == 0)
        late = pthread_cond_clockwait(&keeper.changed, &lock, CLOCK_MONOTONIC, &until);
    keeper.crowded = false;
    bool go_on = !keeper.stop;
    pthread_mutex_unlock(&lock);
    return go_on;
}

void registry_wait_stop(void) {
    pthread_mutex_lock(&lock);
    keeper.stop = true;
    pthread_cond_signal(&keeper.changed);
    pthread_mutex_unlock(&lock);
}

void registry_finished(struct process *process) {
    pthread_mutex_lock(&lock);
    if (process->listed == LIVE) {
        unlink_locked(process);
        link_locked(process, FINISHED);
    }
    look_for_crowd_locked();
    pthread_mutex_unlock(&lock);
}

void registry_remove(struct process *process) {
    pthread_mutex_lock(&lock);
    if (process->listed != NOWHERE) { /* it may have been folded meanwhile */
        unlink_locked(process);
        put_locked(process); /* the caller has one */
    }
    pthread_mutex_unlock(&lock);
}

static bool is_gone(const struct process *p) {
    struct process_identity now;
    return !(identity_read(p->pid, &now) && identity_same(&now, &p->identity));
}

static void give_up(struct process *p) {
    pthread_mutex_lock(&p->lock);
    p->ended.unfinished = 1;
    pthread_mutex_unlock(&p->lock);
    p->waiting = false;
}

static bool is_waiting(const struct process *p, const void *unused) {
    (void)unused;
    return p->waiting;
}

/* Files of processes are read without the lock. */
void registry_give_up(void) {
    size_t n;
    struct process **list = registry_list(is_waiting, NULL, &n);
    for (size_t i = 0; i < n; i++)
        if (is_gone(list[i]))
            give_up(list[i]);
    registry_free_list(list, n);
    pthread_mutex_lock(&lock);
    look_for_crowd_locked();
    pthread_mutex_unlock(&lock);
}

void registry_clear(void) {
    pthread_mutex_lock(&lock);
    for (unsigned l = LIVE; l < LISTS; l++) {
        for (struct process *p = lists[l].first, *next; p != NULL; p = next) {
            next = p->next;
            free_unlocked(put_locked(p));
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

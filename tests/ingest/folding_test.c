/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * folding_test.c - finished processes are folded when nobody holds them, and only then: weight is
 * in one of them at any time, and none stays by itself for good. While two trees are merged, living
 * processes go on; who wants to see either waits.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/tree/summary.h"
#include "daemon/ingest/finished.h"
#include "daemon/ingest/registry.h"
#include "tests/check.h"

#define PROCESSES (REGISTRY_FINISHED_MAX + 20u)
#define WEIGHT    7u

static void add_finished(pid_t pid, const char *command) {
    const struct mcct_params params = {.summary = &summary_exact, .epsilon = 0.001};
    struct process like = {.pid = pid, .runs = 1, .exe = strdup("/usr/bin/cc1")};
    like.command = command != NULL ? strdup(command) : NULL;
    like.tree = mcct_new(&params);
    CHECK(like.tree != NULL);
    struct mcct_cursor cursor;
    mcct_cursor_open(like.tree, &cursor);
    mcct_push(&cursor, 1);
    mcct_credit(&cursor, WEIGHT);
    mcct_cursor_close(&cursor);
    struct process *process = process_new_finished(&like);
    CHECK(process != NULL);
    registry_add(process);
}

static void fold_all(void) {
    while (registry_fold())
        ;
}

static uint64_t weight_of(struct process *const *list, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        struct mcct_stats stats;
        mcct_stats(list[i]->tree, &stats);
        sum += stats.total;
    }
    return sum;
}

/* What a query sees that lists them now; *n: how many there are. */
static uint64_t weight_now(size_t *n) {
    struct process **list = registry_list(NULL, NULL, n);
    uint64_t sum = weight_of(list, *n);
    registry_free_list(list, *n);
    return sum;
}

/* One file by several names, as the applets of busybox: each name is folded by itself. */
static void test_names(void) {
    static const char *const names[] = {"gzip", "awk", NULL};
    size_t n, folded = 0;
    for (unsigned i = 0; i < 3 * REGISTRY_FINISHED_MAX; i++)
        add_finished((pid_t)(1 + i), names[i % 3]);
    fold_all();
    struct process **list = registry_list(NULL, NULL, &n);
    for (size_t i = 0; i < n; i++) {
        if (list[i]->pid != 0)
            continue;
        const char *name = names[folded++ % 3];
        CHECK_STR(process_command(list[i]), name != NULL ? name : "cc1");
        CHECK(list[i]->runs > 1);
    }
    CHECK_UINT(folded, 3);
    registry_free_list(list, n);
    registry_clear();
}

/* ---- a merge that takes long (the linker's --wrap) ---- */

bool __real_mcct_merge(struct mcct *into, const struct mcct *from);
bool __wrap_mcct_merge(struct mcct *into, const struct mcct *from);

static void (*meanwhile)(void);

bool __wrap_mcct_merge(struct mcct *into, const struct mcct *from) {
    if (meanwhile != NULL)
        meanwhile();
    return __real_mcct_merge(into, from);
}

static _Atomic bool merging;

static void *look_at_living(void *unused) {
    static struct process *live[REGISTRY_LIVE_MAX];
    size_t n = registry_all_live(live);
    registry_put_all(live, n);
    registry_put(registry_find_live(getpid()));
    return unused;
}

static bool want_other(const struct process *process, const void *unused) {
    (void)unused;
    return process->uid == 1;
}

static void *look_at_others(void *unused) {
    size_t n;
    struct process **list = registry_list(want_other, NULL, &n);
    registry_free_list(list, n);
    return unused;
}

static void *look_at_all(void *weight) {
    size_t n;
    *(uint64_t *)weight = weight_now(&n);
    CHECK(!merging);
    return NULL;
}

static bool comes_back(void *(*look)(void *)) {
    pthread_t thread;
    struct timespec until;
    CHECK(pthread_create(&thread, NULL, look, NULL) == 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

static pthread_t waits;
static uint64_t seen;

static void look_around(void) {
    meanwhile = NULL;
    merging = true;
    CHECK(comes_back(look_at_living));
    CHECK(comes_back(look_at_others));
    CHECK(pthread_create(&waits, NULL, look_at_all, &seen) == 0);
    usleep(50000); /* it should come to wait; if it comes later, it sees the same */
    merging = false;
}

static void test_long_merge(void) {
    for (unsigned i = 0; i < REGISTRY_FINISHED_MAX + 2; i++)
        add_finished((pid_t)(1 + i), NULL);
    CHECK(registry_fold()); /* the first of its executable */
    meanwhile = look_around;
    CHECK(registry_fold());
    CHECK(meanwhile == NULL);
    pthread_join(waits, NULL);
    CHECK_UINT(seen, (REGISTRY_FINISHED_MAX + 2) * WEIGHT);
    registry_clear();
}

/* ---- who has not come back after a restart (identity_read is the test's own) ---- */

bool __wrap_identity_read(pid_t pid, struct process_identity *identity);

static unsigned n_read;

/* Takes as long as /proc may take: others need the registry meanwhile. */
bool __wrap_identity_read(pid_t pid, struct process_identity *identity) {
    CHECK_UINT(registry_live(), 0);
    *identity = (struct process_identity){0};
    n_read++;
    return pid != 3;
}

static void test_given_up(void) {
    size_t n;
    for (pid_t pid = 1; pid <= 4; pid++)
        add_finished(pid, NULL);
    struct process **list = registry_list(NULL, NULL, &n);
    CHECK_UINT(n, 4);
    for (size_t i = 1; i < n; i++) /* but the first */
        list[i]->waiting = true;
    registry_give_up();
    CHECK_UINT(n_read, 3);
    for (size_t i = 0; i < n; i++) {
        CHECK(list[i]->waiting == (list[i]->pid == 2 || list[i]->pid == 4));
        CHECK((list[i]->ended.unfinished != 0) == (list[i]->pid == 3));
    }
    registry_free_list(list, n);
    registry_clear();
}

static void add_crowd(void) {
    for (unsigned i = 0; i < 3 * REGISTRY_FINISHED_MAX; i++)
        add_finished((pid_t)(1 + i), NULL);
}

/* As many may stay as do not wake the thread, and the one that others are folded into. */
static void is_folded_soon(void) {
    const size_t most = REGISTRY_FINISHED_MAX + REGISTRY_FINISHED_MORE + 1;
    size_t n = SIZE_MAX;
    for (int ms = 0; ms < 20000 && n > most; ms++) {
        usleep(1000);
        CHECK_UINT(weight_now(&n), 3 * REGISTRY_FINISHED_MAX * WEIGHT);
    }
    CHECK(n <= most);
    registry_clear();
}

/* The thread that folds is woken when there are too many, and when a query lets those go that it
 * held while the thread looked. */
static void test_thread(void) {
    size_t n;
    CHECK(finished_start());
    add_crowd();
    registry_give_up(); /* looks at them */
    is_folded_soon();
    add_crowd();
    struct process **held = registry_list(NULL, NULL, &n);
    registry_give_up();
    usleep(50000); /* it should look in vain; if it comes later, it sees the same */
    registry_free_list(held, n);
    is_folded_soon();
    finished_stop();
}

int main(void) {
    size_t held, n;
    alarm(120);
    test_long_merge();
    test_names();
    test_given_up();
    for (pid_t pid = 1; pid <= (pid_t)PROCESSES; pid++)
        add_finished(pid, NULL);

    struct process **list = registry_list(NULL, NULL, &held);
    fold_all();
    CHECK(held == PROCESSES);
    CHECK(weight_of(list, held) == PROCESSES * WEIGHT); /* each for itself, while they are held */
    CHECK(weight_now(&n) == PROCESSES * WEIGHT && n == PROCESSES);

    registry_free_list(list, held);
    add_finished(PROCESSES + 1, NULL);
    list = registry_list(NULL, NULL, &held);
    struct process *last = list[held - 1];
    registry_ref(last);
    registry_free_list(list, held);
    fold_all(); /* all that have waited go */
    registry_put(last);
    CHECK(weight_now(&n) == (PROCESSES + 1) * WEIGHT);
    CHECK(n <= REGISTRY_FINISHED_MAX + 2); /* and `last`, and the one that they are folded into */

    registry_clear();
    test_thread();
    return check_report();
}

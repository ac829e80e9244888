/*
 * folding_test.c - finished processes are folded when nobody looks at them, and only then: weight
 * is in one of them at any time, and none stays by itself for good.
 */
#include <stdlib.h>
#include <string.h>

#include "common/tree/summary.h"
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
    registry_give_up();
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

int main(void) {
    size_t held, n;
    test_names();
    for (pid_t pid = 1; pid <= (pid_t)PROCESSES; pid++)
        add_finished(pid, NULL);

    struct process **list = registry_list(NULL, NULL, &held);
    registry_give_up(); /* folds what is too old */
    CHECK(held == PROCESSES);
    CHECK(weight_of(list, held) == PROCESSES * WEIGHT); /* each for itself, while they are held */
    CHECK(weight_now(&n) == PROCESSES * WEIGHT && n == PROCESSES);

    registry_free_list(list, held);
    add_finished(PROCESSES + 1, NULL);
    list = registry_list(NULL, NULL, &held);
    struct process *last = list[held - 1];
    registry_ref(last);
    registry_free_list(list, held);
    registry_finish(last); /* one more: all that have waited go */
    registry_put(last);
    CHECK(weight_now(&n) == (PROCESSES + 1) * WEIGHT);
    CHECK(n <= REGISTRY_FINISHED_MAX + 2); /* and `last`, and the one that they are folded into */

    registry_clear();
    return check_report();
}

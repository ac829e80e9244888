/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * moment_test.c - an answer shows a process as it was at one moment: what its counters say and the
 * weight of its tree belong together, also while it goes on.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/tree/summary.h"
#include "common/wire/wire.h"
#include "daemon/answers/config.h"
#include "daemon/answers/process_copies.h"
#include "daemon/answers/query.h"
#include "daemon/ingest/registry.h"
#include "tests/check.h"

struct daemon_config config = {.phi = 0.01, .epsilon = 0.001, .summary = "exact"};

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

static struct process *process;

/* Whenever nobody looks, the process does one walk more. */
static void go_on(void) {
    struct mcct_cursor cursor;
    mcct_cursor_open(process->tree, &cursor);
    mcct_push(&cursor, 1);
    mcct_credit(&cursor, 1);
    mcct_cursor_close(&cursor);
    process->ended.counter[WIRE_WALKS]++;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex) {
    if (process != NULL && mutex == &process->lock)
        go_on();
    return __real_pthread_mutex_unlock(mutex);
}

static void make_process(void) {
    const struct mcct_params params = {.summary = &summary_exact, .epsilon = 0.001};
    struct process like = {.pid = 1, .runs = 1, .exe = strdup("/bin/x"), .tree = mcct_new(&params)};
    process = process_new_finished(&like);
    CHECK(process != NULL);
    registry_add(process);
}

static void test_profile(void) {
    struct process_copies copies;
    CHECK(process_copies_take(&copies, &process, 1, 0));
    CHECK(copies.part[0].process.walks > 0);
    CHECK_UINT(copies.part[0].process.walks, copies.part[0].copy.stats.total);
    process_copies_free(&copies);
}

static uint64_t number_after(const char *text, const char *name) {
    const char *at = strstr(text, name);
    CHECK(at != NULL);
    return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void test_list(void) {
    struct query query;
    struct query_error error;
    char *text;
    size_t bytes;
    query_init(&query, 0);
    FILE *out = open_memstream(&text, &bytes);
    CHECK(query_list(&query, out, &error) == QUERY_OK);
    fclose(out);
    CHECK(number_after(text, "\"walks\":") > 0);
    CHECK_UINT(number_after(text, "\"walks\":"), number_after(text, "\"total_ns\":"));
    free(text);
}

int main(void) {
    make_process();
    go_on();
    test_profile();
    test_list();
    process = NULL;
    registry_clear();
    return check_report();
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * no_list_test.c - where there is no memory for a list of processes, that is what is said: not that
 * there are none.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/tree/summary.h"
#include "daemon/answers/config.h"
#include "daemon/answers/control.h"
#include "daemon/answers/metrics.h"
#include "daemon/answers/query.h"
#include "daemon/answers/query_threads.h"
#include "daemon/ingest/registry.h"
#include "tests/check.h"

struct daemon_config config = {.phi = 0.01, .epsilon = 0.001, .summary = "exact"};

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static bool no_memory;

void *__wrap_calloc(size_t n, size_t size) {
    return no_memory ? NULL : __real_calloc(n, size);
}

static enum query_status ask_to_change(const struct query *query, FILE *out,
                                       struct query_error *error) {
    const struct control control = {.has_rate = true, .rate = 100};
    struct query one = *query;
    one.pid = 1;
    return control_apply(&one, &control, out, error);
}

static enum query_status (*const questions[])(const struct query *query, FILE *out,
                                              struct query_error *error) = {
    query_hot, query_list, query_threads, metrics_write, ask_to_change};

static void make_process(void) {
    const struct mcct_params params = {.summary = &summary_exact, .epsilon = 0.001};
    struct process like = {.pid = 1, .runs = 1, .exe = strdup("/bin/x"), .tree = mcct_new(&params)};
    struct process *process = process_new_finished(&like);
    CHECK(process != NULL);
    registry_add(process);
}

int main(void) {
    struct query query;
    FILE *out = fopen("/dev/null", "we");
    make_process();
    query_init(&query, 0);
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        struct query_error error = {0};
        no_memory = true;
        enum query_status status = questions[i](&query, out, &error);
        no_memory = false;
        CHECK_UINT(status, QUERY_FAILED);
        CHECK(strstr(error.text, "no memory") != NULL);
    }
    fclose(out);
    registry_clear();
    return check_report();
}

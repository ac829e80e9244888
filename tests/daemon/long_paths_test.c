/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * long_paths_test.c - contexts by their numbers, of a process that says that all of them are one
 * path: an answer has as many calls as a process can have contexts, not so many for each number.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/code/frame.h"
#include "common/tree/summary.h"
#include "common/wire/wire.h"
#include "daemon/answers/config.h"
#include "daemon/answers/query_numbers.h"
#include "daemon/ingest/registry.h"
#include "tests/check.h"

#define TAG   0x40001234u
#define DEPTH 50000u

struct daemon_config config = {.phi = 0.01, .epsilon = 0.001, .summary = "exact"};

/* Node 1 is the root, each other one a call from the one before it. */
static struct numbered_table *one_path(void) {
    const struct frame_key key = {.site = 0x1000};
    struct numbered_table *table = calloc(1, sizeof *table);
    CHECK(table != NULL);
    *table = (struct numbered_table){.tag = TAG, .first = 1, .n = DEPTH + 1};
    table->node = calloc(table->n, sizeof *table->node);
    CHECK(table->node != NULL);
    table->node[0].kind = NUMBERED_ROOT;
    for (uint32_t i = 1; i < table->n; i++)
        table->node[i] = (struct numbered_node){
            .kind = NUMBERED_PLACE, .parent = i, .frame = frame_intern(&key)};
    return table;
}

static void make_process(void) {
    const struct mcct_params params = {.summary = &summary_exact, .epsilon = 0.001};
    struct process like = {.pid = 1,
                           .uid = getuid(),
                           .runs = 1,
                           .exe = strdup("/bin/x"),
                           .frames = frame_own_user(),
                           .tree = mcct_new(&params)};
    struct process *process = process_new_finished(&like);
    CHECK(process != NULL);
    process->numbered.tables = one_path();
    process->numbered.nodes = DEPTH + 1;
    process->numbered.n_tables = 1;
    registry_add(process);
}

/* `n` times the number of the one with so many callers. Returns the bytes of the answer. */
static size_t ask(unsigned n, uint32_t callers, enum query_status expected,
                  struct query_error *error) {
    struct query_number_list list = {.n = n};
    struct query query;
    char *answer = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&answer, &bytes);
    for (unsigned i = 0; i < n; i++)
        list.number[i] = (uint64_t)TAG << 32 | (callers + 2);
    query_init(&query, getuid());
    *error = (struct query_error){0};
    CHECK_UINT(query_numbers(&query, &list, out, error), expected);
    fclose(out);
    free(answer);
    return bytes;
}

int main(void) {
    struct query_error error;
    make_process();
    CHECK(ask(QUERY_NUMBERS_MAX, 3, QUERY_OK, &error) > 0);
    CHECK(ask(2, DEPTH - 1, QUERY_OK, &error) > 0);
    CHECK(ask(WIRE_CONTEXTS / DEPTH + 1, DEPTH - 1, QUERY_BAD, &error) == 0);
    CHECK_STR(error.text, "the paths of these contexts have more than 1048576 calls together: ask "
                          "for fewer at once");
    registry_clear();
    return check_report();
}

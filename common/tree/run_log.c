/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * run_log.c - runs back to back, merged where they lie.
 */
#include "common/tree/run_log.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST (1u << 16)

void run_log_init(struct run_log *log, struct budget *budget) {
    *log = (struct run_log){.budget = budget};
}

static size_t bytes_for(size_t room) {
    return (room + room / 2) * sizeof(uint64_t);
}

void run_log_free(struct run_log *log) {
    free(log->word);
    free(log->aside);
    budget_give(log->budget, bytes_for(log->room));
    run_log_init(log, log->budget);
}

static bool grow(struct run_log *log, size_t room) {
    size_t more = bytes_for(room) - bytes_for(log->room);
    if (!budget_take(log->budget, more))
        return false;
    uint64_t *word = realloc(log->word, room * sizeof *word);
    uint64_t *aside = realloc(log->aside, room / 2 * sizeof *aside);
    log->word = word != NULL ? word : log->word;
    log->aside = aside != NULL ? aside : log->aside;
    if (word == NULL || aside == NULL) {
        budget_give(log->budget, more);
        return false;
    }
    log->room = room;
    return true;
}

uint64_t *run_log_room(struct run_log *log, size_t words) {
    size_t room = log->room != 0 ? log->room : ROOM_FIRST;
    while (room < log->n + words + 1)
        room += room / 4;
    if (log->runs == RUN_LOG_RUNS || (room > log->room && !grow(log, room)))
        return NULL;
    return log->word + log->n;
}

/* The shorter one goes aside, and the result grows towards the longer one. */
static void fold_last(struct run_log *log) {
    size_t first = log->start[log->runs - 2];
    uint64_t *a = log->word + first, *b = log->word + log->start[log->runs - 1];
    size_t na = (size_t)(b - a), nb = log->n - log->start[log->runs - 1], n;
    if (na <= nb) {
        memcpy(log->aside, a, na * sizeof *a);
        n = run_merge(a, log->aside, b);
    } else {
        memcpy(log->aside, b, nb * sizeof *b);
        memmove(a + nb, a, na * sizeof *a);
        n = run_merge(a, a + nb, log->aside);
    }
    log->n = first + n + 1;
    log->runs--;
}

static bool is_worth_folding(const struct run_log *log) {
    if (log->runs < 2)
        return false;
    size_t before = log->start[log->runs - 2], last = log->start[log->runs - 1];
    return log->n - last >= (last - before) / 2;
}

void run_log_add(struct run_log *log, size_t n, uint64_t weight) {
    log->start[log->runs++] = log->n;
    log->n += n + 1;
    log->word[log->n - 1] = RUN_END;
    log->weight += weight;
    log->added += n + 1;
    while (is_worth_folding(log))
        fold_last(log);
}

const uint64_t *run_log_all(struct run_log *log) {
    while (log->runs > 1)
        fold_last(log);
    return log->word;
}

void run_log_clear(struct run_log *log) {
    log->n = log->runs = log->added = 0;
    log->weight = 0;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_keeper.c - a thread that wakes a little after each hour, while all its minutes are kept.
 */
#include "daemon/state/history_keeper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/options.h"
#include "common/wire/wire.h"
#include "daemon/history/history.h"
#include "daemon/answers/query.h"
#include "daemon/ingest/registry.h"
#include "daemon/ingest/windows.h"
#include "daemon/state/timed_thread.h"

#define HOUR_NS (3600ull * CLOCK_SECOND)
#define LATER   3ull /* seconds: what the hour's last samples take to be credited */
#define LEAST   2ull /* shorter ones are not kept at the end */

static struct {
    uint64_t kept_ns; /* up to here, on the clock of sub-windows */
    struct timed_thread thread;
} keeper = {.thread = TIMED_THREAD_NONE};

/* Those whose weights are added up. */
struct group {
    uid_t uid;
    uint32_t collector;
    uint32_t clock;
};

static struct group group_of(const struct process *p) {
    uint32_t clock = p->sampling.clock; /* what weights are: both of CPU time are the same */
    return (struct group){p->uid, p->sampling.collector,
                          wire_clock_sleeps(clock) ? clock : WIRE_CLOCK_CPU};
}

static bool is_same(const struct group *a, const struct group *b) {
    return a->uid == b->uid && a->collector == b->collector && a->clock == b->clock;
}

static bool has_windows(const struct process *process, const void *unused) {
    (void)unused;
    return process->subwindows != NULL;
}

struct sum {
    uint64_t from_ns, to_ns, weight;
};

/* Minutes have all that fine sub-windows have, but for the current one. */
static void add(void *arg, const struct subwindows_cell *cell) {
    struct sum *sum = arg;
    if (cell->width_ns == SUBWINDOWS_COARSE_NS && cell->begin_ns < sum->to_ns &&
        cell->begin_ns + cell->width_ns > sum->from_ns)
        sum->weight += cell->weight;
}

static uint64_t weigh(struct process *const *processes, size_t n, uint64_t from_ns,
                      uint64_t to_ns) {
    struct sum sum = {from_ns, to_ns, 0};
    uint64_t now = clock_now();
    for (size_t i = 0; i < n; i++)
        windows_each_cell(processes[i], now, add, &sum);
    return sum.weight;
}

static void say(const char *why) {
    static bool said; /* one line is enough */
    if (!said)
        complain("an hour can't be kept: %s", why);
    said = true;
}

static void keep_group(const struct group *group, struct process *const *processes, size_t n,
                       uint64_t from_ns, uint64_t to_ns, enum symbol_patience patience) {
    struct query query;
    struct query_error error = {""};
    query_init(&query, group->uid);
    query.since_ns = windows_day_of_time(from_ns);
    query.until_ns = windows_day_of_time(to_ns);
    query.format = format_find("pprof");
    query.patience = patience;
    const struct history_cell cell = {.begin_s = query.since_ns / CLOCK_SECOND,
                                      .end_s = query.until_ns / CLOCK_SECOND,
                                      .weight = weigh(processes, n, from_ns, to_ns),
                                      .uid = group->uid,
                                      .collector = group->collector,
                                      .clock = group->clock};
    if (cell.weight == 0 || cell.begin_s >= cell.end_s)
        return;
    FILE *file = history_begin(&cell);
    if (file == NULL) {
        say(strerror(errno));
        return;
    }
    bool written = query_write(&query, processes, n, file, &error) == QUERY_OK;
    if (!written)
        say(error.text);
    if (!history_commit(file, written))
        say(strerror(errno));
}

/* Processes in the order of `list` that are of the group of its first one. Returns how many. */
static size_t take_group(struct process **list, size_t n, const struct group *group) {
    size_t same = 0;
    for (size_t i = 0; i < n; i++) {
        struct process *process = list[i];
        const struct group other = group_of(process);
        if (!is_same(group, &other))
            continue;
        list[i] = list[same];
        list[same++] = process;
    }
    return same;
}

static void keep(uint64_t from_ns, uint64_t to_ns, enum symbol_patience patience) {
    size_t n, done = 0;
    struct process **list = registry_list(has_windows, NULL, &n);
    while (list != NULL && done < n) {
        const struct group group = group_of(list[done]);
        size_t same = take_group(list + done, n - done, &group);
        keep_group(&group, list + done, same, from_ns, to_ns, patience);
        done += same;
    }
    registry_free_list(list, n);
}

/* Until the hour after `now` is over, and a little longer. False: hcctd ends. */
static bool wait_hour(uint64_t *hour_ns) {
    uint64_t mono = clock_now(), now = windows_time(mono);
    *hour_ns = (keeper.kept_ns / HOUR_NS + 1) * HOUR_NS;
    uint64_t due = mono + (*hour_ns > now ? *hour_ns - now : 0) + LATER * CLOCK_SECOND;
    return timed_thread_wait(&keeper.thread, due);
}

static void *run(void *unused) {
    uint64_t hour_ns;
    (void)unused;
    while (wait_hour(&hour_ns)) {
        keep(keeper.kept_ns, hour_ns, SYMBOL_COMPLETE);
        keeper.kept_ns = hour_ns;
    }
    return NULL;
}

bool history_keeper_start(void) {
    if (!history_is_open())
        return true;
    keeper.kept_ns = windows_begin();
    return timed_thread_start(&keeper.thread, run);
}

void history_keeper_stop(void) {
    if (!timed_thread_stop(&keeper.thread))
        return;
    uint64_t now = windows_time(clock_now());
    if (now > keeper.kept_ns + LEAST * CLOCK_SECOND)
        keep(keeper.kept_ns, now, SYMBOL_SOON);
}

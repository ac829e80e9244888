/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_test.c - what goes into a trace comes out of it: the same trees, whatever the order of
 * threads and processes; and what can't go in is counted.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/code/frame.h"
#include "common/code/jit_names.h"
#include "common/trace/trace_apply.h"
#include "common/trace/trace_reader.h"
#include "common/trace/trace_tokens.h"
#include "common/trace/trace_writer.h"
#include "common/tree/mcct.h"
#include "common/tree/summary.h"
#include "tests/check.h"
#include "tests/tree/nodes.h"
#include "tests/tree/world.h"

#define PROCESSES 2
#define THREADS   4 /* the first two are the first process's */
#define FRAMES    40

static char path[64];
static uint32_t frames[FRAMES];

/* In batches, as calls in bursts come, counts are the same but evictions are not: all are kept. */
static bool in_bursts;

static struct mcct *new_tree(void) {
    struct mcct *tree = mcct_new(
        &(struct mcct_params){.summary = in_bursts ? &summary_exact : &summary_space_saving,
                              .epsilon = 0.02,
                              .phi = 0.1});
    if (tree == NULL)
        abort();
    return tree;
}

static void make_frames(void) {
    for (uint32_t i = 0; i < FRAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "made %u", i);
        struct frame_key key = {.routine = 0x1000 * i + 16, .site = i};
        if (i % 3 == 0)
            key = (struct frame_key){
                .routine_module = UINT32_MAX, .routine = jit_name_intern(name), .site = i};
        frames[i] = frame_intern(&key);
    }
    frames[FRAMES - 1] = FRAME_OVERFLOW;
}

/* ---- both at once: trees and their trace ---- */

struct live {
    struct trace_writer *writer;
    struct mcct *tree[PROCESSES];
    struct trace_process *process[PROCESSES];
    struct mcct_cursor cursor[THREADS];
    struct trace_thread thread[THREADS];
};

static struct profile_process about(uint32_t i) {
    return (struct profile_process){.exe = i == 0 ? "/bin/first" : "/bin/second",
                                    .command = i == 0 ? "first" : "second",
                                    .pid = 100 + i,
                                    .collector = "calls",
                                    .every = 7};
}

static void begin(struct live *live) {
    char error[256] = "";
    *live = (struct live){.writer = trace_writer_open(path, error, sizeof error)};
    CHECK_STR(error, "");
    for (uint32_t i = 0; i < PROCESSES; i++) {
        const struct profile_process it = about(i);
        live->tree[i] = new_tree();
        live->process[i] = trace_process_begin(live->writer, &it, 1000 + i, 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        mcct_cursor_open(live->tree[i / 2], &live->cursor[i]);
        trace_thread_begin(&live->thread[i], live->process[i / 2]);
    }
}

static void event(struct mcct_cursor *cursor, struct trace_thread *thread, struct rng *rng) {
    uint32_t frame = frames[FRAMES - 1 - rng_below(rng, FRAMES)];
    uint64_t n = 1 + rng_below(rng, 3);
    switch (rng_below(rng, 10)) {
    case 0:
        mcct_push(cursor, frame);
        trace_push(thread, frame);
        break;
    case 1:
        n = rng_below(rng, 4) == 0 ? 1ull << 40 : n;
        mcct_credit(cursor, n);
        trace_credit(thread, n);
        break;
    case 2:
        mcct_repeat(cursor, n);
        trace_repeat(thread, n);
        break;
    case 3:
        n += rng_below(rng, 8) == 0 ? 1ull << 30 : 0; /* beyond the root, and beyond a token */
        mcct_pop(cursor, n);
        trace_pop(thread, n);
        break;
    case 4:
    case 5:
    case 6:
        mcct_pop(cursor, 1);
        trace_return(thread);
        break;
    default:
        mcct_push(cursor, frame);
        mcct_credit(cursor, 1);
        trace_call(thread, frame);
    }
}

static void drain(struct live *live, uint32_t i, uint32_t events, struct rng *rng) {
    for (uint32_t n = 0; n < events; n++) {
        if (in_bursts && rng_below(rng, 200) == 0) {
            uint32_t each = 1 + (uint32_t)rng_below(rng, 3) * 1000;
            mcct_count_as(&live->cursor[i], each);
            trace_count_as(&live->thread[i], each);
        }
        event(&live->cursor[i], &live->thread[i], rng);
    }
    trace_thread_leave(&live->thread[i]);
}

static void end_process(struct live *live, uint32_t i) {
    struct profile_process it = about(i);
    it.waits = 5 + i;
    trace_process_end(live->process[i], &it, 77);
    live->process[i] = NULL;
}

static void free_live(struct live *live) {
    for (uint32_t i = 0; i < PROCESSES; i++)
        mcct_free(live->tree[i]);
}

/* ---- what comes out ---- */

struct comparison {
    const struct mcct *got;
    const uint32_t *ids; /* of frames in `got` */
    uint32_t n_ids;
    uint32_t node_of[1u << 20]; /* in `got`, by node of the other */
    bool same;
};

static uint32_t number_of(const struct comparison *c, uint32_t id) {
    for (uint32_t i = 1; i < c->n_ids; i++)
        if (c->ids[i] == id)
            return i;
    return 0;
}

static bool compare_node(void *arg, uint32_t node, const struct mcct_view *want) {
    struct comparison *c = arg;
    struct mcct_view got;
    uint32_t at = MCCT_ROOT;
    if (want->parent != 0)
        at = node_child(c->got, c->node_of[want->parent], number_of(c, want->frame));
    c->same = at != 0 && node < HCCT_ARRAY_LEN(c->node_of);
    if (!c->same)
        return false;
    c->node_of[node] = at;
    node_view(c->got, at, &got);
    c->same =
        got.count == want->count && got.error == want->error && got.monitored == want->monitored;
    return c->same;
}

static void compare(const struct mcct *got, const struct mcct *want,
                    const struct trace_reader *reader) {
    static struct comparison c;
    struct mcct_stats a, b;
    c = (struct comparison){.got = got, .same = true};
    c.ids = trace_reader_frames(reader, &c.n_ids);
    mcct_stats(got, &a);
    mcct_stats(want, &b);
    CHECK_UINT(a.nodes, b.nodes);
    CHECK_UINT(a.total, b.total);
    CHECK_UINT(a.updates, b.updates);
    CHECK_UINT(a.unseen, b.unseen);
    CHECK(b.nodes > 20);
    CHECK(mcct_walk(want, compare_node, &c));
    CHECK(c.same);
}

struct again {
    struct mcct *tree[PROCESSES + 1];
    struct mcct_cursor cursor[THREADS + 1];
    uint32_t threads_ended, processes_ended;
};

static void take(struct again *again, const struct trace_record *record) {
    switch (record->kind) {
    case TRACE_PROCESS:
        again->tree[record->process] = new_tree();
        CHECK_STR(record->about->process.command, record->process == 1 ? "first" : "second");
        CHECK_UINT(record->about->since_ns, 999 + record->process);
        break;
    case TRACE_THREAD:
        mcct_cursor_open(again->tree[record->process], &again->cursor[record->thread]);
        break;
    case TRACE_EVENTS:
        trace_apply(&again->cursor[record->thread], record->tokens, record->n);
        break;
    case TRACE_THREAD_END:
        mcct_cursor_close(&again->cursor[record->thread]);
        again->threads_ended++;
        break;
    default:
        CHECK_UINT(record->kind, TRACE_PROCESS_END);
        CHECK_UINT(record->about->process.waits, 4 + record->process);
        CHECK_UINT(record->about->process.every, 7);
        CHECK_UINT(record->about->duration_ns, 77);
        again->processes_ended++;
    }
}

static void same_trees(bool bursts) {
    in_bursts = bursts;
    struct live live;
    struct again again = {0};
    struct trace_record record;
    struct trace_status status;
    struct rng rng = {4711};
    char error[512] = "";
    enum trace_read end;
    begin(&live);
    for (uint32_t i = 0; i < 400; i++)
        drain(&live, rng_below(&rng, THREADS), rng_below(&rng, 300), &rng);
    drain(&live, 3, 3 * TRACE_BUFFER_WORDS, &rng); /* more than the buffer holds */
    mcct_cursor_close(&live.cursor[0]);
    trace_thread_end(&live.thread[0]);
    drain(&live, 1, 100, &rng);
    trace_thread_end(&live.thread[1]);
    mcct_cursor_close(&live.cursor[1]);
    end_process(&live, 0);
    end_process(&live, 1); /* its threads have not ended */
    CHECK(trace_writer_close(live.writer, &status));
    CHECK_STR(status.error, "");
    CHECK_UINT(status.lost, 0);
    struct trace_reader *reader = trace_reader_open(path, error, sizeof error);
    CHECK_STR(error, "");
    while ((end = trace_reader_next(reader, &record)) == TRACE_READ_RECORD)
        take(&again, &record);
    CHECK_UINT(end, TRACE_READ_END);
    CHECK(memcmp(&status.kept, trace_reader_totals(reader), sizeof status.kept) == 0);
    CHECK_UINT(again.threads_ended, 2);
    CHECK_UINT(again.processes_ended, 2);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        compare(again.tree[i + 1], live.tree[i], reader);
        mcct_free(again.tree[i + 1]);
    }
    trace_reader_close(reader);
    free_live(&live);
}

/* ---- failures ---- */

static uint64_t fill(struct live *live, struct rng *rng, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) /* weights that do not compress */
        trace_credit(&live->thread[0], 1ull << 40 | rng_below(rng, UINT32_MAX));
    trace_thread_leave(&live->thread[0]);
    return n;
}

static void end_all(struct live *live, struct trace_status *status) {
    end_process(live, 0);
    end_process(live, 1);
    CHECK(!trace_writer_close(live->writer, status));
    free_live(live);
}

static void full_device(void) {
    struct live live;
    struct trace_status status;
    struct rng rng = {1};
    char saved[sizeof path];
    if (access("/dev/full", W_OK) != 0)
        return;
    strcpy(saved, path);
    char error[256] = "";
    CHECK(trace_writer_open("/dev/full", error, sizeof error) == NULL); /* not even its head */
    CHECK(strstr(error, "No space left on device") != NULL);
    CHECK(trace_writer_open("/nonexistent/x", error, sizeof error) == NULL);
    CHECK(strstr(error, "/nonexistent/x: No such file") != NULL);
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){.rlim_cur = 3u << 20, .rlim_max = old.rlim_max};
    begin(&live);
    setrlimit(RLIMIT_FSIZE, &small);
    uint64_t all = fill(&live, &rng, 1000);
    trace_writer_status(live.writer, &status);
    CHECK_STR(status.error, "");
    CHECK_UINT(status.lost, 0);
    all += fill(&live, &rng, 2000000);
    trace_writer_status(live.writer, &status);
    CHECK(strstr(status.error, "File too large") != NULL);
    CHECK(trace_totals_events(&status.kept) > 1000);
    CHECK_UINT(trace_totals_events(&status.kept) + status.lost, all);
    all += fill(&live, &rng, 10);
    end_all(&live, &status);
    CHECK_UINT(trace_totals_events(&status.kept) + status.lost, all);
    setrlimit(RLIMIT_FSIZE, &old);
    struct trace_record record;
    enum trace_read end;
    struct trace_reader *reader = trace_reader_open(path, error, sizeof error);
    while ((end = trace_reader_next(reader, &record)) == TRACE_READ_RECORD)
        ;
    CHECK_UINT(end, TRACE_READ_CUT);
    uint64_t there = trace_totals_events(trace_reader_totals(reader));
    CHECK(there >= trace_totals_events(&status.kept) && there < all);
    CHECK(strstr(trace_reader_error(reader), "ends early") != NULL);
    trace_reader_close(reader);
}

/* Without a trace, all functions do nothing. */
static void no_trace(void) {
    struct trace_thread thread;
    trace_thread_begin(&thread, NULL);
    trace_call(&thread, 5);
    trace_pop(&thread, 1ull << 40);
    trace_credit(&thread, 3);
    trace_count_as(&thread, 3);
    trace_thread_leave(&thread);
    trace_thread_end(&thread);
    trace_process_end(NULL, NULL, 0);
    CHECK(trace_writer_close(NULL, NULL));
}

int main(void) {
    strcpy(path, "/tmp/hcct-trace-XXXXXX");
    close(mkstemp(path));
    make_frames();
    same_trees(false);
    same_trees(true);
    in_bursts = false;
    full_device();
    no_trace();
    unlink(path);
    return check_report();
}

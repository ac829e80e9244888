/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * deferred_unwind.c - stacks of all users, unwound in turns.
 */
#include "daemon/ingest/deferred_unwind.h"

#include <stdlib.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/wire/wire.h"
#include "daemon/ingest/registry.h"
#include "daemon/ingest/windows.h"

#define PROCESS_BYTES_MAX                                                                          \
    (DEFERRED_USER_BYTES_MAX / 2) /* on their way at a time from one process */
#define PATIENCE_S 5              /* of a query */

/* The worker failed over so many of a process's stacks: it gets no more of them. */
#define STRIKES_OUT 2

static struct {
    struct elf_pool *pool;
    pthread_mutex_t lock;
    pthread_cond_t done;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

/* ---- credit, under the process's lock ---- */

/* A stack in the tree, and in the current sub-window if there is one. */
struct place {
    struct mcct_cursor cursor, subwindow_cursor;
};

/* Into the trace, too, where all stacks of a process are one thread's. */
static void push_frame(struct process *p, struct place *place, uint32_t frame) {
    mcct_push(&place->cursor, frame);
    if (place->subwindow_cursor.tree != NULL)
        mcct_push(&place->subwindow_cursor, frame);
    trace_push(&p->deferred_trace, frame);
}

static void push(struct process *p, struct place *place, uint64_t routine, uint64_t site) {
    push_frame(p, place, addresses_frame(p->addresses, routine, site));
}

static void open_place(struct process *p, struct place *place) {
    struct mcct *subwindow = p->subwindows != NULL ? subwindows_tree(p->subwindows) : NULL;
    place->subwindow_cursor.tree = NULL;
    mcct_cursor_open(p->tree, &place->cursor);
    if (subwindow != NULL)
        mcct_cursor_open(subwindow, &place->subwindow_cursor);
    else if (p->subwindows != NULL)
        subwindows_miss(p->subwindows);
}

static void credit_place(struct place *place, uint64_t weight) {
    mcct_credit(&place->cursor, weight);
    mcct_cursor_close(&place->cursor);
    if (place->subwindow_cursor.tree == NULL)
        return;
    mcct_credit(&place->subwindow_cursor, weight);
    mcct_cursor_close(&place->subwindow_cursor);
}

/* What the block weighs is known elsewhere. */
static void name_block(struct process *p, const struct context_root *root,
                       const struct unwound_stack *walk, uint64_t block) {
    struct heap_cursor cursor = {0};
    uint32_t outer[CONTEXT_ROOT_FRAMES];
    unsigned n = context_root_frames(p->addresses, root, outer);
    for (unsigned i = 0; i < n; i++)
        heap_push(p->heap, &cursor, outer[i]);
    if (walk->mark != 0)
        heap_push(p->heap, &cursor, addresses_frame(p->addresses, walk->mark, 0));
    for (uint32_t i = walk->n; i-- > 0;)
        heap_push(p->heap, &cursor,
                  addresses_frame(p->addresses, walk->frames[i].routine, walk->frames[i].site));
    if (block != 0)
        heap_name(p->heap, &cursor, block);
    heap_close(p->heap, &cursor);
}

/* `pc` is where the innermost frame was, `root` what the context begins with, as a reader has it.
 */
static void credit_time(struct process *p, const struct context_root *root,
                        const struct unwound_stack *walk, uint64_t pc, uint64_t weight) {
    struct place place;
    uint32_t outer[CONTEXT_ROOT_FRAMES];
    open_place(p, &place);
    if (p->deferred_trace.process == NULL)
        trace_thread_begin(&p->deferred_trace, p->trace);
    unsigned n = context_root_frames(p->addresses, root, outer);
    for (unsigned i = 0; i < n; i++)
        push_frame(p, &place, outer[i]);
    if (walk->mark != 0)
        push(p, &place, walk->mark, 0);
    for (uint32_t i = walk->n; i-- > 0;)
        push(p, &place, walk->frames[i].routine, walk->frames[i].site);
    bool has_leaf_pc =
        p->sampling.lines && walk->n > 0 && !wire_is_system_call(walk->frames[0].routine);
    if (has_leaf_pc)
        push(p, &place, WIRE_LEAF_PC, pc);
    credit_place(&place, weight);
    trace_credit(&p->deferred_trace, weight);
    trace_pop(&p->deferred_trace, n + walk->n + (walk->mark != 0) + has_leaf_pc);
    trace_thread_leave(&p->deferred_trace);
}

static void credit(struct process *p, const struct unwound_stack *walk,
                   const struct raw_sample *raw) {
    addresses_at(p->addresses, raw->generation);
    if (p->heap != NULL)
        name_block(p, &raw->root, walk, raw->block);
    else
        credit_time(p, &raw->root, walk, raw->stack.pc, raw->weight);
}

static void count(struct deferred_counts *deferred, uint32_t mark) {
    deferred->credited++;
    deferred->complete += mark == 0;
    deferred->truncated += mark == WIRE_PSEUDO_TRUNCATED;
    deferred->no_module += mark == WIRE_PSEUDO_NO_MODULE;
    deferred->no_rule += mark == WIRE_PSEUDO_NO_RULE;
    deferred->bad_stack += mark == WIRE_PSEUDO_BAD_STACK;
    deferred->short_copy += mark == WIRE_PSEUDO_SHORT_COPY;
}

void deferred_unwind_refuse(struct process *p, const struct context_root *root, uint64_t n,
                            uint64_t weight) {
    static const struct unwound_stack none = {.mark = WIRE_PSEUDO_NO_RULE};
    if (n == 0)
        return;
    if (weight > 0 && p->heap == NULL) {
        addresses_at(p->addresses, 0);
        credit_time(p, root, &none, 0, weight);
    }
    p->ended.deferred.credited += n;
    p->ended.deferred.no_rule += n;
    p->ended.deferred.refused += n;
}

void deferred_unwind_take(struct process *p, struct raw_sample_list *taken) {
    struct raw_sample *raw;
    *taken = (struct raw_sample_list){0};
    while ((raw = raw_sample_list_take(&p->deferred_read)) != NULL) {
        if (p->deferred_bytes + raw->bytes > PROCESS_BYTES_MAX ||
            p->deferred_strikes >= STRIKES_OUT) {
            deferred_unwind_refuse(p, &raw->root, 1, raw->weight);
            raw_sample_free(raw);
            continue;
        }
        p->deferred_bytes += raw->bytes;
        p->deferred_queued++;
        raw_sample_list_add(taken, raw);
    }
}

/* ---- the thread ---- */

/* `walk` is NULL when there was none. Gives the stack's reference to its process back. */
static void finish(struct raw_sample *raw, const struct unwound_stack *walk) {
    struct process *p = raw->process;
    pthread_mutex_lock(&p->lock);
    windows_turn(p, clock_now());
    if (walk != NULL) {
        credit(p, walk, raw);
        count(&p->ended.deferred, walk->mark);
    } else {
        deferred_unwind_refuse(p, &raw->root, 1, raw->weight);
    }
    p->deferred_bytes -= raw->bytes;
    p->deferred_done++;
    if (!process_has_deferred(p) && !p->live) {
        (void)process_tree(p);        /* of a heap, whose last names these were */
        addresses_free(p->addresses); /* the end of the process has left them to us */
        p->addresses = NULL;
    }
    bool finished = !p->live && !process_has_deferred(p);
    pthread_mutex_unlock(&p->lock);
    if (finished)
        process_say_finished(p);
    pthread_mutex_lock(&queue.lock);
    pthread_cond_broadcast(&queue.done);
    pthread_mutex_unlock(&queue.lock);
    registry_put(p);
    raw_sample_free(raw);
}

static void unwind(struct elf_worker *worker, struct elf_job *job, void *unused) {
    struct raw_sample *raw = (struct raw_sample *)job;
    struct unwound_stack walk;
    (void)unused;
    if (raw->process->deferred_strikes < STRIKES_OUT &&
        elf_worker_unwind(worker, &raw->stack, &walk)) {
        finish(raw, &walk);
        free(walk.frames);
        return;
    }
    raw->process->deferred_strikes++;
    finish(raw, NULL);
}

static void drop(struct elf_job *job, void *unused) {
    (void)unused;
    finish((struct raw_sample *)job, NULL);
}

bool deferred_unwind_start(void) {
    static const struct elf_work work = {.run = unwind, .drop = drop};
    queue.pool = elf_pool_start("/proc/self/exe", &work, NULL);
    return queue.pool != NULL;
}

void deferred_unwind_stop(void) {
    pthread_mutex_lock(&queue.lock);
    struct elf_pool *pool = queue.pool;
    queue.pool = NULL;
    pthread_mutex_unlock(&queue.lock);
    elf_pool_stop(pool);
}

void deferred_unwind_submit(struct process *p, struct raw_sample_list *taken) {
    struct raw_sample *raw;
    while ((raw = raw_sample_list_take(taken)) != NULL) {
        registry_ref(p);
        raw->process = p;
        pthread_mutex_lock(&queue.lock);
        bool running = queue.pool != NULL;
        if (running)
            elf_pool_put(queue.pool, &raw->job);
        pthread_mutex_unlock(&queue.lock);
        if (!running)
            finish(raw, NULL);
    }
}

void deferred_unwind_wait(struct process *p) {
    struct timespec until;
    int status = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    uint64_t upto = p->deferred_queued;
    pthread_mutex_lock(&queue.lock);
    while (p->deferred_done < upto && status == 0)
        status = pthread_cond_clockwait(&queue.done, &queue.lock, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&queue.lock);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * encode_trace.c - one call graph for each process, one context for each thread.
 *
 * A call site is the number that its frame has in the trace: a frame is a function and where it was
 * called from. A process is summed up and forgotten where it ends.
 */
#include "client/commands/encode_trace.h"

#include <stdlib.h>
#include <string.h>

#include "client/commands/encode_functions.h"
#include "common/base/clock.h"
#include "common/base/memory.h"

static const char what[] = "encoded contexts";

/* The last context that was sampled while an encoding was in force. */
struct kept {
    struct context context;
    struct context_path path;
};

struct thread {
    uint32_t process; /* 0: it has ended */
    struct context context;
    struct context_path path; /* as the trace tells it */
};

/* Numbers of processes and threads begin with 1: the first item of each array is not used. */
struct process {
    bool live;
    const struct trace_about *about;
    struct encode_functions functions;
    struct adaptive adaptive;
    struct kept *kept; /* by time stamp; an empty path: none */
    uint32_t kept_room;
    uint64_t *paid; /* by function: calls of it that did something */
    uint32_t paid_room;
    uint64_t until_call, until_return; /* to the next samples */
    struct encoded sum;
};

struct coder {
    struct trace_reader *reader;
    const struct encode_options *options;
    struct encoded_trace *out;
    struct process *processes;
    struct thread *threads;
    uint32_t n_processes, processes_room, n_threads, threads_room;
    struct context_path decoded;
};

/* ---- samples ---- */

static void keep(struct process *p, const struct thread *t) {
    uint32_t time = adaptive_time(&p->adaptive);
    p->kept = memory_grow(p->kept, time, &p->kept_room, sizeof *p->kept, what);
    p->kept[time] = (struct kept){0};
    context_copy(&p->kept[time].context, &t->context);
    context_path_copy(&p->kept[time].path, &t->path);
}

static void sample(struct coder *c, struct process *p, const struct thread *t) {
    struct encoded *sum = &p->sum;
    bool decoded =
        context_decode(&t->context, &p->adaptive.graph, adaptive_now(&p->adaptive), &c->decoded);
    sum->samples++;
    sum->wrong += !decoded || !context_path_equal(&c->decoded, &t->path);
    sum->path_sum += t->path.n;
    sum->stack_sum += t->context.depth;
    if (t->path.n > sum->path_max)
        sum->path_max = t->path.n;
    if (t->context.depth > sum->stack_max)
        sum->stack_max = t->context.depth;
}

/* ---- encodings ---- */

/* Any thread that executes something. */
static void keep_one(struct coder *c, uint32_t number) {
    struct process *p = &c->processes[number];
    for (uint32_t i = 1; i < c->n_threads; i++)
        if (c->threads[i].process == number && c->threads[i].path.n > 0) {
            keep(p, &c->threads[i]);
            p->sum.kept++;
            return;
        }
    keep(p, &(struct thread){0});
}

static void renew(struct coder *c, uint32_t number) {
    struct process *p = &c->processes[number];
    struct adaptive *a = &p->adaptive;
    keep_one(c, number);
    uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const struct encoding *before = adaptive_now(a), *now;
    adaptive_renew(a);
    now = adaptive_now(a);
    for (uint32_t i = 1; i < c->n_threads; i++)
        if (c->threads[i].process == number)
            p->sum.wrong +=
                !context_translate(&c->threads[i].context, &a->graph, before, now, &c->decoded);
    p->sum.encoding_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
    if (now->max_id > p->sum.max_id)
        p->sum.max_id = now->max_id;
}

static void decode_kept(struct coder *c, struct process *p) {
    for (uint32_t time = 0; time < adaptive_time(&p->adaptive); time++) {
        struct kept *k = &p->kept[time];
        bool decoded = context_decode(&k->context, &p->adaptive.graph, p->adaptive.encoding[time],
                                      &c->decoded);
        p->sum.kept_wrong += !decoded || !context_path_equal(&c->decoded, &k->path);
        context_free(&k->context);
        context_path_free(&k->path);
    }
}

/* ---- calls and returns ---- */

static void count(struct process *p, uint32_t function, enum context_step step) {
    uint32_t before = p->paid_room;
    p->sum.calls[step]++;
    if (step == CONTEXT_FREE)
        return;
    while (function >= p->paid_room)
        p->paid = memory_grow(p->paid, p->paid_room, &p->paid_room, sizeof *p->paid, what);
    for (; before < p->paid_room; before++)
        p->paid[before] = 0;
    p->paid[function]++;
}

/* Of functions that nothing was called by. */
static uint64_t sum_leaves(const struct process *p) {
    const struct call_edges *graph = &p->adaptive.graph;
    uint64_t sum = 0;
    for (uint32_t i = 1; i <= graph->edges; i++)
        if (graph->edge[i].caller < p->paid_room)
            p->paid[graph->edge[i].caller] = 0;
    for (uint32_t i = 0; i < p->paid_room; i++)
        sum += p->paid[i];
    return sum;
}

/* False: the path is too deep. */
static bool call(struct coder *c, struct thread *t, uint32_t frame, bool unseen) {
    struct process *p = &c->processes[t->process];
    struct adaptive *a = &p->adaptive;
    uint32_t n;
    const uint32_t *ids = trace_reader_frames(c->reader, &n);
    if (t->path.n == CONTEXT_PATH_MAX)
        return false;
    uint32_t edge = call_edges_number(&a->graph, t->context.node, frame,
                                      encode_function_of(&p->functions, frame, ids, n));
    enum context_step step = context_call(&t->context, &a->graph, adaptive_now(a), edge);
    context_path_add(&t->path, edge);
    count(p, t->context.node, step);
    p->sum.unseen += unseen;
    if (step == CONTEXT_PUSHED || step == CONTEXT_REPEATED)
        adaptive_push(a, edge);
    if (--p->until_call == 0) {
        p->until_call = c->options->every;
        sample(c, p, t);
        adaptive_sample(a, edge);
    }
    if (adaptive_is_due(a))
        renew(c, t->process);
    return true;
}

static void leave(struct coder *c, struct thread *t, uint32_t n) {
    struct process *p = &c->processes[t->process];
    const struct adaptive *a = &p->adaptive;
    for (; n > 0 && t->path.n > 0; n--) {
        context_return(&t->context, &a->graph, adaptive_now(a), t->path.edge[--t->path.n]);
        if (--p->until_return == 0) {
            p->until_return = c->options->every;
            sample(c, p, t);
        }
    }
}

static bool repeat(struct coder *c, struct thread *t, uint32_t n) {
    const struct call_edges *graph = &c->processes[t->process].adaptive.graph;
    for (; n > 0 && t->path.n > 0; n--)
        if (!call(c, t, (uint32_t)graph->edge[t->path.edge[t->path.n - 1]].site, true))
            return false;
    return true;
}

/* A credit's weight, and how often it counts, say nothing of the way there. */
static bool execute(struct coder *c, struct thread *t, const uint32_t *at, size_t n) {
    const uint32_t *end = at + n;
    bool fits = true;
    for (; at < end && fits; at++) {
        uint32_t operand = TRACE_OPERAND(*at);
        switch (TRACE_VERB_OF(*at)) {
        case TRACE_CALL:
            fits = call(c, t, operand, false);
            break;
        case TRACE_PUSH:
            fits = call(c, t, operand, true);
            break;
        case TRACE_POP:
            leave(c, t, operand);
            break;
        case TRACE_REPEAT:
            fits = repeat(c, t, operand);
            break;
        case TRACE_CREDIT:
            at += operand == 0 ? 2 : 0;
            break;
        }
    }
    return fits;
}

/* ---- processes and threads ---- */

static void begin_process(struct coder *c, const struct trace_record *record) {
    c->processes =
        memory_grow(c->processes, record->process, &c->processes_room, sizeof *c->processes, what);
    struct process *p = &c->processes[record->process];
    *p = (struct process){.live = true,
                          .about = record->about,
                          .until_call = c->options->every,
                          .until_return = c->options->every};
    adaptive_start(&p->adaptive, c->options->id_bits);
    c->n_processes = record->process + 1;
}

static void begin_thread(struct coder *c, const struct trace_record *record) {
    c->threads =
        memory_grow(c->threads, record->thread, &c->threads_room, sizeof *c->threads, what);
    c->threads[record->thread] = (struct thread){.process = record->process};
    c->n_threads = record->thread + 1;
    c->processes[record->process].sum.threads++;
}

static void end_thread(struct thread *t) {
    context_free(&t->context);
    context_path_free(&t->path);
    t->process = 0;
}

static void sum_up(struct coder *c, struct process *p) {
    const struct encoding *now = adaptive_now(&p->adaptive);
    struct encoded_trace *out = c->out;
    struct encoded *sum = &p->sum;
    decode_kept(c, p);
    if (encoded_calls(sum) == 0)
        return;
    sum->command = p->about->process.command;
    sum->pid = p->about->process.pid;
    sum->functions = p->functions.n;
    sum->edges = p->adaptive.graph.edges;
    sum->encoded = now->encoded;
    sum->newer = sum->edges - now->edges;
    sum->circles = now->circles;
    sum->out_of_range = now->out_of_range;
    sum->leaf = sum_leaves(p);
    sum->encodings = adaptive_time(&p->adaptive);
    out->process = memory_grow(out->process, out->n, &out->room, sizeof *out->process, what);
    out->process[out->n++] = *sum;
}

static void end_process(struct coder *c, uint32_t number) {
    struct process *p = &c->processes[number];
    for (uint32_t i = 1; i < c->n_threads; i++)
        if (c->threads[i].process == number)
            end_thread(&c->threads[i]);
    sum_up(c, p);
    adaptive_end(&p->adaptive);
    encode_functions_free(&p->functions);
    free(p->kept);
    free(p->paid);
    p->live = false;
}

/* ---- the trace ---- */

static const char *take(struct coder *c, const struct trace_record *record) {
    switch (record->kind) {
    case TRACE_EVENTS:
        if (!execute(c, &c->threads[record->thread], record->tokens, record->n))
            return "a context is too deep";
        return NULL;
    case TRACE_PROCESS:
        begin_process(c, record);
        if (strcmp(record->about->process.collector, "calls") != 0)
            return "it is a trace of samples; calls are recorded by 'hcct record --collector calls "
                   "--trace FILE'";
        return NULL;
    case TRACE_PROCESS_END:
        end_process(c, record->process);
        return NULL;
    case TRACE_THREAD:
        begin_thread(c, record);
        return NULL;
    default: /* THREAD_END: a reader hands out nothing else */
        end_thread(&c->threads[record->thread]);
        return NULL;
    }
}

void encode_trace(struct trace_reader *reader, const struct encode_options *options,
                  struct encoded_trace *trace) {
    struct coder c = {.reader = reader, .options = options, .out = trace};
    struct trace_record record;
    *trace = (struct encoded_trace){.end = TRACE_READ_RECORD};
    while (trace->refused == NULL &&
           (trace->end = trace_reader_next(reader, &record)) == TRACE_READ_RECORD)
        trace->refused = take(&c, &record);
    for (uint32_t i = 1; i < c.n_processes; i++)
        if (c.processes[i].live)
            end_process(&c, i);
    context_path_free(&c.decoded);
    free(c.processes);
    free(c.threads);
}

void encoded_trace_free(struct encoded_trace *trace) {
    free(trace->process);
    *trace = (struct encoded_trace){0};
}

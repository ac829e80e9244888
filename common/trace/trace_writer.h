/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_writer.h - keeps what is applied to trees in a file, from which `hcct replay` makes them
 * again.
 *
 * A writer is one file; processes share it, each with its own buffer of tokens. What concerns one
 * process (trace_process_*, trace_thread_* and the inline functions) is called under that process's
 * own lock; the writer's lock is taken below it. Between the first event of a drain and
 * trace_thread_leave(), no other thread of the same process may have events, which keeps the order
 * in the file that of application.
 *
 * Nothing here blocks on anything but the file, prints or ends the daemon. The first failing write
 * (a full disk) ends the trace: it is remembered, and the events that are lost from then on are
 * counted (trace_writer_status).
 */
#ifndef HCCT_TRACE_WRITER_H
#define HCCT_TRACE_WRITER_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/trace/trace_format.h"
#include "common/wire/compiler.h"

struct trace_writer;

#define TRACE_BUFFER_WORDS 49152u /* tokens of one process that wait for the file */

/* Private but for the inline functions below. */
struct trace_process {
    uint32_t *at, *full;            /* the next free word of `words`; where it is to be emptied */
    const _Atomic uint32_t *frames; /* numbers in the file by frame id; 0: not defined yet */
    struct trace_writer *writer;
    uint32_t number;
    uint32_t words[TRACE_BUFFER_WORDS + 4];
};

/* One cursor in a tree. Owned by the caller; all zero: there is no trace, and each function below
 * does nothing. */
struct trace_thread {
    struct trace_process *process;
    uint32_t number;
    uint32_t each; /* what is credited counts so many times; 0: once */
};

struct trace_status {
    char path[PATH_MAX];
    char error[256];          /* "": all is well */
    struct trace_totals kept; /* what went to the file */
    uint64_t lost;            /* events that did not */
    uint64_t bytes;           /* of the file up to now */
};

/* ---- the file ---- */

/* Makes the file, or empties it; in a directory, one named hcctd-PID.trace. NULL: it can't be
 * made, and `error` is a sentence about it. A failed write must be an error and no death: SIGXFSZ
 * is ignored from here on, unless the program has done something else about it. */
struct trace_writer *trace_writer_open(const char *path, char *error, size_t error_room);

/* How it stands. Any thread. */
void trace_writer_status(struct trace_writer *writer, struct trace_status *status);

/* Completes the file, after trace_process_end() of all processes; false: something is missing in
 * it. `status`, which may be NULL, is filled either way. NULL is allowed and gives true. */
bool trace_writer_close(struct trace_writer *writer, struct trace_status *status);

/* ---- processes and threads ---- */

/* Of `about`, what is known at the start: pid, exe, command, collector, clock, burst, every,
 * credit. `since_ns` is wall clock time since 1970, `period` the weight of one sample as asked for
 * (0: not known). NULL: no memory; the trace has ended then, as after a failed write. */
struct trace_process *trace_process_begin(struct trace_writer *writer,
                                          const struct profile_process *about, uint64_t since_ns,
                                          uint64_t period);

/* After the last event (stacks that are unwound late, too): all of `about` but what is the tree's,
 * which replay finds out itself. Frees the process; NULL is allowed. Its trace_threads must not be
 * used any more, whether they were ended or not. */
void trace_process_end(struct trace_process *process, const struct profile_process *about,
                       uint64_t duration_ns);

/* A cursor is opened in the process's tree; `process` NULL: there is no trace. */
void trace_thread_begin(struct trace_thread *thread, struct trace_process *process);
/* Hands over what the thread has buffered, at the end of a drain. */
void trace_thread_leave(struct trace_thread *thread);
/* The cursor is closed. */
void trace_thread_end(struct trace_thread *thread);

/* What is credited from here on counts so many times. A record ends here. */
void trace_count_as(struct trace_thread *thread, uint32_t each);

/* ---- events: the same arguments as mcct_*, beside which they stand ---- */

/* Private: the number of a frame that has none yet. */
uint32_t trace_define_frame(struct trace_process *process, uint32_t frame);
/* Private: gives the process's tokens to the file. */
void trace_empty(struct trace_thread *thread);
/* Private: an operand beyond a token's range. */
void trace_large(struct trace_thread *thread, enum trace_verb verb, uint64_t operand);

/* Private: before an event. A record says by itself what its events count. */
static inline void trace_begin_record(struct trace_thread *thread) {
    struct trace_process *process = thread->process;
    if (hcct_unlikely(thread->each != 0 && process->at == process->words))
        *process->at++ = TRACE_TOKEN(TRACE_COUNT_AS, thread->each);
}

static inline void trace_put(struct trace_thread *thread, enum trace_verb verb, uint32_t operand) {
    struct trace_process *process = thread->process;
    trace_begin_record(thread);
    *process->at++ = TRACE_TOKEN(verb, operand);
    if (hcct_unlikely(process->at >= process->full))
        trace_empty(thread);
}

/* Whether what the thread does goes to a file. */
static inline bool trace_is_kept(const struct trace_thread *thread) {
    return thread->process != NULL;
}

/* The thread's next event begins a record. A trace is the same tree again because batches end with
 * records; so is it where there is no trace, and this false. */
static inline bool trace_record_begins(const struct trace_thread *thread) {
    return trace_is_kept(thread) && thread->process->at == thread->process->words;
}

static inline uint32_t trace_frame(struct trace_process *process, uint32_t frame) {
    uint32_t number = 0;
    if (hcct_likely(frame < TRACE_FRAMES_MAX))
        number = atomic_load_explicit(&process->frames[frame], memory_order_acquire);
    return hcct_likely(number != 0) ? number : trace_define_frame(process, frame);
}

/* mcct_call: a push and a credit of 1. */
static inline void trace_call(struct trace_thread *thread, uint32_t frame) {
    if (trace_is_kept(thread))
        trace_put(thread, TRACE_CALL, trace_frame(thread->process, frame));
}

static inline void trace_push(struct trace_thread *thread, uint32_t frame) {
    if (trace_is_kept(thread))
        trace_put(thread, TRACE_PUSH, trace_frame(thread->process, frame));
}

/* Private: `max` is the largest operand that one token takes. */
static inline void trace_number(struct trace_thread *thread, enum trace_verb verb, uint64_t n,
                                uint32_t max) {
    if (!trace_is_kept(thread) || n == 0)
        return;
    if (hcct_likely(n <= max))
        trace_put(thread, verb, (uint32_t)n);
    else
        trace_large(thread, verb, n);
}

static inline void trace_pop(struct trace_thread *thread, uint64_t n) {
    trace_number(thread, TRACE_POP, n, TRACE_OPERAND_MAX);
}

static inline void trace_return(struct trace_thread *thread) {
    trace_number(thread, TRACE_POP, 1, TRACE_OPERAND_MAX);
}

static inline void trace_credit(struct trace_thread *thread, uint64_t weight) {
    trace_number(thread, TRACE_CREDIT, weight, TRACE_OPERAND_MAX);
}

static inline void trace_repeat(struct trace_thread *thread, uint64_t n) {
    trace_number(thread, TRACE_REPEAT, n, TRACE_REPEAT_MAX);
}

#endif

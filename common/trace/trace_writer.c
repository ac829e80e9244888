/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_writer.c - records of what happens to the daemon's trees, one at a time under a lock.
 */
#include "common/trace/trace_writer.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/trace/trace_define.h"
#include "common/trace/trace_fields.h"
#include "common/trace/trace_out.h"
#include "common/trace/trace_tokens.h"

#define NO_MEMORY "there is no memory for it"

struct trace_writer {
    pthread_mutex_t lock;
    struct trace_out out;
    struct trace_define define;
    struct trace_totals put;  /* all that was handed over */
    struct trace_totals kept; /* of that, what is in the file for certain */
    uint64_t lost;            /* events that were not even handed over */
    uint32_t processes, threads;
    char error[256];
};

/* ---- under the lock ---- */

static void fail(struct trace_writer *writer, const char *reason) {
    if (writer->error[0] == '\0')
        snprintf(writer->error, sizeof writer->error, "the trace in %.150s ends early: %s",
                 writer->out.path, reason);
}

/* Room for a record of `n` words and its head; false: the trace has ended. */
static bool room(struct trace_writer *writer, size_t n) {
    bool written;
    if (writer->error[0] != '\0')
        return false;
    if (n > TRACE_WORDS_MAX)
        fail(writer, "a record would be too large");
    else if (!trace_out_room(&writer->out, n + 1, &written))
        fail(writer, strerror(writer->out.error));
    else if (written)
        writer->kept = writer->put;
    return writer->error[0] == '\0';
}

static void put_record(void *arg, enum trace_kind kind, const uint32_t *words, size_t n,
                       const uint32_t *more, size_t n_more) {
    struct trace_writer *writer = arg;
    const uint32_t head = TRACE_HEAD(kind, n + n_more);
    if (!room(writer, n + n_more))
        return;
    trace_out_put(&writer->out, &head, 1);
    trace_out_put(&writer->out, words, n);
    trace_out_put(&writer->out, more, n_more);
}

static void put_fields(struct trace_writer *writer, enum trace_kind kind, const uint32_t *words,
                       size_t n, const struct trace_about *about) {
    size_t n_text;
    uint32_t *text = trace_fields_write(about, &n_text);
    if (text != NULL)
        put_record(writer, kind, words, n, text, n_text);
    else
        fail(writer, NO_MEMORY);
    free(text);
}

/* The next number of a process or thread; 0: the trace has ended. */
static uint32_t next_number(struct trace_writer *writer, uint32_t *last) {
    if (*last + 1 >= TRACE_FRAMES_MAX)
        fail(writer, "there were too many processes or threads");
    return writer->error[0] == '\0' ? ++*last : 0;
}

/* ---- the file ---- */

static void ignore_file_size_signal(void) {
    struct sigaction action;
    if (sigaction(SIGXFSZ, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
        signal(SIGXFSZ, SIG_IGN);
}

struct trace_writer *trace_writer_open(const char *path, char *error, size_t error_room) {
    struct trace_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL || !trace_define_start(&writer->define, put_record, writer)) {
        free(writer);
        snprintf(error, error_room, "the trace can't be written to %.200s: " NO_MEMORY, path);
        return NULL;
    }
    ignore_file_size_signal();
    if (!trace_out_open(&writer->out, path, error, error_room)) {
        trace_define_end(&writer->define);
        free(writer);
        return NULL;
    }
    pthread_mutex_init(&writer->lock, NULL);
    return writer;
}

static void fill_status(const struct trace_writer *writer, struct trace_status *status) {
    bool failed = writer->error[0] != '\0';
    snprintf(status->path, sizeof status->path, "%s", writer->out.path);
    snprintf(status->error, sizeof status->error, "%s", writer->error);
    status->kept = failed ? writer->kept : writer->put;
    status->lost = writer->lost;
    if (failed)
        status->lost += trace_totals_events(&writer->put) - trace_totals_events(&writer->kept);
    status->bytes = writer->out.bytes;
}

void trace_writer_status(struct trace_writer *writer, struct trace_status *status) {
    pthread_mutex_lock(&writer->lock);
    fill_status(writer, status);
    pthread_mutex_unlock(&writer->lock);
}

bool trace_writer_close(struct trace_writer *writer, struct trace_status *status) {
    if (writer == NULL)
        return true;
    uint32_t totals[TRACE_TOTALS_WORDS];
    memcpy(totals, &writer->put, sizeof totals);
    put_record(writer, TRACE_END, totals, TRACE_TOTALS_WORDS, NULL, 0);
    if (writer->error[0] == '\0' && !trace_out_finish(&writer->out))
        fail(writer, strerror(writer->out.error));
    bool whole = writer->error[0] == '\0';
    if (status != NULL)
        fill_status(writer, status);
    trace_out_close(&writer->out);
    trace_define_end(&writer->define);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
    return whole;
}

/* ---- processes ---- */

struct trace_process *trace_process_begin(struct trace_writer *writer,
                                          const struct profile_process *about, uint64_t since_ns,
                                          uint64_t period) {
    const struct trace_about all = {.process = *about, .since_ns = since_ns, .period = period};
    struct trace_process *process = malloc(sizeof *process);
    pthread_mutex_lock(&writer->lock);
    if (process != NULL) {
        process->at = process->words;
        process->full = process->words + TRACE_BUFFER_WORDS;
        process->frames = writer->define.frames;
        process->writer = writer;
        process->number = next_number(writer, &writer->processes);
        put_fields(writer, TRACE_PROCESS, NULL, 0, &all);
    } else {
        fail(writer, NO_MEMORY);
    }
    pthread_mutex_unlock(&writer->lock);
    return process;
}

void trace_process_end(struct trace_process *process, const struct profile_process *about,
                       uint64_t duration_ns) {
    if (process == NULL)
        return;
    const struct trace_about all = {.process = *about, .duration_ns = duration_ns};
    struct trace_writer *writer = process->writer;
    pthread_mutex_lock(&writer->lock);
    put_fields(writer, TRACE_PROCESS_END, &process->number, 1, &all);
    pthread_mutex_unlock(&writer->lock);
    free(process);
}

/* ---- threads ---- */

void trace_thread_begin(struct trace_thread *thread, struct trace_process *process) {
    *thread = (struct trace_thread){.process = process};
    if (process == NULL)
        return;
    struct trace_writer *writer = process->writer;
    pthread_mutex_lock(&writer->lock);
    thread->number = next_number(writer, &writer->threads);
    put_record(writer, TRACE_THREAD, &process->number, 1, NULL, 0);
    pthread_mutex_unlock(&writer->lock);
}

void trace_empty(struct trace_thread *thread) {
    struct trace_process *process = thread->process;
    struct trace_writer *writer = process->writer;
    size_t n = (size_t)(process->at - process->words);
    struct trace_totals totals = {0};
    trace_tokens_count(process->words, n, UINT32_MAX, &totals);
    process->at = process->words;
    pthread_mutex_lock(&writer->lock);
    put_record(writer, TRACE_EVENTS, &thread->number, 1, process->words, n);
    if (writer->error[0] == '\0')
        trace_totals_add(&writer->put, &totals);
    else
        writer->lost += trace_totals_events(&totals);
    pthread_mutex_unlock(&writer->lock);
}

void trace_thread_leave(struct trace_thread *thread) {
    if (thread->process != NULL && thread->process->at != thread->process->words)
        trace_empty(thread);
}

void trace_count_as(struct trace_thread *thread, uint32_t each) {
    trace_thread_leave(thread);
    thread->each = each > 1 ? each : 0;
}

void trace_thread_end(struct trace_thread *thread) {
    if (thread->process == NULL)
        return;
    struct trace_writer *writer = thread->process->writer;
    trace_thread_leave(thread);
    pthread_mutex_lock(&writer->lock);
    put_record(writer, TRACE_THREAD_END, &thread->number, 1, NULL, 0);
    pthread_mutex_unlock(&writer->lock);
    *thread = (struct trace_thread){0};
}

/* ---- events ---- */

uint32_t trace_define_frame(struct trace_process *process, uint32_t frame) {
    struct trace_writer *writer = process->writer;
    pthread_mutex_lock(&writer->lock);
    uint32_t number = trace_define_number(&writer->define, frame);
    pthread_mutex_unlock(&writer->lock);
    return number;
}

void trace_large(struct trace_thread *thread, enum trace_verb verb, uint64_t operand) {
    struct trace_process *process = thread->process;
    uint32_t max = verb == TRACE_REPEAT ? TRACE_REPEAT_MAX : TRACE_OPERAND_MAX;
    if (verb == TRACE_CREDIT) { /* there is always room for three words */
        trace_begin_record(thread);
        *process->at++ = TRACE_TOKEN(TRACE_CREDIT, 0);
        *process->at++ = (uint32_t)operand;
        *process->at++ = (uint32_t)(operand >> 32);
        if (process->at >= process->full)
            trace_empty(thread);
        return;
    }
    for (; operand > max; operand -= max)
        trace_put(thread, verb, max);
    trace_put(thread, verb, (uint32_t)operand);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_reader.c - one record at a time, checked against what came before it.
 */
#include "common/trace/trace_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/array_grow.h"
#include "common/trace/trace_in.h"
#include "common/trace/trace_definitions.h"
#include "common/trace/trace_tokens.h"

struct process {
    struct trace_about about;
    uint32_t *text, *end_text; /* what `about` points into, at the start and at the end */
    bool ended;
};

struct thread {
    uint32_t process;
    bool ended;
};

struct trace_reader {
    struct trace_in in;
    struct trace_definitions defined;
    struct process **processes; /* by number; they do not move, as `about` is handed out */
    struct thread *threads;
    uint32_t n_processes, n_threads; /* the numbers after the last */
    size_t processes_room, threads_room;
    struct trace_totals totals;
    uint64_t records;      /* that have begun */
    uint64_t record_words; /* before the last one of them */
    char *path;
    char error[512];
    uint32_t words[TRACE_WORDS_MAX];
};

static const char no_memory[] = "there is no memory for it";

/* ---- start and end ---- */

struct trace_reader *trace_reader_open(const char *path, char *error, size_t error_room) {
    struct trace_reader *reader = calloc(1, sizeof *reader);
    char *name = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
    if (reader == NULL || name == NULL || !trace_definitions_start(&reader->defined, false)) {
        snprintf(error, error_room, "%s: %s", path, no_memory);
        free(reader);
        free(name);
        return NULL;
    }
    reader->path = name;
    reader->n_processes = reader->n_threads = 1;
    if (trace_in_open(&reader->in, path))
        return reader;
    snprintf(error, error_room, "%s: %s", name, reader->in.error);
    trace_reader_close(reader);
    return NULL;
}

void trace_reader_close(struct trace_reader *reader) {
    if (reader == NULL)
        return;
    for (uint32_t i = 1; i < reader->n_processes; i++) {
        free(reader->processes[i]->text);
        free(reader->processes[i]->end_text);
        free(reader->processes[i]);
    }
    free(reader->processes);
    free(reader->threads);
    trace_definitions_end(&reader->defined);
    trace_in_close(&reader->in);
    free(reader->path);
    free(reader);
}

const char *trace_reader_error(const struct trace_reader *reader) {
    return reader->error;
}

const struct trace_totals *trace_reader_totals(const struct trace_reader *reader) {
    return &reader->totals;
}

const uint32_t *trace_reader_frames(const struct trace_reader *reader, uint32_t *n) {
    *n = reader->defined.frames.n;
    return reader->defined.frames.id;
}

/* ---- processes and threads; each function gives NULL, or what is wrong ---- */

/* Room for one more item; `items` as for array_grow. */
static const char *make_room(void *items, uint32_t n, size_t *room, size_t item_bytes) {
    if (n >= TRACE_FRAMES_MAX)
        return "it has too many processes or threads";
    return array_grow(items, n, room, item_bytes) ? NULL : no_memory;
}

static const char *read_about(struct trace_about *about, uint32_t **text, const uint32_t *words,
                              size_t n) {
    uint32_t *copy = malloc(4 * n + 4);
    if (copy == NULL)
        return no_memory;
    memcpy(copy, words, 4 * n);
    *text = copy;
    return trace_fields_read(about, (const char *)copy, 4 * n) ? NULL
                                                               : "a process is not described";
}

static const char *begin_process(struct trace_reader *r, size_t n, struct trace_record *record) {
    const char *wrong =
        make_room(&r->processes, r->n_processes, &r->processes_room, sizeof(struct process *));
    struct process *process = wrong == NULL ? calloc(1, sizeof *process) : NULL;
    if (process == NULL)
        return wrong != NULL ? wrong : no_memory;
    r->processes[r->n_processes] = process;
    record->process = r->n_processes++;
    record->about = &process->about;
    return read_about(&process->about, &process->text, r->words, n);
}

static const char *end_process(struct trace_reader *r, size_t n, struct trace_record *record) {
    struct trace_about about;
    uint32_t number = n > 0 ? r->words[0] : 0;
    if (number == 0 || number >= r->n_processes || r->processes[number]->ended)
        return "a process ends that there is not";
    struct process *process = r->processes[number];
    process->ended = true;
    const char *wrong = read_about(&about, &process->end_text, r->words + 1, n - 1);
    if (wrong != NULL)
        return wrong;
    about.since_ns = process->about.since_ns;
    about.period = process->about.period;
    process->about = about;
    record->process = number;
    record->about = &process->about;
    return NULL;
}

static const char *begin_thread(struct trace_reader *r, size_t n, struct trace_record *record) {
    uint32_t process = r->words[0];
    if (n != 1 || process == 0 || process >= r->n_processes || r->processes[process]->ended)
        return "a thread begins in no process";
    const char *wrong = make_room(&r->threads, r->n_threads, &r->threads_room, sizeof *r->threads);
    if (wrong != NULL)
        return wrong;
    r->threads[r->n_threads] = (struct thread){.process = process};
    record->process = process;
    record->thread = r->n_threads++;
    return NULL;
}

static const char *find_thread(struct trace_reader *r, size_t n, struct trace_record *record) {
    uint32_t thread = n > 0 ? r->words[0] : 0;
    if (thread == 0 || thread >= r->n_threads || r->threads[thread].ended ||
        r->processes[r->threads[thread].process]->ended)
        return "it names a thread that there is not";
    record->thread = thread;
    record->process = r->threads[thread].process;
    return NULL;
}

static const char *end_thread(struct trace_reader *r, size_t n, struct trace_record *record) {
    const char *wrong = n == 1 ? find_thread(r, n, record) : "the end of a thread is none";
    if (wrong == NULL)
        r->threads[record->thread].ended = true;
    return wrong;
}

static const char *take_events(struct trace_reader *r, size_t n, struct trace_record *record) {
    const char *wrong = find_thread(r, n, record);
    if (wrong != NULL)
        return wrong;
    record->tokens = r->words + 1;
    record->n = n - 1;
    return trace_tokens_count(record->tokens, record->n, r->defined.frames.n, &r->totals)
               ? NULL
               : "an event is none, or in a frame that is not defined";
}

/* ---- records ---- */

static const char *take(struct trace_reader *r, size_t n, struct trace_record *record) {
    switch (record->kind) {
    case TRACE_PROCESS:
        return begin_process(r, n, record);
    case TRACE_THREAD:
        return begin_thread(r, n, record);
    case TRACE_EVENTS:
        return take_events(r, n, record);
    case TRACE_THREAD_END:
        return end_thread(r, n, record);
    case TRACE_PROCESS_END:
        return end_process(r, n, record);
    default:
        return "it has a record of an unknown kind";
    }
}

static enum trace_read fail(struct trace_reader *r, const char *what) {
    snprintf(r->error, sizeof r->error,
             "%.200s: the trace is corrupt: %s (record %" PRIu64 ", at byte %" PRIu64
             " when it is unpacked)",
             r->path, what, r->records, 4 * r->record_words);
    return TRACE_READ_FAILED;
}

/* What a failed read of words means. */
static enum trace_read give_up(struct trace_reader *r, enum trace_in_status status) {
    if (status == TRACE_IN_CUT) {
        snprintf(r->error, sizeof r->error,
                 "%.200s: the trace ends early, in record %" PRIu64 ": %" PRIu64
                 " events are in it; it was cut by a full disk, or the daemon that wrote it was "
                 "killed",
                 r->path, r->records, trace_totals_events(&r->totals));
        return TRACE_READ_CUT;
    }
    snprintf(r->error, sizeof r->error, "%.200s: %s", r->path, r->in.error);
    return TRACE_READ_FAILED;
}

static enum trace_read finish(struct trace_reader *r, size_t n) {
    if (n != TRACE_TOTALS_WORDS || memcmp(r->words, &r->totals, sizeof r->totals) != 0)
        return fail(r, "its events are not those that were counted");
    enum trace_in_status status = trace_in_finish(&r->in);
    return status == TRACE_IN_GOT ? TRACE_READ_END : give_up(r, status);
}

enum trace_read trace_reader_next(struct trace_reader *r, struct trace_record *record) {
    for (;;) {
        uint32_t head;
        r->records++;
        r->record_words = r->in.words;
        enum trace_in_status status = trace_in_words(&r->in, &head, 1);
        if (status != TRACE_IN_GOT)
            return give_up(r, status);
        size_t n = head & ((1u << TRACE_WORDS_BITS) - 1);
        if (n > TRACE_WORDS_MAX)
            return fail(r, "a record is too large");
        status = trace_in_words(&r->in, r->words, n);
        if (status != TRACE_IN_GOT)
            return give_up(r, status);
        *record = (struct trace_record){.kind = head >> TRACE_WORDS_BITS};
        if (record->kind == TRACE_END)
            return finish(r, n);
        bool defines = record->kind >= TRACE_MODULE && record->kind <= TRACE_FRAME;
        const char *wrong = defines ? trace_definitions_take(&r->defined, record->kind, r->words, n)
                                    : take(r, n, record);
        if (wrong != NULL)
            return fail(r, wrong);
        if (!defines)
            return TRACE_READ_RECORD;
    }
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_reader.h - a trace's records, each checked before it is handed out.
 *
 * One thread. What a reader hands out needs no more checks: frames are defined, threads and
 * processes have begun and not ended, tokens are whole.
 */
#ifndef HCCT_TRACE_READER_H
#define HCCT_TRACE_READER_H

#include <stddef.h>
#include <stdint.h>

#include "common/trace/trace_fields.h"
#include "common/trace/trace_format.h"

struct trace_reader;

enum trace_read {
    TRACE_READ_RECORD,
    TRACE_READ_END,    /* all was read, and the checksum and the totals are right */
    TRACE_READ_CUT,    /* the file ends early; what was handed out is as it was written, as far as
                        * is known without the checksum at the end */
    TRACE_READ_FAILED, /* corrupt, or can't be read; what was handed out is worth nothing */
};

/* PROCESS, THREAD, EVENTS, THREAD_END or PROCESS_END. */
struct trace_record {
    enum trace_kind kind;
    uint32_t process;                /* its number; of all kinds */
    uint32_t thread;                 /* its number; of THREAD, EVENTS, THREAD_END */
    const uint32_t *tokens;          /* of EVENTS; valid until the next call */
    size_t n;                        /* tokens */
    const struct trace_about *about; /* of PROCESS and PROCESS_END; valid as long as the reader */
};

/* Opens a trace, "-" for stdin. NULL: `error` is a sentence with the name in it. */
struct trace_reader *trace_reader_open(const char *path, char *error, size_t error_room);
void trace_reader_close(struct trace_reader *reader);

enum trace_read trace_reader_next(struct trace_reader *reader, struct trace_record *record);

/* After CUT or FAILED: a sentence with the file's name. */
const char *trace_reader_error(const struct trace_reader *reader);

/* What was read up to now. */
const struct trace_totals *trace_reader_totals(const struct trace_reader *reader);

/* Ids (code/frame.h) by the numbers that tokens have; *n is one more than the highest. Valid until
 * the next call of trace_reader_next. */
const uint32_t *trace_reader_frames(const struct trace_reader *reader, uint32_t *n);

#endif

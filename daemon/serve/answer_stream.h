/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * answer_stream.h - a stream to memory that fails once and for all when there is none.
 *
 * open_memstream() asks for all of it again at each write after a failure, which takes half a
 * minute for some megabytes.
 */
#ifndef HCCT_ANSWER_STREAM_H
#define HCCT_ANSWER_STREAM_H

#include <stdbool.h>
#include <stdio.h>

struct answer_stream {
    FILE *out;
    char *bytes;
    size_t n, room;
    bool failed;
};

/* Opens stream->out. False: no memory. One thread at a time. */
bool answer_stream_open(struct answer_stream *stream);

/* Closes it: the caller frees stream->bytes, of which stream->n are there. False: not all of them.
 */
bool answer_stream_close(struct answer_stream *stream);

#endif

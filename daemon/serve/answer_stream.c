/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * answer_stream.c - bytes that grow by half.
 */
#include "daemon/serve/answer_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct answer_stream *stream, size_t more) {
    size_t room = stream->n + more + stream->room / 2;
    if (stream->n + more <= stream->room)
        return true;
    char *bytes = realloc(stream->bytes, room);
    if (bytes == NULL)
        return false;
    stream->bytes = bytes;
    stream->room = room;
    return true;
}

static ssize_t take(void *cookie, const char *bytes, size_t n) {
    struct answer_stream *stream = cookie;
    if (stream->failed || !make_room(stream, n)) {
        stream->failed = true;
        errno = ENOMEM;
        return 0;
    }
    memcpy(stream->bytes + stream->n, bytes, n);
    stream->n += n;
    return (ssize_t)n;
}

bool answer_stream_open(struct answer_stream *stream) {
    *stream = (struct answer_stream){0};
    stream->out = fopencookie(stream, "w", (cookie_io_functions_t){.write = take});
    return stream->out != NULL;
}

bool answer_stream_close(struct answer_stream *stream) {
    bool whole = fclose(stream->out) == 0 && !stream->failed;
    stream->out = NULL;
    return whole;
}

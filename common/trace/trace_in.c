/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_in.c - reads, decompresses, and holds each against what can be.
 */
#include "common/trace/trace_in.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/trace/trace_format.h"

#define WINDOW_LOG_MAX 23 /* a frame that wants more than 8 MB to be decompressed is not ours */
#define PACKED_ROOM    (128u << 10)
#define PLAIN_ROOM     (256u << 10)

/* Of the file, up to where it has been understood. */
static uint64_t place_in_file(const struct trace_in *in) {
    return sizeof(struct trace_head) + in->packed_before + in->in.pos;
}

static enum trace_in_status corrupt(struct trace_in *in, const char *what) {
    snprintf(in->error, sizeof in->error, "the trace is corrupt: %s (at byte %" PRIu64 ")", what,
             place_in_file(in));
    return TRACE_IN_FAILED;
}

/* ---- the file ---- */

/* Bytes read, fewer than n at the end of the file only; -1: an error. */
static ssize_t read_bytes(int fd, void *into, size_t n) {
    size_t got = 0;
    while (got < n) {
        ssize_t more = read(fd, (char *)into + got, n - got);
        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            return -1;
        if (more == 0)
            break;
        got += (size_t)more;
    }
    return (ssize_t)got;
}

static bool read_head(struct trace_in *in) {
    struct trace_head head = {0};
    ssize_t n = read_bytes(in->fd, &head, sizeof head);
    if (n < 0)
        snprintf(in->error, sizeof in->error, "it can't be read: %s", strerror(errno));
    else if (memcmp(head.magic, TRACE_MAGIC, sizeof head.magic) != 0)
        snprintf(in->error, sizeof in->error,
                 "it is not a trace, such as 'hcct record --trace' "
                 "writes");
    else if (n < (ssize_t)sizeof head)
        snprintf(in->error, sizeof in->error, "the trace ends in its head: nothing is in it");
    else if (head.version < TRACE_VERSION_FIRST || head.version > TRACE_VERSION)
        snprintf(in->error, sizeof in->error,
                 "it is a trace of format version %u, and this hcct reads versions %u to %u",
                 head.version, TRACE_VERSION_FIRST, TRACE_VERSION);
    else if (head.reserved != 0)
        snprintf(in->error, sizeof in->error,
                 "the trace is corrupt: its head has bits that mean nothing");
    return in->error[0] == '\0';
}

static bool make_buffers(struct trace_in *in) {
    in->packed = malloc(PACKED_ROOM);
    in->plain = malloc(PLAIN_ROOM);
    in->zstd = ZSTD_createDCtx();
    in->in.src = in->packed;
    if (in->packed != NULL && in->plain != NULL && in->zstd != NULL &&
        !ZSTD_isError(ZSTD_DCtx_setParameter(in->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
        return true;
    snprintf(in->error, sizeof in->error, "there is no memory to read it");
    return false;
}

bool trace_in_open(struct trace_in *in, const char *path) {
    *in = (struct trace_in){.fd = -1};
    in->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0)
        snprintf(in->error, sizeof in->error, "it can't be opened: %s", strerror(errno));
    else if (make_buffers(in) && read_head(in))
        return true;
    trace_in_close(in);
    return false;
}

void trace_in_close(struct trace_in *in) {
    if (in->fd >= 0)
        close(in->fd);
    ZSTD_freeDCtx(in->zstd);
    free(in->packed);
    free(in->plain);
    in->fd = -1;
    in->zstd = NULL;
    in->packed = in->plain = NULL;
}

/* ---- words ---- */

/* More packed bytes; the file is at its end when there are none. */
static enum trace_in_status read_packed(struct trace_in *in) {
    if (in->in.pos < in->in.size)
        return TRACE_IN_GOT;
    ssize_t n = read_bytes(in->fd, in->packed, PACKED_ROOM);
    if (n < 0) {
        snprintf(in->error, sizeof in->error, "it can't be read: %s (at byte %" PRIu64 ")",
                 strerror(errno), place_in_file(in));
        return TRACE_IN_FAILED;
    }
    in->packed_before += in->in.size;
    in->in.pos = 0;
    in->in.size = (size_t)n;
    return n > 0 ? TRACE_IN_GOT : TRACE_IN_CUT;
}

/* More plain bytes, at least one. */
static enum trace_in_status unpack(struct trace_in *in) {
    ZSTD_outBuffer out = {in->plain, PLAIN_ROOM, 0};
    while (out.pos == 0) {
        if (in->whole)
            return corrupt(in, "it ends in the middle of something");
        enum trace_in_status status = read_packed(in);
        if (status == TRACE_IN_FAILED)
            return status;
        size_t before = in->in.pos; /* the end of the file: there may be something inside yet */
        size_t left = ZSTD_decompressStream(in->zstd, &out, &in->in);
        if (ZSTD_isError(left))
            return corrupt(in, ZSTD_getErrorName(left));
        in->whole = left == 0;
        if (status == TRACE_IN_CUT && out.pos == 0 && in->in.pos == before && !in->whole)
            return TRACE_IN_CUT;
    }
    in->plain_at = 0;
    in->plain_end = out.pos;
    return TRACE_IN_GOT;
}

enum trace_in_status trace_in_words(struct trace_in *in, uint32_t *words, size_t n) {
    char *into = (char *)words;
    for (size_t left = 4 * n; left > 0;) {
        if (in->plain_at == in->plain_end) {
            enum trace_in_status status = unpack(in);
            if (status != TRACE_IN_GOT)
                return status;
        }
        size_t there = in->plain_end - in->plain_at, take = left < there ? left : there;
        memcpy(into, in->plain + in->plain_at, take);
        in->plain_at += take;
        into += take;
        left -= take;
    }
    in->words += n;
    return TRACE_IN_GOT;
}

enum trace_in_status trace_in_finish(struct trace_in *in) {
    while (!in->whole) { /* the checksum is still to come */
        if (in->plain_at != in->plain_end)
            break;
        enum trace_in_status status = read_packed(in);
        if (status != TRACE_IN_GOT)
            return status;
        ZSTD_outBuffer out = {in->plain, PLAIN_ROOM, 0};
        size_t left = ZSTD_decompressStream(in->zstd, &out, &in->in);
        if (ZSTD_isError(left))
            return corrupt(in, ZSTD_getErrorName(left));
        in->whole = left == 0;
        in->plain_at = 0;
        in->plain_end = out.pos;
    }
    if (in->plain_at != in->plain_end)
        return corrupt(in, "something follows its last record");
    enum trace_in_status status = read_packed(in);
    return status == TRACE_IN_GOT   ? corrupt(in, "something follows its end")
           : status == TRACE_IN_CUT ? TRACE_IN_GOT
                                    : status;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_out.c - gathers a block of words, compresses it, writes it.
 *
 * Each block is flushed, so that what a killed daemon leaves behind can be read up to its last
 * whole block.
 */
#include "common/trace/trace_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/trace/trace_format.h"

#define BLOCK_WORDS (1u << 18)
#define LEVEL       1

/* ---- opening ---- */

static bool is_directory(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* A file of ours that has no other name: what somebody else may have put into the directory, such
 * as a link to a file of ours, is neither. */
static bool is_ours_alone(const struct stat *info) {
    return S_ISREG(info->st_mode) && info->st_uid == geteuid() && info->st_nlink == 1;
}

static bool may_write(const struct stat *info, bool named_by_us) {
    return named_by_us ? is_ours_alone(info) : S_ISREG(info->st_mode) || S_ISCHR(info->st_mode);
}

/* A pipe would block the daemon. A name that the user gave may be a link; one that can be guessed,
 * in a directory, may not. */
static int open_file(const char *path, bool named_by_us) {
    struct stat info;
    int follow = named_by_us ? O_NOFOLLOW : 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | follow, 0600);
    if (fd < 0)
        return -1;
    bool good = fstat(fd, &info) == 0 && may_write(&info, named_by_us);
    if (good && (!S_ISREG(info.st_mode) || ftruncate(fd, 0) == 0))
        return fd;
    int error = good ? errno : ENOTSUP;
    close(fd);
    errno = error;
    return -1;
}

static bool make_buffers(struct trace_out *out) {
    out->packed_room = ZSTD_compressBound(BLOCK_WORDS * 4);
    out->words = malloc(BLOCK_WORDS * 4);
    out->packed = malloc(out->packed_room);
    out->zstd = ZSTD_createCCtx();
    return out->words != NULL && out->packed != NULL && out->zstd != NULL &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(out->zstd, ZSTD_c_compressionLevel, LEVEL)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(out->zstd, ZSTD_c_checksumFlag, 1));
}

static bool write_all(struct trace_out *out, const void *bytes, size_t n) {
    const char *at = bytes;
    while (n > 0) {
        ssize_t written = write(out->fd, at, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            out->error = written < 0 ? errno : ENOSPC;
            return false;
        }
        at += written;
        n -= (size_t)written;
        out->bytes += (size_t)written;
    }
    return true;
}

bool trace_out_open(struct trace_out *out, const char *path, char *error, size_t error_room) {
    struct trace_head head = {.version = TRACE_VERSION};
    *out = (struct trace_out){.fd = -1};
    memcpy(head.magic, TRACE_MAGIC, sizeof head.magic);
    bool directory = is_directory(path);
    int n = directory
                ? snprintf(out->path, sizeof out->path, "%s/hcctd-%ld.trace", path, (long)getpid())
                : snprintf(out->path, sizeof out->path, "%s", path);
    errno = ENAMETOOLONG;
    if (n < (int)sizeof out->path)
        out->fd = open_file(out->path, directory);
    if (out->fd >= 0 && !make_buffers(out))
        errno = ENOMEM;
    else if (out->fd >= 0 && write_all(out, &head, sizeof head))
        return true;
    snprintf(error, error_room, "the trace can't be written to %.200s: %s", path,
             errno == ENOTSUP ? "it is no regular file"
             : errno == ELOOP ? "its name there is a symbolic link"
                              : strerror(errno));
    trace_out_close(out);
    return false;
}

void trace_out_close(struct trace_out *out) {
    if (out->fd >= 0)
        close(out->fd);
    ZSTD_freeCCtx(out->zstd);
    free(out->words);
    free(out->packed);
    *out = (struct trace_out){.fd = -1};
}

/* ---- writing ---- */

static bool write_block(struct trace_out *out, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in = {out->words, out->n * 4, 0};
    size_t left = 1;
    while (left != 0 && out->error == 0) {
        ZSTD_outBuffer packed = {out->packed, out->packed_room, 0};
        left = ZSTD_compressStream2(out->zstd, &packed, &in, directive);
        if (ZSTD_isError(left)) {
            out->error = ENOMEM; /* nothing else can go wrong */
            return false;
        }
        write_all(out, out->packed, packed.pos);
    }
    out->n = 0;
    return out->error == 0;
}

bool trace_out_room(struct trace_out *out, size_t n, bool *written) {
    *written = false;
    if (out->error != 0)
        return false;
    if (out->n + n <= BLOCK_WORDS)
        return true;
    *written = write_block(out, ZSTD_e_flush);
    return *written;
}

void trace_out_put(struct trace_out *out, const uint32_t *words, size_t n) {
    if (n > 0) /* `words` may be NULL otherwise */
        memcpy(out->words + out->n, words, n * 4);
    out->n += n;
}

bool trace_out_finish(struct trace_out *out) {
    if (out->error != 0 || !write_block(out, ZSTD_e_end))
        return false;
    int closed = close(out->fd); /* some file systems tell of a full disk only here */
    out->error = closed != 0 ? errno : 0;
    out->fd = -1;
    return out->error == 0;
}

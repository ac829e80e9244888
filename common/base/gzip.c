/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * gzip.c - gzip in memory, by zlib. A file may be several gzip members one after the other.
 */
#include "common/base/gzip.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_WINDOW (MAX_WBITS + 16) /* zlib's word for a gzip header */
#define BUFFER      8192             /* on the stack, which is small where ulimit -s says so */

static const char no_memory[] = "there is not enough memory to uncompress it";

bool gzip_is(const void *data, size_t bytes) {
    const uint8_t *byte = data;
    return bytes >= 2 && byte[0] == 0x1f && byte[1] == 0x8b;
}

uint8_t *gzip_pack(const void *data, size_t bytes, size_t *packed_bytes) {
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data};
    uint8_t *packed;
    size_t room, left = bytes;
    int status = Z_OK;

    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return NULL;
    room = deflateBound(&z, bytes);
    packed = malloc(room);
    if (packed == NULL) {
        deflateEnd(&z);
        return NULL;
    }
    /* zlib counts in 32 bits */
    while (status == Z_OK) {
        size_t done = (size_t)(z.next_out != NULL ? z.next_out - packed : 0);
        z.next_out = packed + done;
        z.avail_out = room - done > UINT_MAX ? UINT_MAX : (uInt)(room - done);
        if (z.avail_in == 0) {
            z.avail_in = left > UINT_MAX ? UINT_MAX : (uInt)left;
            left -= z.avail_in;
        }
        status = deflate(&z, left == 0 ? Z_FINISH : Z_NO_FLUSH);
    }
    *packed_bytes = (size_t)(z.next_out - packed);
    deflateEnd(&z);
    if (status == Z_STREAM_END)
        return packed;
    free(packed);
    return NULL;
}

/* A file of some megabytes may stand for gigabytes, so its size is measured before anything is
 * taken for it: the data go through a buffer that is used over and over, then into one of their
 * size. */
struct unpacking {
    z_stream z;
    size_t left; /* bytes of input beyond z.avail_in */
    uint8_t *out;
    size_t used, room;
};

/* One step of zlib; NULL or what is wrong. *done: the last member ended. */
static const char *step(struct unpacking *u, bool *done) {
    size_t room = u->room - u->used;
    int status;

    if (u->z.avail_in == 0) {
        u->z.avail_in = u->left > UINT_MAX ? UINT_MAX : (uInt)u->left;
        u->left -= u->z.avail_in;
        if (u->z.avail_in == 0)
            return "the file is cut off";
    }
    u->z.next_out = u->out + u->used;
    u->z.avail_out = room > UINT_MAX ? UINT_MAX : (uInt)room;
    room = u->z.avail_out;
    status = inflate(&u->z, Z_NO_FLUSH);
    u->used += room - u->z.avail_out;
    if (status == Z_STREAM_END) {
        *done = u->z.avail_in == 0 && u->left == 0;
        if (!*done && (!gzip_is(u->z.next_in, u->z.avail_in) || inflateReset(&u->z) != Z_OK))
            return "something follows the end of the compressed data";
        return NULL;
    }
    if (status == Z_MEM_ERROR)
        return no_memory;
    return status == Z_OK || status == Z_BUF_ERROR ? NULL : "the compressed data is damaged";
}

static const char *begin(struct unpacking *u, const void *data, size_t bytes) {
    *u = (struct unpacking){.left = bytes};
    u->z.next_in = (Bytef *)(uintptr_t)data;
    return inflateInit2(&u->z, GZIP_WINDOW) == Z_OK ? NULL : no_memory;
}

/* How many bytes it is uncompressed; NULL or what is wrong with it. */
static const char *measure(const void *data, size_t bytes, size_t limit, size_t *unpacked) {
    struct unpacking u;
    uint8_t buffer[BUFFER];
    bool done = false;
    const char *wrong = begin(&u, data, bytes);

    u.out = buffer;
    u.room = sizeof buffer;
    for (*unpacked = 0; wrong == NULL && !done; u.used = 0) {
        wrong = step(&u, &done);
        *unpacked += u.used;
        if (wrong == NULL && *unpacked > limit)
            wrong = "the uncompressed data is larger than any profile may be";
    }
    inflateEnd(&u.z);
    return wrong;
}

/* It is whole, and has that size. */
static const char *unpack(const void *data, size_t bytes, uint8_t *out, size_t unpacked) {
    struct unpacking u;
    bool done = false;
    const char *wrong = begin(&u, data, bytes);

    u.out = out;
    u.room = unpacked + 1; /* zlib is never out of room, as it would make no headway */
    while (wrong == NULL && !done)
        wrong = step(&u, &done);
    inflateEnd(&u.z);
    return wrong;
}

uint8_t *gzip_unpack(const void *data, size_t bytes, size_t limit, size_t *unpacked_bytes,
                     char *error, size_t error_bytes) {
    uint8_t *out = NULL;
    const char *wrong = measure(data, bytes, limit, unpacked_bytes);
    if (wrong == NULL) {
        out = malloc(*unpacked_bytes + 1);
        wrong = out == NULL ? no_memory : unpack(data, bytes, out, *unpacked_bytes);
    }
    if (wrong == NULL)
        return out;
    snprintf(error, error_bytes, "%s", wrong);
    free(out);
    return NULL;
}

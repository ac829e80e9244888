/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_log.c - a head with its checksum, then two frames of zstd, which have theirs.
 */
#include "daemon/history/history_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "common/base/memory.h"

#define MAGIC       0x31747361707463ull /* "ctpast1" */
#define PLAIN_BYTES (1ull << 30)        /* a larger frame is none of ours */
#define LEVEL       6

struct head {
    uint64_t magic, kind, begin_s, end_s, weight, words_bytes, column_bytes, checksum;
};

static uint64_t checksum_of(const struct head *head) {
    const uint8_t *at = (const uint8_t *)head;
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < offsetof(struct head, checksum); i++)
        hash = (hash ^ at[i]) * 0x100000001b3;
    return hash;
}

/* ---- reading ---- */

static bool read_at(int fd, void *data, size_t bytes, uint64_t at) {
    for (size_t n = 0; n < bytes;) {
        ssize_t got = pread(fd, (char *)data + n, bytes - n, (off_t)(at + n));
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        n += got > 0 ? (size_t)got : 0;
    }
    return true;
}

bool history_log_next(int fd, uint64_t *at, struct history_block *block) {
    struct head head;
    struct stat file;
    if (!read_at(fd, &head, sizeof head, *at) || head.magic != MAGIC ||
        head.checksum != checksum_of(&head) || fstat(fd, &file) != 0)
        return false;
    uint64_t left = (uint64_t)file.st_size - *at - sizeof head;
    if (head.words_bytes > left || head.column_bytes > left - head.words_bytes ||
        head.begin_s >= head.end_s)
        return false;
    *block = (struct history_block){.begin_s = head.begin_s,
                                    .end_s = head.end_s,
                                    .weight = head.weight,
                                    .kind = (uint32_t)head.kind,
                                    .at = *at + sizeof head,
                                    .words_bytes = head.words_bytes,
                                    .column_bytes = head.column_bytes};
    *at = block->at + head.words_bytes + head.column_bytes;
    return true;
}

static uint8_t *unpack_frame(const void *packed, size_t packed_bytes, size_t *bytes) {
    unsigned long long plain_bytes = ZSTD_getFrameContentSize(packed, packed_bytes);
    if (plain_bytes > PLAIN_BYTES) /* what it says of errors is larger, too */
        return NULL;
    uint8_t *plain = memory_new(plain_bytes + 1, 1, "the past");
    *bytes = plain_bytes;
    if (ZSTD_decompress(plain, plain_bytes, packed, packed_bytes) == plain_bytes)
        return plain;
    free(plain);
    return NULL;
}

static uint8_t *read_frame(int fd, uint64_t at, uint64_t packed_bytes, size_t *bytes) {
    void *packed = memory_new(packed_bytes + 1, 1, "the past");
    uint8_t *plain = NULL;
    if (read_at(fd, packed, packed_bytes, at))
        plain = unpack_frame(packed, packed_bytes, bytes);
    free(packed);
    return plain;
}

uint8_t *history_log_words(int fd, const struct history_block *block, size_t *bytes) {
    return read_frame(fd, block->at, block->words_bytes, bytes);
}

uint8_t *history_log_column(int fd, const struct history_block *block, size_t *bytes) {
    return read_frame(fd, block->at + block->words_bytes, block->column_bytes, bytes);
}

/* ---- writing ---- */

static bool write_all(int fd, const void *data, size_t bytes) {
    for (size_t n = 0; n < bytes;) {
        ssize_t put = write(fd, (const char *)data + n, bytes - n);
        if (put < 0 && errno != EINTR)
            return false;
        n += put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* NULL: no memory. */
static void *pack_frame(const void *plain, size_t bytes, uint64_t *packed_bytes) {
    size_t room = ZSTD_compressBound(bytes);
    void *packed = malloc(room);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    size_t n = 0;
    if (packed != NULL && zstd != NULL) {
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
        n = ZSTD_compress2(zstd, packed, room, plain, bytes);
    }
    ZSTD_freeCCtx(zstd);
    if (n > 0 && !ZSTD_isError(n)) {
        *packed_bytes = n;
        return packed;
    }
    free(packed);
    errno = ENOMEM;
    return NULL;
}

static bool write_head(int fd, const struct history_block *block) {
    struct head head = {.magic = MAGIC,
                        .kind = block->kind,
                        .begin_s = block->begin_s,
                        .end_s = block->end_s,
                        .weight = block->weight,
                        .words_bytes = block->words_bytes,
                        .column_bytes = block->column_bytes};
    head.checksum = checksum_of(&head);
    return write_all(fd, &head, sizeof head);
}

/* The end of the last block that is whole. */
static uint64_t find_end(int fd) {
    struct history_block block;
    uint64_t at = 0;
    while (history_log_next(fd, &at, &block))
        ;
    return at;
}

bool history_log_append(int fd, const struct history_block *block, const void *words,
                        size_t words_bytes, const void *column, size_t column_bytes) {
    struct history_block packed = *block;
    uint64_t end = find_end(fd);
    void *words_frame = pack_frame(words, words_bytes, &packed.words_bytes);
    void *column_frame = pack_frame(column, column_bytes, &packed.column_bytes);
    bool written = words_frame != NULL && column_frame != NULL && ftruncate(fd, (off_t)end) == 0 &&
                   lseek(fd, (off_t)end, SEEK_SET) >= 0 && write_head(fd, &packed) &&
                   write_all(fd, words_frame, packed.words_bytes) &&
                   write_all(fd, column_frame, packed.column_bytes) && fsync(fd) == 0;
    int error = errno;
    free(words_frame);
    free(column_frame);
    if (!written && ftruncate(fd, (off_t)end) != 0)
        error = errno;
    errno = error;
    return written;
}

/* ---- forgetting ---- */

static bool copy_bytes(int to, int from, uint64_t at, uint64_t bytes) {
    char *data = malloc(bytes + 1);
    bool copied = data != NULL && read_at(from, data, bytes, at) && write_all(to, data, bytes);
    free(data);
    return copied;
}

bool history_log_copy(int to, int from, uint64_t begin_s) {
    struct history_block block;
    for (uint64_t at = 0; history_log_next(from, &at, &block);) {
        if (block.begin_s < begin_s && block.kind != HISTORY_WORDS) {
            block.kind = HISTORY_WORDS;
            block.weight = block.column_bytes = 0;
        }
        if (!write_head(to, &block) ||
            !copy_bytes(to, from, block.at, block.words_bytes + block.column_bytes))
            return false;
    }
    return fsync(to) == 0;
}

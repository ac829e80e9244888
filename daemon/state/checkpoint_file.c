/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * checkpoint_file.c - records with a checksum over all of them.
 */
#include "daemon/state/checkpoint_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* ---- writing ---- */

static void put_bytes(struct checkpoint_file *out, const void *bytes, size_t n) {
    if (n == 0)
        return;
    out->crc = (uint32_t)crc32(out->crc, bytes, (uInt)n);
    fwrite(bytes, 1, n, out->file);
}

bool checkpoint_file_create(struct checkpoint_file *out, const char *path) {
    struct checkpoint_head head = {.version = CHECKPOINT_VERSION};
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    out->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    out->crc = 0;
    if (out->file == NULL) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    memcpy(head.magic, CHECKPOINT_MAGIC, sizeof head.magic);
    put_bytes(out, &head, sizeof head);
    return true;
}

void checkpoint_file_put(struct checkpoint_file *out, uint32_t kind, const uint32_t *words,
                         size_t n) {
    const uint32_t head = TRACE_HEAD(kind, n);
    put_bytes(out, &head, sizeof head);
    put_bytes(out, words, 4 * n);
}

bool checkpoint_file_finish(struct checkpoint_file *out) {
    const uint32_t crc = out->crc;
    checkpoint_file_put(out, CHECKPOINT_END, &crc, 1);
    bool whole = fflush(out->file) == 0 && !ferror(out->file) && fsync(fileno(out->file)) == 0;
    int error = errno;
    bool closed = fclose(out->file) == 0;
    if (!whole)
        errno = error;
    return whole && closed;
}

/* ---- reading ---- */

static bool get_bytes(struct checkpoint_file *in, void *bytes, size_t n) {
    if (n > 0 && fread(bytes, n, 1, in->file) != 1)
        return false;
    in->crc = (uint32_t)crc32(in->crc, bytes, (uInt)n);
    return true;
}

/* Whoever writes the file says which user may see what. */
static const char *judge(int fd) {
    struct stat file;
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))
        return "it is no regular file";
    return file.st_uid == geteuid() ? NULL : "it belongs to another user";
}

static const char *read_head(struct checkpoint_file *in) {
    struct checkpoint_head head;
    if (!get_bytes(in, &head, sizeof head) ||
        memcmp(head.magic, CHECKPOINT_MAGIC, sizeof head.magic) != 0)
        return "it is no state of hcctd's";
    bool known = head.version >= 1 && head.version <= CHECKPOINT_VERSION;
    return known ? NULL : "it is of another version";
}

const char *checkpoint_file_open(struct checkpoint_file *in, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return strerror(errno);
    const char *wrong = judge(fd);
    in->file = wrong == NULL ? fdopen(fd, "r") : NULL;
    in->crc = 0;
    if (in->file == NULL) {
        close(fd);
        errno = EINVAL;
        return wrong != NULL ? wrong : "there is no memory to read it";
    }
    wrong = read_head(in);
    if (wrong != NULL)
        checkpoint_file_close(in);
    errno = EINVAL;
    return wrong;
}

const char *checkpoint_file_next(struct checkpoint_file *in, uint32_t *kind, size_t *n) {
    uint32_t head, crc = in->crc;
    if (!get_bytes(in, &head, sizeof head))
        return "it is cut off";
    *kind = head >> TRACE_WORDS_BITS;
    *n = head & ((1u << TRACE_WORDS_BITS) - 1);
    if (*n > CHECKPOINT_WORDS_MAX)
        return "it is corrupt";
    if (!get_bytes(in, in->words, 4 * *n))
        return "it is cut off";
    if (*kind == CHECKPOINT_END && (*n != 1 || in->words[0] != crc || getc(in->file) != EOF))
        return "it is corrupt";
    return NULL;
}

void checkpoint_file_close(struct checkpoint_file *in) {
    fclose(in->file);
    in->file = NULL;
}

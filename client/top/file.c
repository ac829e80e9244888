/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * file.c - a name that is free, all bytes or none.
 */
#include "client/top/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int open_new(char *name, size_t name_bytes, uint32_t pid, const char *window) {
    char when[32], whose[16] = "all", of[16] = "";
    time_t now = time(NULL);
    struct tm local;
    int fd = -1;
    errno = EEXIST;
    strftime(when, sizeof when, "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    if (pid != 0)
        snprintf(whose, sizeof whose, "%" PRIu32, pid);
    if (window != NULL)
        snprintf(of, sizeof of, "-%s", window);
    for (unsigned i = 0; fd < 0 && errno == EEXIST && i < 100; i++) {
        int used = snprintf(name, name_bytes, "hcct-top-%s%s-%s", whose, of, when);
        if (i > 0)
            used += snprintf(name + used, name_bytes - (size_t)used, "-%u", i);
        snprintf(name + used, name_bytes - (size_t)used, ".pb.gz");
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    return fd;
}

static bool write_all(int fd, const char *data, size_t bytes) {
    while (bytes > 0) {
        ssize_t n = write(fd, data, bytes);
        if (n < 0 && errno != EINTR)
            return false;
        data += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool top_file_write(const struct top_copy *copy, uint32_t pid, const char *window,
                    struct top_file *file) {
    int fd = open_new(file->name, sizeof file->name, pid, window), why = 0;
    if (fd < 0) {
        snprintf(file->error, sizeof file->error, "%s can't be made: %s", file->name,
                 strerror(errno));
        return false;
    }
    if (!write_all(fd, copy->data, copy->bytes))
        why = errno;
    if (close(fd) != 0 && why == 0)
        why = errno;
    if (why == 0)
        return true;
    unlink(file->name);
    snprintf(file->error, sizeof file->error, "%s can't be written: %s", file->name, strerror(why));
    return false;
}

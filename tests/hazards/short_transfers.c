/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * short_transfers.c - transfers that the kernel ends early when a signal is there, and waits that
 * it ends with an error: none does here, as there is no signal of the program's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BYTES (8 << 20)
#define TIMES 4

static char *memory;

static void expect(const char *what, ssize_t got, ssize_t wanted) {
    if (got != wanted)
        printf("%s: %zd of %zd, %s\n", what, got, wanted, got < 0 ? strerror(errno) : "short");
}

static void read_device(const char *path, size_t bytes) {
    int fd = open(path, O_RDONLY);
    struct iovec parts[2] = {{memory, bytes / 2}, {memory + bytes / 2, bytes / 2}};
    expect(path, read(fd, memory, bytes), (ssize_t)bytes);
    expect(path, readv(fd, parts, 2), (ssize_t)bytes);
    close(fd);
}

static int scratch_file(void) {
    char path[] = "/tmp/hcct-short-XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    return fd;
}

static void copy(void) {
    int from = scratch_file(), to = scratch_file();
    off_t at = 0;
    expect("write", write(from, memory, BYTES), BYTES);
    ssize_t got = copy_file_range(from, &at, to, NULL, BYTES, 0);
    if (got >= 0 || (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP))
        expect("copy_file_range", got, BYTES);
    close(from);
    close(to);
}

static void random_bytes(void) {
    expect("getrandom", getrandom(memory, BYTES, 0), BYTES);
    expect("getrandom by its number", syscall(SYS_getrandom, memory, BYTES, 0), BYTES);
}

/* ---- io_uring ---- */

static long plain_enter(unsigned fd, unsigned flags, const void *arg, size_t bytes) {
    return syscall(SYS_io_uring_enter, fd, 0, 1, flags, arg, bytes);
}

static long own_enter(unsigned fd, unsigned flags, const void *arg, size_t bytes) {
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = flags;
    register long r8 __asm__("r8") = (long)arg;
    register long r9 __asm__("r9") = (long)bytes;
    __asm__ volatile("movl $426, %%eax\n\tsyscall"
                     : "=&a"(result)
                     : "D"((long)fd), "S"(0l), "d"(1l), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    errno = result < 0 ? (int)-result : 0;
    return result < 0 ? -1 : result;
#else
    return plain_enter(fd, flags, arg, bytes);
#endif
}

static void wait_in_ring(const char *what, unsigned fd,
                         long (*enter)(unsigned, unsigned, const void *, size_t)) {
    struct timespec limit = {0, 30000000}, before, after;
    struct io_uring_getevents_arg arg = {.ts = (unsigned long)&limit};
    clock_gettime(CLOCK_MONOTONIC, &before);
    long result = enter(fd, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg, sizeof arg);
    clock_gettime(CLOCK_MONOTONIC, &after);
    if (result != -1 || errno != ETIME)
        printf("%s: %ld, %s\n", what, result, strerror(errno));
    long ms = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    if (ms < 29)
        printf("%s: its time was over after %ld ms\n", what, ms);
}

static void rings(void) {
    struct io_uring_params params = {0};
    long fd = syscall(SYS_io_uring_setup, 8, &params);
    if (fd < 0 || (params.features & IORING_FEAT_EXT_ARG) == 0)
        return; /* forbidden here, or older */
    wait_in_ring("io_uring", (unsigned)fd, plain_enter);
    wait_in_ring("io_uring by an instruction", (unsigned)fd, own_enter);
    close((int)fd);
}

int main(void) {
    memory = malloc(BYTES);
    if (memory == NULL)
        return 1;
    memset(memory, 1, BYTES);
    for (int i = 0; i < TIMES; i++) {
        read_device("/dev/zero", BYTES);
        read_device("/dev/urandom", BYTES);
        random_bytes();
        copy();
    }
    for (int i = 0; i < TIMES;
         i++) /* afterwards: a ring's own work in the kernel cuts short, too */
        rings();
    printf("done\n");
    free(memory);
    return 0;
}

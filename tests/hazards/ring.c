/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ring.c - waits in io_uring, which the kernel never makes again after a signal: by libc's
 * syscall(), and as liburing makes them, by an instruction of its own in a loop that keeps the
 * call's number in a register. With a timeout of the wait itself, and without.
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/hazards/busy.h"

#define ROUNDS  15
#define WAIT_NS 12000000

struct timespec64 {
    int64_t tv_sec, tv_nsec;
};

static struct ring {
    int fd;
    bool has_timeouts;
    char *submission, *completion;
    struct io_uring_sqe *entries;
    struct io_uring_params params;
} ring;

static bool open_ring(void) {
    struct io_uring_params *p = &ring.params;
    ring.fd = (int)syscall(SYS_io_uring_setup, 4, p);
    if (ring.fd < 0)
        return false;
    ring.has_timeouts = (p->features & IORING_FEAT_EXT_ARG) != 0;
    ring.submission = mmap(NULL, p->sq_off.array + p->sq_entries * sizeof(unsigned),
                           PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQ_RING);
    ring.completion = mmap(NULL, p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe),
                           PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_CQ_RING);
    ring.entries = mmap(NULL, p->sq_entries * sizeof *ring.entries, PROT_READ | PROT_WRITE,
                        MAP_SHARED, ring.fd, IORING_OFF_SQES);
    return ring.submission != MAP_FAILED && ring.completion != MAP_FAILED &&
           (void *)ring.entries != MAP_FAILED;
}

typedef long wait_function(unsigned flags, void *arg, size_t bytes);

static long by_libc(unsigned flags, void *arg, size_t bytes) {
    long result = syscall(SYS_io_uring_enter, ring.fd, 0, 1, flags, arg, bytes);
    return result < 0 ? -errno : result;
}

/* As a loop that keeps the number in %r15. */
static long by_instruction(unsigned flags, void *arg, size_t bytes) {
#ifdef __x86_64__
    register long r10 __asm__("r10") = flags, r8 __asm__("r8") = (long)arg,
                      r9 __asm__("r9") = (long)bytes, r15 __asm__("r15") = SYS_io_uring_enter;
    long result;
    __asm__ volatile("movl %%r15d, %%eax\n syscall"
                     : "=&a"(result)
                     : "D"((long)ring.fd), "S"(0l), "d"(1l), "r"(r10), "r"(r8), "r"(r9), "r"(r15)
                     : "rcx", "r11", "memory");
    return result;
#else
    return by_libc(flags, arg, bytes);
#endif
}

/* Asks for an end after WAIT_NS. */
static void submit_timeout(void) {
    static struct timespec64 time = {0, WAIT_NS};
    _Atomic uint32_t *tail = (void *)(ring.submission + ring.params.sq_off.tail);
    uint32_t mask = *(uint32_t *)(void *)(ring.submission + ring.params.sq_off.ring_mask);
    uint32_t at = atomic_load(tail) & mask;
    memset(&ring.entries[at], 0, sizeof ring.entries[at]);
    ring.entries[at].opcode = IORING_OP_TIMEOUT;
    ring.entries[at].fd = -1;
    ring.entries[at].addr = (uintptr_t)&time;
    ring.entries[at].len = 1;
    ((uint32_t *)(void *)(ring.submission + ring.params.sq_off.array))[at] = at;
    atomic_fetch_add(tail, 1);
    syscall(SYS_io_uring_enter, ring.fd, 1, 0, 0, NULL, 0);
}

/* Takes all that is completed: how many. */
static uint32_t take(void) {
    _Atomic uint32_t *head = (void *)(ring.completion + ring.params.cq_off.head);
    _Atomic uint32_t *tail = (void *)(ring.completion + ring.params.cq_off.tail);
    uint32_t n = atomic_load(tail) - atomic_load(head);
    atomic_fetch_add(head, n);
    return n;
}

static long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000l + now.tv_nsec;
}

static void report(const char *what, unsigned good) {
    printf("%s: %u of %u as asked for\n", what, good, ROUNDS);
}

static void wait_for_completion(const char *what, wait_function *wait) {
    unsigned good = 0;
    for (int i = 0; i < ROUNDS; i++) {
        busy_ms(2);
        submit_timeout();
        long result = wait(IORING_ENTER_GETEVENTS, NULL, 8);
        good += result == 0 && take() == 1;
    }
    report(what, good);
}

static void wait_in_vain(const char *what, wait_function *wait) {
    struct timespec64 time = {0, WAIT_NS};
    struct io_uring_getevents_arg arg = {.sigmask_sz = 8, .ts = (uintptr_t)&time};
    unsigned good = 0;
    for (int i = 0; i < ROUNDS && ring.has_timeouts; i++) {
        busy_ms(2);
        long begun = now_ns();
        long result = wait(IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg, sizeof arg);
        good += result == -ETIME && now_ns() - begun >= WAIT_NS && take() == 0;
    }
    report(what, ring.has_timeouts ? good : ROUNDS);
}

int main(void) {
    if (!open_ring()) {
        printf("no io_uring here\n");
        busy_ms(50);
        return 0;
    }
    wait_for_completion("libc's syscall", by_libc);
    wait_for_completion("an instruction", by_instruction);
    wait_in_vain("libc's syscall in vain", by_libc);
    wait_in_vain("an instruction in vain", by_instruction);
    return 0;
}

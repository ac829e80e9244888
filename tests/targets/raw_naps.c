/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * raw_naps.c - requests of 0.1 and of 5 ms in random order, as much time in both, with a nap after
 * each by a system call that no library makes.
 *
 *   raw_naps SECONDS
 *
 * Runs for so long of its CPU time. Prints the CPU time in ns that it has used, and of it what was
 * used in few() and in many(), by its own clock.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#define SHORT_NS 100000u
#define TIMES    50u /* a long request is so many short ones */

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static volatile uint64_t sink;

static void turn(uint64_t rounds) {
    uint64_t x = sink | 1;
    for (uint64_t i = 0; i < rounds; i++)
        x = x * 6364136223846793005u + i;
    sink = x;
}

__attribute__((noinline)) static uint64_t few(uint64_t rounds) {
    uint64_t began = cpu_ns();
    turn(rounds);
    return cpu_ns() - began;
}

__attribute__((noinline)) static uint64_t many(uint64_t rounds) {
    uint64_t began = cpu_ns();
    sink += 2; /* not the same code: it would be one function */
    turn(rounds);
    return cpu_ns() - began;
}

static void nap(long ns) {
    struct timespec time = {0, ns};
#ifdef __x86_64__
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_nanosleep), "D"(&time), "S"(0)
                     : "rcx", "r11", "memory");
#else
    register long x0 __asm__("x0") = (long)&time, x1 __asm__("x1") = 0,
                     x8 __asm__("x8") = SYS_nanosleep;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x8) : "memory");
#endif
}

static uint64_t rounds_of(uint64_t ns) {
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t began = cpu_ns();
        turn(1000000);
        uint64_t took = cpu_ns() - began;
        best = took < best ? took : best;
    }
    return 1000000u * ns / best;
}

int main(int argc, char **argv) {
    uint64_t rounds = rounds_of(SHORT_NS), in_few = 0, in_many = 0;
    uint64_t until = (uint64_t)((argc > 1 ? strtod(argv[1], NULL) : 1) * 1e9);
    while (cpu_ns() < until) {
        if (drand48() * (TIMES + 1) < 1)
            in_many += many(TIMES * rounds);
        else
            in_few += few(rounds);
        nap((long)(150000 + 300000 * drand48()));
    }
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", cpu_ns(), in_few, in_many);
    return 0;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * limits_itself.c - limits its address space when it has begun, and computes for half a second of
 * CPU time then.
 */
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

static volatile uint64_t sink;

__attribute__((noinline)) static void compute(void) {
    while (clock() < CLOCKS_PER_SEC / 2)
        for (uint32_t i = 0; i < 10000; i++)
            sink += i;
}

int main(void) {
    const struct rlimit limit = {100u << 20, 100u << 20};
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 1;
    compute();
    return 0;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * steps.c - always the same CPU time along some sixty contexts of very different weight; half of it
 * is in crunch(), which takes SLOWER per cent longer in another build of the same program.
 *
 *   steps ROUNDS    one round is some 10 ms of CPU time
 *
 * The work is counted in CPU time, not in steps of a loop: a machine that becomes faster or slower
 * between two runs changes no function.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef SLOWER
#define SLOWER 0
#endif

#define UNIT_NS 1000
#define SLICE_STEPS                                                                                \
    40000u /* between two looks at the clock: some 50 us, so the looks cost little */
#define NO_INLINE   __attribute__((noinline, noclone))
#define HALF_OF_ALL 4984u /* what all others have in a round, in units */

static volatile uint64_t state = 1;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/*
 * n units of work, in the function that asks for it. What a call takes too much, the next calls of
 * the same function take less: so the sum is right for the smallest of them, too.
 */
#define WORK(n)                                                                                    \
    do {                                                                                           \
        static int64_t owed;                                                                       \
        int64_t begin = now_ns();                                                                  \
        owed += (int64_t)(n)*UNIT_NS;                                                              \
        while (now_ns() - begin < owed) {                                                          \
            uint64_t x = state;                                                                    \
            for (uint64_t i = 0; i < SLICE_STEPS; i++)                                             \
                x = x * 6364136223846793005u + 1442695040888963407u;                               \
            state = x;                                                                             \
        }                                                                                          \
        owed -= now_ns() - begin;                                                                  \
    } while (0)

NO_INLINE static void crunch(void) {
    WORK(HALF_OF_ALL * (100 + SLOWER) / 100);
}

#define LEAF(name, n)                                                                              \
    NO_INLINE static void name(void) {                                                             \
        WORK(n);                                                                                   \
    }

LEAF(leaf0, 1)
LEAF(leaf1, 2)
LEAF(leaf2, 4)
LEAF(leaf3, 8)
LEAF(leaf4, 16)
LEAF(leaf5, 32)
LEAF(leaf6, 64)
LEAF(leaf7, 128)

NO_INLINE static void leaves(void) {
    leaf0();
    leaf1();
    leaf2();
    leaf3();
    leaf4();
    leaf5();
    leaf6();
    leaf7();
    WORK(101);
}

/* 356 units below each, and its own. */
#define BRANCH(name, n)                                                                            \
    NO_INLINE static void name(void) {                                                             \
        leaves();                                                                                  \
        WORK(n);                                                                                   \
    }

BRANCH(parse, 712)
BRANCH(check, 356)
BRANCH(sort, 178)
BRANCH(pack, 89)
BRANCH(send, 44)
BRANCH(log_all, 1)

NO_INLINE static void run(void) {
    parse();
    check();
    sort();
    pack();
    send();
    log_all();
    leaves();
    crunch();
    WORK(1112);
}

int main(int argc, char **argv) {
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    for (long i = 0; i < rounds; i++)
        run();
    printf("%u\n", (unsigned)(state & 1));
    return 0;
}

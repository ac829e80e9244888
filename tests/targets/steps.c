/*
 * steps.c - always the same work along some sixty contexts of very different weight; half of it is
 * in crunch(), which takes SLOWER per cent longer in another build of the same program.
 *
 *   steps ROUNDS    one round is some 10 million steps of a generator
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef SLOWER
#define SLOWER 0
#endif

#define UNIT        1000u
#define NO_INLINE   __attribute__((noinline, noclone))
#define HALF_OF_ALL 4984u /* what all others have in a round, in units */

static volatile uint64_t state = 1;

/* n units of work, in the function that asks for it. */
#define WORK(n)                                                                                    \
    do {                                                                                           \
        uint64_t x = state;                                                                        \
        for (uint64_t i = 0; i < (uint64_t)(n)*UNIT; i++)                                          \
            x = x * 6364136223846793005u + 1442695040888963407u;                                   \
        state = x;                                                                                 \
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

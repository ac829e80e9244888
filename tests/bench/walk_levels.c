/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * walk_levels.c - sixteen functions with four calls each: what differs is the size of the frame and
 * how many registers are saved in it.
 */
#include "tests/bench/walk_levels.h"

#define FUNCTIONS 16u
#define NOINLINE  __attribute__((noinline, noclone))
#define FRAMED    __attribute__((noinline, noclone, optimize("no-omit-frame-pointer")))

typedef uint64_t level_function(const struct route *route, uint32_t levels);
static level_function *const plain[FUNCTIONS], *const framed[FUNCTIONS];

/* Four calls that the compiler can't make one of. */
#define CALL(functions, n)                                                                         \
    case n:                                                                                        \
        below = functions[turn % FUNCTIONS](route, levels - 1);                                    \
        __asm__ volatile("" ::"i"(n));                                                             \
        break;

#define LEVEL(functions, name, attribute, words, keep)                                             \
    attribute static uint64_t name(const struct route *route, uint32_t levels) {                   \
        volatile uint64_t room[words];                                                             \
        uint64_t kept[] = {levels * 3, levels * 5, levels * 7, levels * 11}, below = 0;            \
        room[levels % (words)] = levels;                                                           \
        for (int i = 0; i < (keep); i++)                                                           \
            __asm__ volatile("" : "+r"(kept[i]));                                                  \
        if (levels == 0) {                                                                         \
            route->bottom(route->arg);                                                             \
        } else {                                                                                   \
            uint32_t turn = route->turn[levels - 1];                                               \
            switch (turn / FUNCTIONS % 4) {                                                        \
                CALL(functions, 0)                                                                 \
                CALL(functions, 1)                                                                 \
                CALL(functions, 2)                                                                 \
                CALL(functions, 3)                                                                 \
            }                                                                                      \
        }                                                                                          \
        for (int i = 0; i < (keep); i++)                                                           \
            __asm__ volatile("" : "+r"(kept[i]));                                                  \
        return below + kept[0] + kept[1] + kept[2] + kept[3] + room[0];                            \
    }

#define LEVELS(functions, attribute)                                                               \
    LEVEL(functions, functions##_a, attribute, 1, 0)                                               \
    LEVEL(functions, functions##_b, attribute, 2, 1)                                               \
    LEVEL(functions, functions##_c, attribute, 3, 2)                                               \
    LEVEL(functions, functions##_d, attribute, 4, 3)                                               \
    LEVEL(functions, functions##_e, attribute, 5, 4)                                               \
    LEVEL(functions, functions##_f, attribute, 6, 0)                                               \
    LEVEL(functions, functions##_g, attribute, 7, 1)                                               \
    LEVEL(functions, functions##_h, attribute, 8, 2)                                               \
    LEVEL(functions, functions##_i, attribute, 10, 3)                                              \
    LEVEL(functions, functions##_j, attribute, 12, 4)                                              \
    LEVEL(functions, functions##_k, attribute, 14, 0)                                              \
    LEVEL(functions, functions##_l, attribute, 16, 1)                                              \
    LEVEL(functions, functions##_m, attribute, 20, 2)                                              \
    LEVEL(functions, functions##_n, attribute, 24, 3)                                              \
    LEVEL(functions, functions##_o, attribute, 32, 4)                                              \
    LEVEL(functions, functions##_p, attribute, 64, 2)                                              \
    static level_function *const functions[FUNCTIONS] = {                                          \
        functions##_a, functions##_b, functions##_c, functions##_d, functions##_e, functions##_f,  \
        functions##_g, functions##_h, functions##_i, functions##_j, functions##_k, functions##_l,  \
        functions##_m, functions##_n, functions##_o, functions##_p,                                \
    };

LEVELS(plain, NOINLINE)
LEVELS(framed, FRAMED)

uint64_t walk_levels(const struct route *route, uint32_t levels) {
    return (route->framed ? framed_a : plain_a)(route, levels);
}

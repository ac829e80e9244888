/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handlers.c - a program of 100 handlers that weigh the same, handler_00 to handler_99.
 *
 *   usage: handlers SECONDS_OF_CPU
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STEPS 20000

static volatile uint64_t sink;

#define HANDLER(n)                                                                                 \
    __attribute__((noinline)) static void handler_##n(void) {                                      \
        for (unsigned i = 0; i < STEPS; i++)                                                       \
            sink += 1##n;                                                                          \
    }
#define TEN(n)                                                                                     \
    HANDLER(n##0)                                                                                  \
    HANDLER(n##1)                                                                                  \
    HANDLER(n##2)                                                                                  \
    HANDLER(n##3)                                                                                  \
    HANDLER(n##4)                                                                                  \
    HANDLER(n##5)                                                                                  \
    HANDLER(n##6)                                                                                  \
    HANDLER(n##7)                                                                                  \
    HANDLER(n##8)                                                                                  \
    HANDLER(n##9)

TEN(0)
TEN(1)
TEN(2)
TEN(3)
TEN(4)
TEN(5)
TEN(6)
TEN(7)
TEN(8)
TEN(9)

#define NAMES(n)                                                                                   \
    handler_##n##0, handler_##n##1, handler_##n##2, handler_##n##3, handler_##n##4,                \
        handler_##n##5, handler_##n##6, handler_##n##7, handler_##n##8, handler_##n##9

static void (*const handlers[])(void) = {NAMES(0), NAMES(1), NAMES(2), NAMES(3), NAMES(4),
                                         NAMES(5), NAMES(6), NAMES(7), NAMES(8), NAMES(9)};

int main(int argc, char **argv) {
    clock_t end = (clock_t)(argc > 1 ? atof(argv[1]) * CLOCKS_PER_SEC : CLOCKS_PER_SEC);

    while (clock() < end)
        for (unsigned i = 0; i < sizeof handlers / sizeof handlers[0]; i++)
            handlers[i]();
    return 0;
}

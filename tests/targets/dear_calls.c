/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * dear_calls.c - makes the same calls until the code of the function that makes them has changed,
 * and says so; or that it has not, after a minute.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CODE 48

static volatile unsigned sink;

__attribute__((noinline)) static void again(unsigned n) {
    sink = sink + n;
    if (n > 0)
        again(n - 1);
    sink = sink + 1;
}

int main(void) {
    uint8_t before[CODE];
    void (*const function)(unsigned) = again;
    const void *code = (const void *)(uintptr_t)function;
    time_t end = time(NULL) + 60;
    memcpy(before, code, CODE);
    do
        for (unsigned i = 0; i < 10000; i++)
            again(10);
    while (memcmp(before, code, CODE) == 0 && time(NULL) < end);
    puts(memcmp(before, code, CODE) != 0 ? "left alone" : "as it was");
    return 0;
}

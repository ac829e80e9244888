/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_coroutines.c - coroutines, as their libraries make them.
 *
 *   usage: calls_coroutines KIND TIMES
 *
 *   ends       one returns, and its caller goes on with calls
 *   symmetric  the same function goes from each stack to the other
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define NOT_REPORTED __attribute__((no_instrument_function))
#define APART        __attribute__((noinline))
#define STACK_BYTES  262144 /* smaller ones side by side count as one */

static ucontext_t own, other;
static char stack[STACK_BYTES];
static volatile int sink;
static int goes_on;

APART static void inner(void) {
    sink = sink + 1;
}

APART static void outer(void) {
    inner();
    sink = sink + 1;
}

APART static void go(ucontext_t *from, ucontext_t *to) {
    swapcontext(from, to);
    sink = sink + 1;
}

NOT_REPORTED static void make(void (*run)(void)) {
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = sizeof stack;
    other.uc_link = &own;
    makecontext(&other, run, 0);
}

APART static void ending(void) {
    inner();
    sink = sink + 1;
}

APART static void ends(int times) {
    for (int i = 0; i < times; i++) {
        make(ending);
        swapcontext(&own, &other);
        inner();
        outer();
    }
}

APART static void there(void) {
    while (goes_on) {
        inner();
        go(&other, &own);
    }
}

APART static void symmetric(int times) {
    goes_on = 1;
    make(there);
    for (int i = 0; i < times; i++) {
        go(&own, &other);
        inner();
        outer();
    }
    goes_on = 0;
    go(&own, &other);
    inner();
}

int main(int argc, char **argv) {
    int times = argc == 3 ? atoi(argv[2]) : 1;
    if (argc > 1 && strcmp(argv[1], "ends") == 0)
        ends(times);
    else
        symmetric(times);
    inner();
    return 0;
}

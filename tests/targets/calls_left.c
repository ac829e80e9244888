/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_left.c - a signal handler leaves reports of calls by siglongjmp, at one instruction of them
 * after the other, and the program goes on with calls.
 *
 *   usage: calls_left KIND
 *
 *   usual      a call that is like the one before
 *   rare       the first one after a jump
 *   elsewhere  calls on another stack than the thread's own
 *   again      the report that comes after one that was left, left as well
 *
 * The handler calls handled(), which is put aside where it interrupts a report. Prints what has
 * been called how often, and how many instructions there were: "after N handled N steps N".
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define NOT_REPORTED __attribute__((no_instrument_function))
/* Instructions from one that is left to the next, where all are too many: a signal is dear. */
#define APART_RARE  11
#define STACK_BYTES 65536

static sigjmp_buf place;
static volatile unsigned left_after, steps, n_after, n_handled;
static volatile int sink;

__attribute__((noinline)) static void inner(void) {
    sink = sink + 1;
}

__attribute__((noinline)) static void after(void) {
    n_after++;
}

__attribute__((noinline)) static void handled(void) {
    n_handled++;
}

NOT_REPORTED static void on_step(int number) {
    (void)number;
    steps++;
    if (--left_after != 0)
        return;
    handled();
    siglongjmp(place, 1);
}

/* A signal after each instruction from here on; and no more. */
NOT_REPORTED static inline void step(void) {
#if defined(__x86_64__)
    __asm__ volatile("sub $128, %%rsp; pushf; orl $0x100, (%%rsp); popf; add $128, %%rsp" ::
                         : "cc", "memory");
#endif
}
NOT_REPORTED static inline void no_step(void) {
#if defined(__x86_64__)
    __asm__ volatile("sub $128, %%rsp; pushf; andl $~0x100, (%%rsp); popf; add $128, %%rsp" ::
                         : "cc", "memory");
#endif
}

/* Whether `what` was left after so many instructions; false: it has fewer. */
NOT_REPORTED static int leave(void (*what)(void), unsigned instructions) {
    left_after = instructions;
    if (sigsetjmp(place, 1) != 0)
        return 1;
    step();
    what();
    no_step();
    return 0;
}

NOT_REPORTED static void go_on(void) {
    for (int i = 0; i < 3; i++)
        after();
}

NOT_REPORTED static void usual(void) {
    for (unsigned n = 1; leave(inner, n); n++)
        go_on();
}

NOT_REPORTED static void jump(void) {
    static jmp_buf here;
    if (setjmp(here) == 0)
        longjmp(here, 1);
}

NOT_REPORTED static void rare(void) {
    jump();
    for (unsigned n = 1; leave(inner, n); n += APART_RARE) {
        go_on();
        jump();
    }
}

NOT_REPORTED static void again(void) {
    for (unsigned n = 1; leave(inner, n); n += APART_RARE) {
        for (unsigned m = n; leave(inner, m); m += m / 2 + 1)
            leave(inner, n);
        go_on();
    }
}

/* ---- on another stack ---- */

static ucontext_t own, other;
static char stack[STACK_BYTES];

NOT_REPORTED static void on_other(void) {
    inner();
    inner();
    swapcontext(&other, &own);
}

NOT_REPORTED static void there_and_back(void) {
    swapcontext(&own, &other);
    after();
    inner();
}

NOT_REPORTED static void elsewhere(void) {
    static unsigned n; /* what waits for the other stack is done there first: it may be long */
    do {
        n += n / 4 + 1;
        go_on();
        getcontext(&other);
        other.uc_stack.ss_sp = stack;
        other.uc_stack.ss_size = sizeof stack;
        makecontext(&other, on_other, 0);
    } while (leave(there_and_back, n));
}

NOT_REPORTED int main(int argc, char **argv) {
    const struct {
        const char *name;
        void (*run)(void);
    } kind[] = {{"usual", usual}, {"rare", rare}, {"again", again}, {"elsewhere", elsewhere}};
    struct sigaction action = {.sa_handler = on_step};
    sigaction(SIGTRAP, &action, NULL);
    go_on();
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++)
        if (argc == 2 && strcmp(argv[1], kind[i].name) == 0)
            kind[i].run();
    go_on();
    printf("after %u handled %u steps %u\n", n_after, n_handled, steps);
    return 0;
}

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
 *   deep       a call for which open calls need more room
 *   paused     none is left: the handler goes to another stack, and comes back
 *   paused_there   the same, out of the first calls on another stack
 *   paused_both    the same, and a report there is paused in turn, until the first one is over
 *
 * The handler calls handled(), which is put aside where it interrupts a report. Prints what has
 * been called how often, and how many instructions there were: "after N handled N inner N steps N".
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
#define ROOM        1024 /* of open calls on a stack, at first */
#define DEEP_STACKS 60
#define DEEP_BYTES  262144

enum { HERE = 1, THERE, BOTH };

static sigjmp_buf place;
static volatile unsigned left_after, steps, n_after, n_handled, n_inner;
static volatile int sink, pauses;
static ucontext_t own, other, paused, paused_there;
static volatile unsigned n_paused, also_after;
static char stack[STACK_BYTES];

__attribute__((noinline)) static void inner(void) {
    n_inner++;
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
    if (!pauses)
        siglongjmp(place, 1);
    n_paused++;
    if (pauses == BOTH && n_paused == 2)
        swapcontext(&paused_there, &paused);
    else
        swapcontext(&paused, pauses == THERE ? &own : &other);
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

NOT_REPORTED static void make_other(void (*run)(void), char *low, size_t bytes) {
    getcontext(&other);
    other.uc_stack.ss_sp = low;
    other.uc_stack.ss_size = bytes;
    makecontext(&other, run, 0);
}

NOT_REPORTED static void meanwhile(void) {
    for (;;) {
        go_on();
        swapcontext(&other, &paused);
    }
}

/* The innermost of these calls is one for which there is no room. */
__attribute__((noinline)) static void down(unsigned depth) {
    if (depth > 0) {
        down(depth - 1);
    } else {
        step();
        inner();
        no_step();
    }
    sink = sink + 1;
}

NOT_REPORTED static void on_deep(void) {
    if (sigsetjmp(place, 1) == 0)
        down(ROOM - 2);
    go_on();
    swapcontext(&other, &own);
}

/* There is room again on another stack. */
NOT_REPORTED static void deep(void) {
    static char room[DEEP_STACKS][DEEP_BYTES];
    for (unsigned i = 0, n = 1; i < DEEP_STACKS; i++, n += n / 8 + 1) {
        left_after = n;
        make_other(on_deep, room[i], DEEP_BYTES);
        swapcontext(&own, &other);
        go_on();
    }
}

/* Whether there were so many instructions. */
NOT_REPORTED static int pause_at(unsigned instructions) {
    left_after = instructions;
    step();
    inner();
    no_step();
    return (int)left_after <= 0;
}

NOT_REPORTED static void pause_here(void) {
    pauses = HERE;
    make_other(meanwhile, stack, sizeof stack);
    for (unsigned n = 1; pause_at(n); n += n / 8 + 1)
        go_on();
}

NOT_REPORTED static void both_there(void) {
    for (;;) {
        left_after = also_after;
        step();
        inner();
        no_step();
        left_after = 0; /* those of the other stack go on */
        swapcontext(&other, n_paused == 2 ? &own : &paused);
    }
}

NOT_REPORTED static int pause_both(unsigned here, unsigned there) {
    n_paused = 0;
    also_after = there;
    pause_at(here);
    if (n_paused == 2)
        swapcontext(&own, &paused_there);
    go_on();
    return n_paused > 0;
}

NOT_REPORTED static void pause_each(void) {
    pauses = BOTH;
    make_other(both_there, stack, sizeof stack);
    for (unsigned there = 1; there < 64; there += there / 3 + 1)
        for (unsigned here = 1; here < 64 && pause_both(here, there); here += here / 3 + 1)
            ;
}

NOT_REPORTED static void first_there(void) {
    if (pause_at(left_after))
        inner();
    else
        pauses = 0;
    swapcontext(&other, &own);
}

NOT_REPORTED static void pause_there(void) {
    pauses = THERE;
    for (unsigned n = 1; pauses; n += n / 4 + 1) {
        left_after = n;
        make_other(first_there, stack, sizeof stack);
        swapcontext(&own, &other);
        if (!pauses)
            break;
        go_on(); /* the one that is there is in the middle of a report */
        swapcontext(&own, &paused);
        go_on();
    }
}

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
        make_other(on_other, stack, sizeof stack);
    } while (leave(there_and_back, n));
}

NOT_REPORTED int main(int argc, char **argv) {
    const struct {
        const char *name;
        void (*run)(void);
    } kind[] = {{"usual", usual},
                {"rare", rare},
                {"again", again},
                {"elsewhere", elsewhere},
                {"deep", deep},
                {"paused", pause_here},
                {"paused_there", pause_there},
                {"paused_both", pause_each}};
    struct sigaction action = {.sa_handler = on_step};
    sigaction(SIGTRAP, &action, NULL);
    go_on();
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++)
        if (argc == 2 && strcmp(argv[1], kind[i].name) == 0)
            kind[i].run();
    go_on();
    printf("after %u handled %u inner %u steps %u\n", n_after, n_handled, n_inner, steps);
    return 0;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_thrown_at.c - no function here has a part that an exception must pass through: it may come
 * at any instruction.
 */
#include "calls_thrown.h"

#include <stddef.h>
#include <sys/time.h>

#define NOT_REPORTED __attribute__((no_instrument_function))

struct thrown_counts thrown;

__attribute__((noinline)) static void inner(void) {
    thrown.inner++;
}

__attribute__((noinline)) static void after(void) {
    thrown.after++;
}

__attribute__((noinline)) void handled(void) {
    thrown.handled++;
}

/* A signal after each instruction from here on; and no more. Not in a function that keeps something
 * below its stack pointer. */
#if defined(__x86_64__)
#define FLAGS(change)                                                                              \
    __asm__ volatile("pushf\n.cfi_adjust_cfa_offset 8\n" change "\npopf\n"                         \
                     ".cfi_adjust_cfa_offset -8" ::                                                \
                         : "cc", "memory")
#define STEP()    FLAGS("orl $0x100, (%%rsp)")
#define NO_STEP() FLAGS("andl $~0x100, (%%rsp)")
#else
#define STEP()
#define NO_STEP()
#endif

NOT_REPORTED void thrown_step(void) {
    inner(); /* it may be bound by the first call */
    STEP();
    inner();
    NO_STEP();
}

NOT_REPORTED void thrown_spin(long us) {
    struct itimerval when = {.it_value = {.tv_usec = us}};
    setitimer(ITIMER_REAL, &when, NULL);
    for (;;)
        inner();
}

NOT_REPORTED void thrown_go_on(void) {
    for (int i = 0; i < 3; i++)
        after();
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * price.h - what reports cost their thread: the length of a burst is the program's own time, and a
 * report may take ten times as long as the function that is called.
 *
 * The usual way is measured by the processor's time stamp: at one report in so many, from inside;
 * and once in a loop of reports, from inside and outside (price.c). The long way is measured by the
 * thread's CPU clock. Only in bursts.
 *
 * Included by what may use no vector register (redirect/enter.c).
 */
#ifndef HCCT_CALLS_PRICE_H
#define HCCT_CALLS_PRICE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "common/wire/compiler.h"
#include "preload/life/confine.h"
#include "preload/life/sys.h"

#define PRICE_ONE_IN 64u  /* reports; a power of two */
#define PRICE_MOST   1024 /* ticks: one that took more was interrupted */
#define PRICE_BEFORE 16   /* what was measured before counts as so many reports */
#define PRICE_ONE    256  /* ticks are kept in such parts */

struct price {
    uintptr_t mask;          /* a report is measured if its word's address has none of these bits */
    uint64_t mean;           /* of those that were, before this part of a burst, PRICE_ONE a tick */
    uint64_t sum, n;         /* of those that were in this part */
    uint64_t rare_ns;        /* CPU time of the long way, in this part of a burst */
    uint64_t words;          /* of the ring, when it began */
    uint64_t ticks, time_ns; /* then */
};

#define PRICE_NO_MASK UINTPTR_MAX

static inline uint64_t price_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

/* At the beginning of a report whose word will be at `at`, and at its end. */
static inline bool price_is_due(const struct price *price, const uint64_t *at) {
    return ((uintptr_t)at & price->mask) == 0;
}
static inline uint64_t price_begin(const struct price *price, const uint64_t *at) {
    return hcct_likely(!price_is_due(price, at)) ? 0 : price_ticks();
}
static inline void price_end(struct price *price, uint64_t began) {
    if (hcct_likely(began == 0))
        return;
    uint64_t took = (price_ticks() - began) * PRICE_ONE;
    if (took > PRICE_MOST * PRICE_ONE)
        return;
    price->sum += took;
    price->n++;
}

/* What a report takes now, 0: nothing is known. One that has to wait for memory counts as one: the
 * first of a thread does. */
static inline uint64_t price_mean(const struct price *price) {
    uint64_t before = price->mean != 0 ? PRICE_BEFORE : 0, n = before + price->n;
    return n > 0 ? (before * price->mean + price->sum) / n : 0;
}

/* The same for the long way; 0 where the thread may not make system calls. */
static inline uint64_t price_cpu_ns(const struct price *price) {
    struct timespec now = {0};
    if (price->mask != PRICE_NO_MASK && !confine_is_quiet())
        sys2(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static inline void price_long_way(struct price *price, uint64_t began_ns) {
    uint64_t now_ns = began_ns != 0 ? price_cpu_ns(price) : 0;
    if (now_ns > began_ns)
        price->rare_ns += now_ns - began_ns;
}

/* ---- price.c: process context ---- */

#define PRICE_LOOP  128u /* reports */
#define PRICE_LOOPS 12u

/* A call of a function that does nothing, in a loop of them, between bursts; what its report takes
 * beyond that within one; and what price_end() sees of the report. PRICE_ONE a tick. */
struct price_usual {
    uint64_t bare, report, measured;
};

/* Reports that go nowhere, of functions and from places in the page that begins at `code`; one
 * frame can be open. NULL: no memory. */
struct calls;
struct calls *price_bench_make(uint64_t code);
void price_bench_free(struct calls *c);
/* `calls` makes so many that are reported for calls_self. All signals blocked. */
struct price_usual price_bench_run(struct calls *c, void (*calls)(uint32_t n, void *argument),
                                   void *argument);

#endif

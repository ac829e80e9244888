/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * rate.c - a window, a decision, the next window.
 */
#include "preload/blocks/rate.h"

#include <stdatomic.h>

#include "common/wire/wire.h"

#define ENOUGH     16u        /* samples in a window: what they took is known to a fourth */
#define LONG_NS    100000000u /* a window without as many is over then */
#define SAVED_PART 16         /* of what is saved, so much is spent in a window */
#define LEAST_PART 8          /* of what a window allows by itself, so much stays in debt, too */

static struct {
    _Atomic uint64_t cpu_ns, spent_ns, all;
    _Atomic uint32_t samples;
    _Atomic uint32_t doubled;
    _Atomic int64_t saved_ns;
    atomic_flag deciding;
} rate = {.saved_ns = RATE_SAVED_NS, .deciding = ATOMIC_FLAG_INIT};

static int64_t within(int64_t value, int64_t limit) {
    return value > limit ? limit : value < -limit ? -limit : value;
}

static uint32_t doubled_most(uint64_t all) {
    uint32_t most = RATE_DOUBLED_USUAL;
    while (most < RATE_DOUBLED_MAX && wire_blocks_mean(most + 1) <= all / RATE_ALL_PART)
        most++;
    return most;
}

uint32_t rate_next(uint32_t doubled, const struct rate_window *window, int64_t *saved_ns) {
    int64_t earned = (int64_t)(window->own_ns / RATE_PART);
    int64_t allowed = earned + *saved_ns / SAVED_PART;
    uint64_t spent = window->spent_ns;
    allowed = allowed > earned / LEAST_PART ? allowed : earned / LEAST_PART;
    *saved_ns = within(*saved_ns + within(earned, RATE_SAVED_NS * 2) -
                           within((int64_t)spent, RATE_SAVED_NS * 2),
                       RATE_SAVED_NS);
    for (; spent > (uint64_t)allowed && doubled < doubled_most(window->all); spent /= 2)
        doubled++;
    for (; spent <= (uint64_t)allowed / 2 && doubled > 0; spent *= 2)
        doubled--;
    return doubled;
}

uint32_t rate_doubled(void) {
    return atomic_load_explicit(&rate.doubled, memory_order_relaxed);
}

/* What comes meanwhile belongs to this window or to the next one. */
static void decide(void) {
    atomic_store(&rate.samples, 0);
    uint64_t cpu = atomic_exchange(&rate.cpu_ns, 0), spent = atomic_exchange(&rate.spent_ns, 0);
    const struct rate_window window = {
        .own_ns = cpu > spent ? cpu - spent : 0, .spent_ns = spent, .all = atomic_load(&rate.all)};
    int64_t saved = atomic_load(&rate.saved_ns);
    atomic_store(&rate.doubled, rate_next(rate_doubled(), &window, &saved));
    atomic_store(&rate.saved_ns, saved);
}

void rate_spend(uint64_t spent_ns, uint32_t samples, uint64_t bytes) {
    atomic_fetch_add_explicit(&rate.all, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&rate.spent_ns, spent_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&rate.samples, samples, memory_order_relaxed);
}

void rate_note(uint64_t cpu_ns) {
    cpu_ns += atomic_fetch_add(&rate.cpu_ns, cpu_ns);
    if ((atomic_load(&rate.samples) < ENOUGH && cpu_ns < LONG_NS) ||
        atomic_flag_test_and_set(&rate.deciding))
        return;
    decide();
    atomic_flag_clear(&rate.deciding);
}

void rate_in_child(void) {
    rate.cpu_ns = rate.spent_ns = rate.samples = 0;
    rate.saved_ns = 0;
    rate.all = 0;
    rate.doubled = RATE_DOUBLED_USUAL;
    atomic_flag_clear(&rate.deciding);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * rate.c - a window, a decision, the next window.
 */
#include "preload/blocks/rate.h"

#include <stdatomic.h>

#include "common/wire/wire.h"
#include "preload/blocks/sites.h"

#define ENOUGH     16u        /* samples in a window: what they took is known to a fourth */
#define SHORT_NS   10000000u  /* no window is over before, but one that is dear: */
#define LONG_NS    100000000u /* a window without as many samples is over then */
#define AGE_NS     1000000000u
#define SAVED_PART 16 /* of what is saved, so much is spent in a window */
#define LEAST_PART 8  /* of what a window allows by itself, so much stays in debt, too */
#define STOPS_PART 2  /* of what a window allows, so much is for stops alone */

static struct {
    _Atomic uint64_t cpu_ns, samples_ns, stops_ns, most, all;
    _Atomic uint32_t samples;
    _Atomic uint32_t doubled, quota;
    _Atomic int64_t saved_ns;
    uint64_t age_ns; /* of this age, up to the last decision */
    atomic_flag deciding;
} rate = {.quota = RATE_QUOTA_NONE, .saved_ns = RATE_SAVED_NS, .deciding = ATOMIC_FLAG_INIT};

static int64_t within(int64_t value, int64_t limit) {
    return value > limit ? limit : value < -limit ? -limit : value;
}

static uint32_t doubled_most(uint64_t all) {
    uint32_t most = RATE_DOUBLED_USUAL;
    while (most < RATE_DOUBLED_MAX && wire_blocks_mean(most + 1) <= all / RATE_ALL_PART)
        most++;
    return most;
}

/* ---- a decision ---- */

/* What samples and stops of a window would have taken on the level that is being looked for. */
struct costs {
    uint64_t samples, stops;
};

/* A quota that no place has come up to is the same as none. */
static uint32_t quota_of(uint64_t points) {
    uint32_t least = RATE_QUOTA_LEAST + 1;
    while (least < RATE_QUOTA_NONE && sites_doubled(points, least) > 0)
        least++;
    return least;
}

/* Half of what is in use. False: that would be too little. */
static bool halve_quota(struct rate_level *level, const struct rate_window *window) {
    uint32_t in_use = quota_of(window->most);
    uint32_t quota = level->quota < in_use ? level->quota : in_use;
    if (quota <= RATE_QUOTA_LEAST)
        return false;
    level->quota = quota - 1;
    return true;
}

/* One step to fewer samples, or stops. False: there is none. */
static bool lower(struct rate_level *level, const struct rate_window *window, uint64_t allowed,
                  struct costs *costs) {
    bool few_stops = costs->stops <= allowed / STOPS_PART;
    costs->samples /= 2;
    if (few_stops && halve_quota(level, window))
        return true;
    if (level->doubled >= doubled_most(window->all))
        return false;
    level->doubled++;
    costs->stops /= 2;
    return true;
}

/* One step to more stops: these are worth more than samples where there are many, which have to be
 * fewer for that. */
static bool add_stops(struct rate_level *level, const struct rate_window *window, uint64_t allowed,
                      struct costs *costs) {
    if (level->doubled == 0 || costs->stops > allowed / STOPS_PART / 2)
        return false;
    if (costs->samples + costs->stops <= allowed / 2)
        costs->samples *= 2;
    else if (!halve_quota(level, window))
        return false;
    level->doubled--;
    costs->stops *= 2;
    return true;
}

/* One step to more samples of what many are of. */
static bool add_samples(struct rate_level *level, const struct rate_window *window,
                        uint64_t allowed, struct costs *costs) {
    uint64_t rest = allowed > costs->stops ? allowed - costs->stops : 0;
    if (level->quota >= quota_of(window->most)) {
        level->quota = RATE_QUOTA_NONE;
        return false;
    }
    if (costs->samples > rest / 2)
        return false;
    level->quota++;
    costs->samples *= 2;
    return true;
}

struct rate_level rate_next(struct rate_level level, const struct rate_window *window) {
    struct costs costs = {window->samples_ns, window->stops_ns};
    int64_t earned = (int64_t)(window->own_ns / RATE_PART);
    int64_t saved = level.saved_ns, allowed = earned + saved / SAVED_PART;
    allowed = allowed > earned / LEAST_PART ? allowed : earned / LEAST_PART;
    level.saved_ns = within(saved + within(earned, RATE_SAVED_NS * 2) -
                                within((int64_t)(costs.samples + costs.stops), RATE_SAVED_NS * 2),
                            RATE_SAVED_NS);
    while (costs.samples + costs.stops > (uint64_t)allowed &&
           lower(&level, window, (uint64_t)allowed, &costs))
        ;
    while (add_stops(&level, window, (uint64_t)allowed, &costs))
        ;
    while (add_samples(&level, window, (uint64_t)allowed, &costs))
        ;
    return level;
}

/* ---- of the process ---- */

uint32_t rate_doubled(void) {
    return atomic_load_explicit(&rate.doubled, memory_order_relaxed);
}

uint32_t rate_doubled_at(uint64_t points) {
    uint64_t most = atomic_load_explicit(&rate.most, memory_order_relaxed);
    if (points > most)
        atomic_store_explicit(&rate.most, points, memory_order_relaxed);
    uint32_t doubled =
        sites_doubled(points, atomic_load_explicit(&rate.quota, memory_order_relaxed));
    uint32_t limit = doubled > RATE_DOUBLED_USUAL ? doubled_most(atomic_load(&rate.all)) : doubled;
    return doubled < limit ? doubled : limit;
}

/* What comes meanwhile belongs to this window or to the next one. */
static void decide(void) {
    atomic_store(&rate.samples, 0);
    uint64_t cpu = atomic_exchange(&rate.cpu_ns, 0);
    struct rate_window window = {.samples_ns = atomic_exchange(&rate.samples_ns, 0),
                                 .stops_ns = atomic_exchange(&rate.stops_ns, 0),
                                 .most = atomic_exchange(&rate.most, 0),
                                 .all = atomic_load(&rate.all)};
    uint64_t spent = window.samples_ns + window.stops_ns;
    window.own_ns = cpu > spent ? cpu - spent : 0;
    struct rate_level level = {rate_doubled(), atomic_load(&rate.quota),
                               atomic_load(&rate.saved_ns)};
    level = rate_next(level, &window);
    atomic_store(&rate.doubled, level.doubled);
    atomic_store(&rate.quota, level.quota);
    atomic_store(&rate.saved_ns, level.saved_ns);
    rate.age_ns += cpu;
    if (rate.age_ns >= AGE_NS) {
        rate.age_ns = 0;
        sites_age();
    }
}

void rate_spend(uint64_t spent_ns, bool sampled, uint64_t bytes) {
    atomic_fetch_add_explicit(&rate.all, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(sampled ? &rate.samples_ns : &rate.stops_ns, spent_ns,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&rate.samples, sampled, memory_order_relaxed);
}

bool rate_is_dear(void) {
    uint64_t spent = atomic_load_explicit(&rate.samples_ns, memory_order_relaxed) +
                     atomic_load_explicit(&rate.stops_ns, memory_order_relaxed);
    int64_t half = atomic_load_explicit(&rate.saved_ns, memory_order_relaxed) / 2;
    return spent >= (half > RATE_DEAR_NS ? (uint64_t)half : RATE_DEAR_NS);
}

static bool is_over(uint64_t cpu_ns) {
    bool enough = atomic_load(&rate.samples) >= ENOUGH && cpu_ns >= SHORT_NS;
    return enough || cpu_ns >= LONG_NS || rate_is_dear();
}

void rate_note(uint64_t cpu_ns) {
    cpu_ns += atomic_fetch_add(&rate.cpu_ns, cpu_ns);
    if (!is_over(cpu_ns) || atomic_flag_test_and_set(&rate.deciding))
        return;
    decide();
    atomic_flag_clear(&rate.deciding);
}

void rate_in_child(void) {
    rate.cpu_ns = rate.samples_ns = rate.stops_ns = rate.samples = 0;
    rate.saved_ns = 0;
    rate.all = rate.most = 0;
    rate.doubled = RATE_DOUBLED_USUAL;
    rate.quota = RATE_QUOTA_NONE;
    atomic_flag_clear(&rate.deciding);
}

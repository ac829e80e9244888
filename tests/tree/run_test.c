/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * run_test.c - runs against a plain table of what is in them, and numbers in 16 bits.
 */
#include "tests/check.h"

#include "common/tree/minifloat.h"
#include "common/tree/run_log.h"
#include "tests/tree/world.h"

/* ---- runs of a small tree: a context is a path of up to DEPTH digits ---- */

#define FAN   3u
#define DEPTH 5u
#define PATHS 1024u /* a path as a number: two bits a level, the innermost lowest */

static const uint32_t frames[FAN + 1] = {0, 0, 7, UINT32_MAX}; /* of a digit */

struct table {
    uint64_t weight[PATHS];
    bool there[PATHS];
};

/* Writes the context and all below it. Gives the end. */
static uint64_t *write_from(uint64_t *out, const struct table *table, uint32_t path,
                            uint32_t depth) {
    if (depth > 0) {
        if (!table->there[path])
            return out;
        *out++ = run_word(depth, frames[path % 4], (uint32_t)table->weight[path]);
    }
    for (uint32_t digit = 1; digit <= FAN && depth < DEPTH; digit++)
        out = write_from(out, table, path * 4 + digit, depth + 1);
    return out;
}

static void add_random(struct table *one, struct table *sum, struct rng *rng) {
    memset(one, 0, sizeof *one);
    for (unsigned i = rng_below(rng, 2) ? 400 : 3; i > 0; i--) {
        uint32_t path = 0;
        for (uint64_t depth = 1 + rng_below(rng, DEPTH); depth > 0; depth--) {
            path = path * 4 + 1 + (uint32_t)rng_below(rng, FAN);
            one->there[path] = true;
        }
        one->weight[path] = rng_below(rng, 2) ? RUN_WEIGHT : rng_below(rng, 10);
    }
    for (uint32_t path = 0; path < PATHS; path++) {
        sum->there[path] |= one->there[path];
        sum->weight[path] += one->weight[path];
    }
}

static uint64_t weight_of(const struct table *table) {
    uint64_t weight = 0;
    for (uint32_t path = 0; path < PATHS; path++)
        weight += table->weight[path];
    return weight;
}

static uint32_t digit_of(uint32_t frame) {
    for (uint32_t digit = 1; digit <= FAN; digit++)
        if (frames[digit] == frame)
            return digit;
    return 0;
}

/* What the run says is what the table says, in order, each context once. */
static void compare(const uint64_t *run, const struct table *want) {
    struct table got = {0};
    uint32_t path[DEPTH + 1] = {0}, depth = 0;
    uint64_t before = 0;
    for (; *run != RUN_END; run++) {
        if (run_is_carry(*run)) {
            CHECK_UINT(run_depth(*run), depth + 1);
            CHECK(before != 0 && !run_is_carry(before));
            got.weight[path[depth]] += run_weight(*run) * RUN_CARRY;
        } else {
            CHECK(run_depth(*run) <= depth + 1);
            depth = run_depth(*run);
            path[depth] = path[depth - 1] * 4 + digit_of(run_frame(*run));
            CHECK(!got.there[path[depth]]);
            got.there[path[depth]] = true;
            got.weight[path[depth]] += run_weight(*run);
        }
        before = *run;
    }
    CHECK(memcmp(got.there, want->there, sizeof got.there) == 0);
    CHECK(memcmp(got.weight, want->weight, sizeof got.weight) == 0);
}

/* Many runs, long and short, with weights beyond a word. */
static void test_log(struct rng *rng) {
    struct budget budget = {0};
    struct run_log log;
    struct table one, sum = {0};
    run_log_init(&log, &budget);
    for (unsigned i = 0; i < 200; i++) {
        add_random(&one, &sum, rng);
        uint64_t *room = run_log_room(&log, PATHS);
        CHECK(room != NULL);
        run_log_add(&log, (size_t)(write_from(room, &one, 0, 0) - room), weight_of(&one));
        CHECK(log.runs <= 12);
        if (i % 37 == 0)
            compare(run_log_all(&log), &sum);
    }
    CHECK_UINT(log.weight, weight_of(&sum));
    compare(run_log_all(&log), &sum);
    run_log_clear(&log);
    CHECK_UINT(log.runs, 0);
    run_log_free(&log);
    CHECK_UINT(budget.used, 0);
}

static void test_order(void) {
    CHECK(run_word(2, UINT32_MAX, RUN_WEIGHT) < run_word(1, 0, 0)); /* what is deeper comes first */
    CHECK(run_word(2, 0, RUN_WEIGHT) < run_word(2, 1, 0));
    CHECK(run_carry(2, 1) < run_word(3, 0, 0));
    CHECK(run_word(1, UINT32_MAX, RUN_WEIGHT) < RUN_END);
    CHECK_UINT(run_depth(run_word(RUN_DEPTH_MAX, 5, 6)), RUN_DEPTH_MAX);
    CHECK_UINT(run_depth(run_carry(RUN_DEPTH_MAX, 6)), RUN_DEPTH_MAX + 1);
    CHECK_UINT(run_frame(run_word(1, UINT32_MAX, 6)), UINT32_MAX);
    CHECK_UINT(run_weight(run_word(1, 5, RUN_WEIGHT)), RUN_WEIGHT);
    CHECK(run_is_carry(run_carry(7, 1)) && !run_is_carry(run_word(7, 0, 1)));
    CHECK(!run_is_carry(RUN_END));
}

static void test_budget(void) {
    struct budget budget = {.max = 100};
    struct run_log log;
    run_log_init(&log, &budget);
    CHECK(run_log_room(&log, 1) == NULL);
    CHECK_UINT(budget.used, 0);
    run_log_free(&log);
}

/* ---- numbers ---- */

static void check_minifloat(uint64_t value) {
    uint64_t low = minifloat_value(minifloat_floor(value)),
             high = minifloat_value(minifloat_ceil(value));
    CHECK(low <= value && value <= high);
    CHECK(value >= MINIFLOAT_EXACT || (low == value && high == value));
    CHECK(value - low <= value / MINIFLOAT_STEP);
    CHECK(high - value <= value / MINIFLOAT_STEP || high == UINT64_MAX);
    CHECK(minifloat_ceil(value) <= UINT16_MAX);
    CHECK_UINT(minifloat_floor(low), minifloat_floor(value));
}

static void test_minifloat(struct rng *rng) {
    for (unsigned bit = 0; bit < 64; bit++)
        for (uint64_t near = 0; near < 5; near++)
            check_minifloat((UINT64_C(1) << bit) - 2 + near);
    for (unsigned i = 0; i < 100000; i++)
        check_minifloat(rng_next(rng) >> rng_below(rng, 64));
    for (uint32_t number = 0; number < minifloat_floor(UINT64_MAX); number++)
        CHECK(minifloat_value(number) < minifloat_value(number + 1));
}

int main(void) {
    struct rng rng = {test_seed()};
    test_order();
    for (unsigned i = 0; i < 20; i++)
        test_log(&rng);
    test_budget();
    test_minifloat(&rng);
    return check_report();
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * blocks_test.c - the law by which blocks are sampled, against the functions of libm; and the table
 * of those that are: found, freed, drawn again when it is full, reported when that is possible.
 *
 * The words of chance are the same in each run. What is counted is within five standard deviations.
 */
#include "preload/events/course.h"
#include "preload/blocks/table.h"

#include <math.h>
#include <string.h>

#include "common/wire/wire.h"
#include "tests/check.h"

static uint64_t random_state = 42;

/* ---- the law ---- */

static void check_weights(void) {
    for (double size = 1; size < 1e12; size = ceil(size * 1.3)) {
        for (uint32_t doubled = 0; doubled <= TABLE_DOUBLED_MAX; doubled += 4) {
            double mean = (double)table_mean(doubled), want = size / -expm1(-size / mean);
            double got = (double)course_weight((uint64_t)size, table_mean(doubled));
            CHECK(fabs(got - want) <= want * 1e-6 + 1);
        }
    }
}

static void check_gaps(void) {
    const unsigned n = 200000;
    unsigned within[3] = {0};
    double sum = 0;
    for (unsigned i = 0; i < n; i++) {
        double gap = (double)course_gap(table_mean(1), &random_state) / (double)table_mean(1);
        CHECK(gap > 0);
        sum += gap;
        for (int k = 0; k < 3; k++)
            within[k] += gap <= 0.01 * pow(10, k);
    }
    CHECK(fabs(sum / n - 1) < 5 / sqrt(n));
    for (int k = 0; k < 3; k++) {
        double p = -expm1(-0.01 * pow(10, k));
        CHECK(fabs(within[k] - n * p) < 5 * sqrt(n * p * (1 - p)));
    }
}

static void check_stays(void) {
    const unsigned n = 50000;
    for (double size = 1000; size < 1e7; size *= 5) {
        double p = expm1(-size / (2.0 * WIRE_BLOCKS_MEAN)) / expm1(-size / WIRE_BLOCKS_MEAN);
        unsigned stay = 0;
        for (unsigned i = 0; i < n; i++)
            stay += course_stays((uint64_t)size, WIRE_BLOCKS_MEAN, 1, &random_state);
        CHECK(fabs(stay - n * p) < 5 * sqrt(n * p * (1 - p)) + 1);
        p = expm1(-size / (8.0 * WIRE_BLOCKS_MEAN)) / expm1(-size / WIRE_BLOCKS_MEAN);
        stay = 0;
        for (unsigned i = 0; i < n; i++)
            stay += course_stays((uint64_t)size, WIRE_BLOCKS_MEAN, 3, &random_state);
        CHECK(fabs(stay - n * p) < 5 * sqrt(n * p * (1 - p)) + 1);
        CHECK(course_stays((uint64_t)size, WIRE_BLOCKS_MEAN, 0, &random_state));
    }
}

static void check_blocks(void) {
    const unsigned n = 50000;
    for (uint64_t size = 1000; size < 10000000; size *= 7) {
        double sum = 0, want = (double)course_weight(size, WIRE_BLOCKS_MEAN) / (double)size;
        for (unsigned i = 0; i < n; i++)
            sum += (double)course_number(size, WIRE_BLOCKS_MEAN, &random_state);
        CHECK(fabs(sum / n - want) < 2.5 / sqrt(n));
    }
}

/* ---- the table ---- */

static struct {
    uint64_t weight[WIRE_BLOCKS], number[WIRE_BLOCKS];
    unsigned samples;
    bool deaf;
} session;

struct blocks_link hcct_blocks_link;

static bool sample(const struct event_sample *it) {
    uint32_t place = WIRE_BLOCK_PLACE(it->number);
    session.samples++;
    if (session.deaf)
        return false;
    CHECK(it->number > session.number[place]);
    session.number[place] = it->number;
    session.weight[place] = it->weight;
    return true;
}

static void change(const struct blocks_change *it, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        CHECK_UINT(it[i].doubled, table_doubled());
        if (session.number[WIRE_BLOCK_PLACE(it[i].number)] == it[i].number)
            session.weight[WIRE_BLOCK_PLACE(it[i].number)] = it[i].weight;
    }
}

static void gone(uint64_t number) {
    if (session.number[WIRE_BLOCK_PLACE(number)] == number)
        session.weight[WIRE_BLOCK_PLACE(number)] = 0;
}

static double all(void) {
    double sum = 0;
    for (unsigned i = 0; i < WIRE_BLOCKS; i++)
        sum += (double)session.weight[i];
    return sum;
}

static void *address(unsigned i) {
    return (void *)(uintptr_t)(0x10000 + 64 * (uint64_t)i);
}

static void add(unsigned i, size_t size, uint32_t doubled) {
    static const struct event_place place = {1, 2, 3};
    const struct table_size its = {size, hcct_blocks_link.event.beside, doubled, 0};
    table_add(address(i), &its, &place, &random_state);
}

static void check_one(void) {
    CHECK(!table_may_have(address(1)) && !table_may_have(NULL));
    CHECK_UINT(table_find(NULL).number, 0);
    add(1, 1000, 0);
    CHECK(table_may_have(address(1)) && table_find(address(1)).number != 0);
    CHECK_UINT(table_find(address(2)).number, 0);
    CHECK_UINT((uint64_t)all(), course_weight(1000, WIRE_BLOCKS_MEAN));
    add(1, 5000, 0); /* it was freed where nobody saw it */
    CHECK_UINT((uint64_t)all(), course_weight(5000, WIRE_BLOCKS_MEAN));
    struct table_block block = table_find(address(1));
    table_forget(block);
    CHECK(!table_may_have(address(1)) && all() == 0);
    table_forget(block); /* of no use, and of no harm */
    table_forget((struct table_block){.number = 0});
    CHECK(!table_may_have(address(1)));
}

static void check_deaf(void) {
    session.deaf = true;
    add(7, 1000, 0);
    CHECK(!table_may_have(address(7)) && all() == 0);
    session.deaf = false;
    add(7, 1000, 0);
    CHECK(table_may_have(address(7)) && all() > 0);
    table_forget(table_find(address(7)));
    CHECK(!table_may_have(address(7)) && all() == 0);
}

/* Blocks of an earlier attachment are nobody's. */
static void check_renew(void) {
    for (unsigned i = 0; i < 100; i++)
        add(i, 2000, 0);
    struct table_block old = table_find(address(1));
    table_forget(table_find(address(0)));
    table_renew();
    memset(&session, 0, sizeof session);
    for (unsigned i = 0; i < 100; i++)
        CHECK(!table_may_have(address(i)) && table_find(address(i)).number == 0);
    table_forget(old);
    add(1, 5000, 0);
    table_forget(old);
    CHECK_UINT((uint64_t)all(), course_weight(5000, WIRE_BLOCKS_MEAN));
    table_forget(table_find(address(1)));
    CHECK(all() == 0 && !table_may_have(address(1)));
}

/* Each stands for its weight, also when R has been doubled several times; and where the clock has
 * more bytes for each block than its own. */
static void check_full(unsigned beside, uint32_t least) {
    const unsigned n = 6 * WIRE_BLOCKS;
    const uint64_t bytes = 2000;
    double true_bytes = 0;
    hcct_blocks_link.event.beside = beside;
    for (unsigned i = 0; i < n; i++) {
        add(i, bytes, 0); /* drawn by the first R, as by a thread that has not drawn since */
        true_bytes += (double)(course_weight(bytes + beside, WIRE_BLOCKS_MEAN) * bytes) /
                      (double)(bytes + beside);
    }
    uint32_t doubled = table_doubled();
    double mean = (double)table_mean(doubled);
    CHECK(doubled >= least && doubled <= 6);
    CHECK(fabs(all() - true_bytes) < 5 * sqrt(mean * true_bytes));
    for (unsigned i = 0; i < n; i += 2)
        table_forget(table_find(address(i)));
    CHECK(fabs(all() - true_bytes / 2) < 5 * sqrt(mean * true_bytes / 2));
    for (unsigned i = 1; i < n; i += 2)
        table_forget(table_find(address(i)));
    CHECK(all() == 0);
    hcct_blocks_link.event.beside = 0;
}

/* Most blocks were drawn by a larger R than the table has asked for: it asks for more than that. */
static void check_full_of_rare(void) {
    const unsigned n = 2 * WIRE_BLOCKS;
    const uint32_t rare = table_doubled() + 4;
    double true_bytes = 0;
    for (unsigned i = 0; i < n; i++) {
        add(i, 2000, rare);
        true_bytes += (double)course_weight(2000, table_mean(rare));
    }
    CHECK(table_doubled() > rare);
    CHECK(fabs(all() - true_bytes) < 5 * sqrt((double)table_mean(table_doubled()) * true_bytes));
    for (unsigned i = 0; i < n; i++)
        table_forget(table_find(address(i)));
    CHECK(all() == 0);
}

static void check_clear(void) {
    for (unsigned i = 0; i < 100; i++)
        add(i, 1u << 30, 0);
    CHECK(table_find(address(99)).number != 0);
    table_clear();
    for (unsigned i = 0; i < 100; i++)
        CHECK(!table_may_have(address(i)));
}

int main(void) {
    hcct_blocks_link.heap = true;
    hcct_blocks_link.event.sample = sample;
    hcct_blocks_link.change = change;
    hcct_blocks_link.gone = gone;
    check_weights();
    check_gaps();
    check_stays();
    check_blocks();
    check_one();
    check_deaf();
    check_renew();
    check_full(0, 3);
    check_full(1024, 3);
    check_full_of_rare();
    check_clear();
    return check_report();
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pace_test.c - the program's own time in a burst, by the calls that it makes.
 */
#include "preload/calls/pace.h"

#include "tests/check.h"

static struct pace taken(uint64_t calls, uint64_t ns, uint64_t stub_ps) {
    struct pace pace;
    pace_begin(&pace, 1000, 5000000);
    CHECK(pace.taken);
    pace_end(&pace, 1000 + calls, 5000000 + ns, stub_ps);
    CHECK(!pace.taken);
    return pace;
}

/* 250,000 ns in which a call each 4 ns and its stub of 1 ns are made: 50,000 calls. */
static void test_dense(void) {
    struct pace pace = taken(50000, 250000, 1000);
    CHECK_UINT(pace_ns(&pace, 50000, 2200000, 500000), 200000);
    CHECK_UINT(pace_ns(&pace, 100000, 4400000, 600000), 400000);
}

/* Whatever the pace was, reports have taken half of their price at least, and eight times that at
 * most. */
static void test_bounds(void) {
    struct pace pace = taken(50000, 250000, 1000);
    CHECK_UINT(pace_ns(&pace, 1000000, 1000, 600), 800);
    CHECK_UINT(pace_ns(&pace, 0, 1000, 900), 200);
    CHECK_UINT(pace_ns(&pace, 0, 1000, 800), 0);
}

/* So few calls say nothing, and so short a time; nor do such whose stubs would have taken most of
 * the time; nor where the pace was never taken. */
static void test_unknown(void) {
    struct pace few = taken(63, 250000, 1000), swift = taken(200000, 250000, 1000), none = {0};
    CHECK_UINT(pace_ns(&few, 100000, 4400000, 600000), 600000);
    CHECK_UINT(pace_ns(&swift, 100000, 4400000, 600000), 600000);
    struct pace brief = taken(1000, 99000, 1000);
    CHECK_UINT(pace_ns(&brief, 100000, 4400000, 600000), 600000);
    pace_end(&none, 1000000, 5000000, 0);
    CHECK_UINT(pace_ns(&none, 100000, 4400000, 600000), 600000);
}

int main(void) {
    test_dense();
    test_bounds();
    test_unknown();
    return check_report();
}

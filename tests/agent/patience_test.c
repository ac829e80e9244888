/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * patience_test.c - waits grow, up to a limit, and are a small share of the time between them.
 */
#include "preload/life/patience.h"

#include "tests/check.h"

#define MS 1000000u

/* Of the time: what the first `n` questions in vain have waited for. */
static double share(uint32_t n, bool late) {
    double waited = 0, passed = 0;
    for (uint32_t i = 0; i < n; i++) {
        waited += patience_wait_ms(i);
        passed += (double)patience_pause_ns(i + 1, late) / MS;
    }
    return waited / passed;
}

static void test_waits(void) {
    const int wait_ms[] = {3, 6, 12, 24, 48, 48, 48};
    for (uint32_t i = 0; i < 7; i++)
        CHECK_UINT(patience_wait_ms(i), wait_ms[i]);
    CHECK_UINT(patience_wait_ms(UINT32_MAX), 48);
}

static void test_pauses(void) {
    for (uint32_t i = 0; i <= 4; i++)
        CHECK_UINT(patience_pause_ns(i, false), 1000u * MS);
    CHECK_UINT(patience_pause_ns(UINT32_MAX, false), 3072u * MS);
    CHECK_UINT(patience_pause_ns(0, true), 50u * MS);
    for (uint32_t n = 1; n < 100; n++)
        CHECK(share(n, false) < 1. / 50 && share(n, true) < 1. / 15);
}

int main(void) {
    test_waits();
    test_pauses();
    return check_report();
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * patience_test.c - waits grow, up to a limit, and are a small share of the time between them.
 */
#include "preload/life/patience.h"

#include "tests/check.h"

#define MS 1000000u

static uint64_t share(uint32_t unanswered, bool late) {
    return patience_pause_ns(unanswered, late) / (uint64_t)patience_wait_ms(unanswered) / MS;
}

static void test_waits(void) {
    const int wait_ms[] = {3, 6, 12, 24, 48, 48, 48};
    for (uint32_t i = 0; i < 7; i++)
        CHECK_UINT(patience_wait_ms(i), wait_ms[i]);
    CHECK_UINT(patience_wait_ms(UINT32_MAX), 48);
}

static void test_pauses(void) {
    CHECK_UINT(patience_pause_ns(0, false), 1000u * MS);
    CHECK_UINT(patience_pause_ns(UINT32_MAX, false), 3072u * MS);
    CHECK_UINT(patience_pause_ns(0, true), 50u * MS);
    for (uint32_t i = 0; i < 10; i++)
        CHECK(share(i, false) >= 64 && share(i, true) >= 16);
}

int main(void) {
    test_waits();
    test_pauses();
    return check_report();
}

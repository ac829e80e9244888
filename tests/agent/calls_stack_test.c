/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_stack_test.c - which calls are taken to be open, for events that a test makes up.
 */
#include "preload/calls/calls.h"
#include "tests/check.h"

enum { TOP = 0x7fff0000, OTHER = 0x20000000, SITE = 0x1000, REPORT = 0x2000 };

static struct calls c;
static struct wire_slot slot;

/* The daemon's cursor, of which there is none here. */
bool calls_pop_all(struct calls *calls) {
    calls->cursor = calls->common = calls->base + 1;
    return true;
}

static void enter(uint64_t routine, uint64_t sp, bool jumped) {
    uint64_t site = SITE + jumped; /* the same one would be that of an inlined function */
    const struct calls_event event = {routine, site, sp, REPORT + routine, true, jumped};
    calls_drop_left(&c, &event);
    CHECK(c.top != c.end || calls_grow(&c));
    *c.top++ = (struct calls_frame){routine, site, sp, REPORT + routine};
}

static void leave(uint64_t routine, uint64_t sp, uint64_t report) {
    calls_leave(&c, &(struct calls_event){routine, SITE, sp, report, false, false});
}

static uint64_t depth(void) {
    return (uint64_t)(c.top - c.base - 1);
}

static uint64_t counted(enum wire_counter counter) {
    return atomic_load(&slot.counter[counter]);
}

static void test_deep(void) {
    for (uint64_t i = 0; i < 5000; i++)
        enter(i + 1, TOP - 64 * (i + 1), false);
    CHECK_UINT(depth(), 5000);
    for (uint64_t i = 5000; i-- > 0;) {
        CHECK_UINT(c.top[-1].routine, i + 1);
        leave(i + 1, TOP - 64 * (i + 1), REPORT + i);
    }
    CHECK_UINT(depth(), 0);
    CHECK_UINT(counted(WIRE_STRAY), 0);
}

/* The end of a call that a handler has interrupted, in which open calls were moved, may look there.
 */
static void test_former_room(void) {
    const struct calls_frame *former = c.base;
    for (uint64_t i = 0; i < c.room; i++)
        enter(i + 1, TOP - 64 * (i + 1), false);
    CHECK(c.base != former);
    CHECK_UINT(former[1].routine, 0);
    calls_clear(&c);
}

static void test_ends_without_beginning(void) {
    leave(1, TOP - 64, REPORT);
    leave(1, TOP - 64, SITE); /* by a jump: looks at the caller's frame, and there is none */
    CHECK_UINT(depth(), 0);
    CHECK_UINT(counted(WIRE_STRAY), 2);
}

static void test_jump(void) {
    for (uint64_t i = 1; i <= 4; i++)
        enter(i, TOP - 64 * i, false);
    enter(5, TOP - 128, true); /* beside 2 */
    CHECK_UINT(depth(), 2);
    CHECK_UINT(counted(WIRE_JUMPED), 3);
    leave(5, TOP - 128, REPORT);
    leave(1, TOP - 64, REPORT);
    CHECK_UINT(depth(), 0);
}

static void test_two_stacks(void) {
    enter(1, TOP - 64, false);
    enter(2, OTHER - 64, false);
    enter(3, OTHER - 128, false);
    CHECK_UINT(depth(), 2);
    enter(4, TOP - 128, false);
    CHECK_UINT(depth(), 2);
    CHECK_UINT(c.base[1].routine, 1);
    leave(3, OTHER - 128, REPORT);
    CHECK_UINT(depth(), 1);
    CHECK_UINT(c.base[1].routine, 2);
    leave(4, TOP - 128, REPORT);
    enter(2, OTHER - 64, false); /* given up, and begun anew */
    CHECK_UINT(depth(), 1);
}

int main(void) {
    c.slot = &slot;
    CHECK(calls_grow(&c));
    calls_set_bounds(&c, TOP - (1 << 20), TOP, false);
    test_former_room();
    test_deep();
    test_ends_without_beginning();
    test_jump();
    test_two_stacks();
    return check_report();
}

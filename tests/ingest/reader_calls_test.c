/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * reader_calls_test.c - CALL and BURST in a ring, well-formed and not, and the batches that calls
 * are gathered in: what arrives, and when.
 */
#include "tests/check.h"
#include "tests/ingest/reader_ring.h"

static uint64_t count_of(const uint64_t *routines, unsigned n) {
    struct mcct_view view;
    uint32_t node = MCCT_ROOT;
    for (unsigned i = 0; i < n; i++)
        node = node_child(tree, node, addresses_frame(map, routines[i], routines[i] + 5));
    node_view(tree, node, &view);
    return node != 0 ? view.count : 0;
}

static void test_calls(void) {
    const uint64_t main_f_g[] = {0x1000, 0x2000, 0x3000}, main_g[] = {0x1000, 0x3000};
    start();
    put_call(0, 0x1000, 0x1005);
    for (int i = 0; i < 10; i++) { /* main calls f, f calls g twice; then main calls g */
        put_call(i > 0, 0x2000, 0x2005);
        put_call(0, 0x3000, 0x3005);
        put_call(1, 0x3000, 0x3005);
        put_call(2, 0x3000, 0x3005);
    }
    drain();
    CHECK(!reader.broken);
    CHECK_UINT(effect.credits, 41);
    CHECK_UINT(total(), 41);
    CHECK_UINT(count_of(main_f_g, 1), 1);
    CHECK_UINT(count_of(main_f_g, 2), 10);
    CHECK_UINT(count_of(main_f_g, 3), 20);
    CHECK_UINT(count_of(main_g, 2), 10);
    CHECK_UINT(mcct_depth(&reader.cursor), 2);
    stop();
}

/* What is called in a burst counts as many times as that stands for bursts, whatever its verb; the
 * thread stands where it stood. */
static void test_bursts(void) {
    const uint64_t path[] = {0x1000, 0x2000};
    struct burst_sums sums = {0};
    start();
    reader.bursts = &sums;
    put_call(0, 0x1000, 0x1005);
    put(wire_word(WIRE_BURST, 128));
    for (int i = 0; i < 10; i++)
        put_call(i > 0, 0x2000, 0x2005);
    put(wire_word(WIRE_BURST, 64));
    put_call(1, 0x2000, 0x2005);
    drain();
    put(wire_word(WIRE_CREDIT, 2));
    put(wire_word(WIRE_BURST, 1));
    put_call(1, 0x2000, 0x2005);
    drain();
    CHECK(!reader.broken);
    CHECK_UINT(count_of(path, 1), 1);
    CHECK_UINT(count_of(path, 2), 128 * 10 + 64 * 3 + 1);
    CHECK_UINT(total(), 1 + 128 * 10 + 64 * 3 + 1);
    CHECK_UINT(sums.weight, 20 + 3); /* of those that are over, by 64 */
    CHECK_UINT(sums.squares, 20 * 20 + 3 * 3);
    CHECK_UINT(sums.crossed, 20 * 127 + 3 * 63);
    reader_close(&reader);
    CHECK_UINT(sums.weight, 20 + 3 + 0);
    stop();
}

/* A burst that stands for nothing, as of words of zeros, or for more than there can be. */
static void test_broken_bursts(void) {
    static const uint64_t wrong[] = {0, WIRE_BURST_MAX + 1, WIRE_OPERAND_MASK};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        start();
        put(wire_word(WIRE_BURST, wrong[i]));
        put_call(0, 0x1000, 0x1005);
        drain();
        CHECK(reader.broken);
        CHECK_UINT(total(), 0);
        uint64_t unread = ring_unread(slot, reader.size, atomic_load(&slot->head));
        drain(); /* what nobody reads must not fill a ring: its thread would wait for ever */
        CHECK_UINT(unread, 1);
        CHECK_UINT(effect.discarded, 1);
        CHECK_UINT(atomic_load(&slot->tail), atomic_load(&slot->head));
        stop();
    }
}

/* Addresses are offsets; what comes between leaves them so. */
static void test_calls_code(void) {
    const uint64_t path[] = {0x7f0000001000, 0x7f0000002000, 0x7f0000002000, 0x550000001000};
    start();
    put(wire_word(WIRE_CODE, 0x7f0000000000));
    put_call(0, 0x1000, 0x1005);
    put_call(0, 0x2000, 0x2005);
    drain();
    put(wire_word(WIRE_MAP, 0));
    put_call(0, 0x2000, 0x2005);
    put(wire_word(WIRE_CODE, 0x550000000000));
    put_call(0, 0x1000, 0x1005);
    drain();
    drain(); /* it stops at MAP */
    CHECK(!reader.broken);
    CHECK_UINT(total(), 4);
    CHECK_UINT(count_of(path, 4), 1);
    stop();
}

/* Each operand at its largest. */
static void test_calls_reach(void) {
    const uint64_t last = WIRE_CODE_BYTES - 1;
    struct mcct_view view;
    start();
    for (unsigned i = 0; i <= WIRE_POPS_MAX; i++)
        put_call(0, 0x1000, 0x1005);
    put_call(WIRE_POPS_MAX, last, last);
    drain();
    CHECK(!reader.broken);
    CHECK_UINT(mcct_depth(&reader.cursor), 2);
    uint32_t first = node_child(tree, MCCT_ROOT, addresses_frame(map, 0x1000, 0x1005));
    node_view(tree, node_child(tree, first, addresses_frame(map, last, last)), &view);
    CHECK_UINT(view.count, 1);
    stop();
}

/* Wherever the ring's end falls. */
static void test_calls_wrap(void) {
    const unsigned n = 3 * WIRE_RING_WORDS(WIRE_SLOT_BYTES);
    start();
    put_call(0, 0x1000, 0x1005);
    for (unsigned i = 0; i < n; i++) {
        put_call(i > 0, 0x2000, 0x2005);
        if (i % 1000 == 999)
            drain();
    }
    drain();
    CHECK(!reader.broken);
    CHECK_UINT(total(), 1 + n);
    CHECK_UINT(mcct_depth(&reader.cursor), 2);
    stop();
}

/* Where the next word of a call stands beyond the end of the ring, or of the drain, as well. */
static void put_path(unsigned pops, uint64_t middle, uint64_t to, bool credited) {
    put(wire_word(WIRE_CODE, middle & ~0xfffull));
    if (pops > 0)
        put(wire_word(WIRE_POP, pops));
    put(wire_word(WIRE_PUSH, middle));
    put(middle + 5);
    put(wire_word(WIRE_PUSH, to));
    put(to + 5);
    if (credited)
        put(wire_word(WIRE_CREDIT, 1));
}

static void drain_up_to(uint64_t end) {
    reader_drain(&reader, slot, end, tree, map, &effect);
    CHECK(!reader.broken);
}

/* Calls between modules, and callers that were not seen themselves, come in words of walks: they
 * are read as calls are, wherever a drain or the ring ends among them. */
static void test_calls_of_modules(void) {
    const uint64_t main_seen[] = {0x1000, 0x7000}, callee[] = {0x1000, 0x7000, 0x8000};
    const unsigned n = 3 * WIRE_RING_WORDS(WIRE_SLOT_BYTES);
    uint64_t credits = 0;
    start();
    put_call(0, 0x1000, 0x1005);
    drain();
    for (unsigned i = 0; i < n; i++) {
        put_path(i > 0 ? 2 : 0, 0x7000, 0x8000, i % 3 != 0);
        credits += i % 3 != 0;
        for (uint64_t at = reader.at; i % 7 == 0 && at < atomic_load(&slot->head); at += 1 + i % 2)
            if (reader.at < at &&
                (ring_word(slot, reader.size, at - 1) >> WIRE_VERB_SHIFT) != WIRE_PUSH)
                drain_up_to(at);
        if (i % 500 == 0)
            drain();
    }
    drain();
    CHECK(!reader.broken);
    CHECK_UINT(total(), 1 + credits);
    CHECK_UINT(count_of(main_seen, 2), 0);
    CHECK_UINT(count_of(callee, 3), credits);
    CHECK_UINT(mcct_depth(&reader.cursor), 3);
    stop();
}

/* Calls are gathered from drain to drain; who asks in between sees all that were drained, and so do
 * those who ask when the thread is gone. */
static void test_calls_wait(void) {
    const uint64_t main_f[] = {0x1000, 0x2000};
    start();
    put_call(0, 0x1000, 0x1005);
    drain();
    CHECK(reader.cursor.waiting != NULL);
    CHECK_UINT(total(), 1);
    CHECK(reader.cursor.waiting == NULL);
    for (int i = 0; i < 10; i++) {
        put_call(i > 0, 0x2000, 0x2005);
        drain();
    }
    CHECK(reader.cursor.waiting != NULL);
    reader_close(&reader);
    CHECK_UINT(total(), 11);
    CHECK_UINT(count_of(main_f, 2), 10);
    stop();
}

/* A thread without calls keeps no memory for them for long. */
static void test_calls_rest(void) {
    const uint64_t second = 1000000000;
    start();
    put_call(0, 0x1000, 0x1005);
    drain();
    reader_rest(&reader, &effect, 5 * second);
    drain();
    reader_rest(&reader, &effect, 5 * second + 1);
    CHECK(reader.cursor.waiting != NULL);
    reader_rest(&reader, &effect, 6 * second);
    CHECK(reader.cursor.waiting == NULL);
    CHECK_UINT(total(), 1);
    stop();
}

static void test_calls_lie(void) {
    start();
    put_call(0, 0x1000, 0);
    put_call(2, 0x1000, 0); /* there is one frame */
    put_call(0, 0x1000, 0);
    drain();
    CHECK(reader.broken);
    CHECK_UINT(total(), 1);
    stop();
}

int main(void) {
    test_calls();
    test_calls_code();
    test_bursts();
    test_broken_bursts();
    test_calls_reach();
    test_calls_wrap();
    test_calls_of_modules();
    test_calls_wait();
    test_calls_rest();
    test_calls_lie();
    return check_report();
}

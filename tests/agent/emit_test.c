/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * emit_test.c - the agent's differences, read back by the daemon's reader: whatever the contexts
 * and however full the ring, what arrives is what was sent.
 */
#include <unistd.h>

#include "common/code/frame.h"
#include "common/tree/batch.h"
#include "common/tree/summary.h"
#include "common/wire/ring.h"
#include "daemon/ingest/reader.h"
#include "preload/life/modules.h"
#include "preload/sample/emit.h"
#include "tests/check.h"
#include "tests/tree/nodes.h"

/* The agent's parts that emit.c asks. */
static uint32_t generation = 1;
uint32_t modules_generation(void) {
    return generation;
}

static struct agent_thread thread;
static struct wire_slot *slot;
static struct reader reader;
static struct mcct *tree;
static struct addresses *map;
static struct memo_frame frames[1024];

static void start(void) {
    const struct mcct_params params = {.summary = &summary_exact, .epsilon = 0.001};
    memset(&thread, 0, sizeof thread);
    reader = (struct reader){.size = WIRE_RING_WORDS(WIRE_SLOT_BYTES)};
    memset(frames, 0, sizeof frames);
    thread.stream = thread.streams;
    thread.memo = (struct memo){.frame = frames, .room = 1024};
    slot = aligned_alloc(64, WIRE_SLOT_BYTES);
    memset(slot, 0, WIRE_SLOT_BYTES);
    tree = mcct_new(&params);
    map = addresses_new(frame_user(geteuid()));
    CHECK(addresses_add(map, 0, 1ull << 40, 0, 1, 0)); /* all code is some module's */
}

static void stop(void) {
    reader_close(&reader);
    mcct_free(tree);
    addresses_free(map);
    free(slot);
}

static void drain(void) {
    struct reader_effect effect;
    do {
        reader_drain(&reader, slot, reader_end(&reader, slot), tree, map, &effect);
    } while (effect.map_changed);
    CHECK(!reader.broken);
    mcct_batch_wait_no_more(&reader.cursor); /* the tree is looked at without being asked */
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

/* The thread's walk finds a context of `depth` frames; a call tree with two callees everywhere, or
 * with recursion where `bits` says so. What is the same as before is a common prefix still. */
static void make_context(uint32_t depth, uint64_t bits) {
    uint32_t same = 0;
    for (uint32_t level = 0; level < depth; level++) {
        uint64_t routine = 0x1000 + 0x100 * level + 0x10 * (bits >> (level % 8) & 1);
        struct unwind_frame f = {routine, level == 0 ? 0 : 0x1000 + 0x100 * (level - 1) + 5};
        if (level > 1 && (bits >> 8 & 3) == 0 && (bits >> (10 + level % 16) & 1) != 0)
            f = frames[level - 1].frame;
        if (same == level && level < thread.memo.depth &&
            memcmp(&f, &frames[level].frame, sizeof f) == 0)
            same++;
        frames[level].frame = f;
    }
    thread.memo.depth = depth;
    thread.shown = (struct shown){frames, sizeof *frames, depth};
    thread.leaf = (struct unwind_frame){0, 0};
    if (thread.streams[0].common_frames > same)
        thread.streams[0].common_frames = same;
}

/* As the agent does: what was sent is not unsent any more. */
static bool emit(uint32_t mark) {
    bool sent = emit_sample(&thread, slot, mark, thread.unsent_ns);
    if (sent)
        thread.unsent_ns = 0;
    return sent;
}

static uint32_t frame_of(const struct unwind_frame *f) {
    return addresses_frame(map, f->routine, f->site);
}

/* Weight of exactly this context, with its leaf pc, in the tree. */
static uint64_t weight_of(uint32_t depth, uint32_t mark) {
    struct mcct_view view;
    uint32_t node = MCCT_ROOT;
    if (mark != 0)
        node = node_child(tree, node, addresses_frame(map, mark, 0));
    for (uint32_t i = 0; i < depth && node != 0; i++)
        node = node_child(tree, node, frame_of(&frames[i].frame));
    if ((thread.leaf.routine | thread.leaf.site) != 0 && node != 0)
        node = node_child(tree, node, addresses_frame(map, thread.leaf.routine, thread.leaf.site));
    if (node == 0)
        return 0;
    node_view(tree, node, &view);
    return view.count;
}

/* Where in the innermost routine: one of few places, now and then none. */
static void make_place(uint64_t bits) {
    uint64_t routine = frames[thread.memo.depth - 1].frame.routine;
    thread.leaf = (struct unwind_frame){0, bits % 8 == 0 ? 0 : routine + bits % 3};
    if (bits % 4 == 1) /* a system call, by an instruction that is known or not */
        thread.leaf =
            (struct unwind_frame){WIRE_SYSTEM_CALL | bits % 3, bits % 8 == 1 ? 0 : routine};
}

static void test_what_arrives(bool lines) {
    struct mcct_stats stats;
    uint64_t state = 1, sent = 0;
    start();
    for (unsigned round = 0; round < 20000; round++) {
        uint32_t depth = 1 + (uint32_t)(next_random(&state) % 12), mark = round % 10 == 0;
        make_context(depth, next_random(&state));
        if (lines)
            make_place(next_random(&state));
        uint64_t before = weight_of(depth, mark);
        thread.unsent_ns = 1 + round % 1000;
        uint64_t weight = thread.unsent_ns;
        CHECK(emit(mark));
        drain();
        CHECK_UINT(weight_of(depth, mark), before + weight);
        sent += weight;
    }
    mcct_stats(tree, &stats);
    CHECK_UINT(stats.total, sent);
    stop();
}

/* Without a reader the ring fills up; the time of what finds no room goes to the next record. */
static void test_full_ring(bool lines) {
    struct mcct_stats stats;
    uint64_t state = 2, unsent = 0;
    unsigned lost = 0;
    start();
    for (unsigned round = 0; round < 50000; round++) {
        make_context(1 + (uint32_t)(next_random(&state) % 200), next_random(&state));
        if (lines)
            make_place(next_random(&state));
        thread.unsent_ns += 7;
        unsent += 7;
        lost += !emit(0);
        if (round % 100 == 99)
            drain();
    }
    drain();
    thread.unsent_ns += 1;
    make_context(3, 0);
    thread.leaf.site = lines ? 0x1234 : 0;
    CHECK(emit(0));
    drain();
    mcct_stats(tree, &stats);
    CHECK(lost > 0);
    CHECK_UINT(stats.total, unsent + 1);
    CHECK_UINT(mcct_depth(&reader.cursor), 3 + lines);
    stop();
}

static uint64_t words(void) {
    return atomic_load(&slot->head);
}

/* The pc alone differs: the frames are not sent again. Nothing differs: the weight is all. */
static void test_place_alone(void) {
    start();
    make_context(5, 0);
    thread.leaf.site = 0x1501;
    thread.unsent_ns = 10;
    CHECK(emit(0));
    uint64_t at = words();
    thread.unsent_ns = 20;
    CHECK(emit(0)); /* CREDIT */
    CHECK_UINT(words(), at + 1);
    CHECK(emit_repeat(&thread, slot, 3));
    CHECK_UINT(words(), at + 2);
    thread.leaf.site = 0x1502;
    CHECK(
        emit_repeat(&thread, slot, 3)); /* of what was sent: another walk was for another stream */
    CHECK_UINT(words(), at + 3);
    thread.unsent_ns = 30;
    CHECK(emit(0)); /* POP, PUSH LEAF_PC, CREDIT */
    CHECK_UINT(words(), at + 7);
    thread.leaf.site = 0;
    thread.unsent_ns = 40;
    CHECK(emit(0)); /* POP, CREDIT: to the routine itself */
    CHECK_UINT(words(), at + 9);
    drain();
    CHECK_UINT(weight_of(5, 0), 40);
    thread.leaf.site = 0x1501;
    CHECK_UINT(weight_of(5, 0), 36);
    thread.leaf.site = 0x1502;
    CHECK_UINT(weight_of(5, 0), 30);
    CHECK_UINT(mcct_depth(&reader.cursor), 5);
    stop();
}

/* Three frames take 6 words, the pc 2, the weight 1; there are `room` of them for a while. */
static void check_room_for_place(uint64_t room) {
    start();
    make_context(3, 0);
    thread.streams[0].map_seen = generation;
    thread.leaf.site = 0x1301;
    thread.unsent_ns = 5;
    thread.streams[0].head = reader.at = WALK_WORDS - room;
    atomic_store(&slot->head, thread.streams[0].head);
    CHECK(!emit(0));
    CHECK(!emit_repeat(&thread, slot, 1));
    CHECK_UINT(thread.unsent_ns, 5);
    drain();
    CHECK_UINT(weight_of(3, 0), 0);
    CHECK(emit(0)); /* what is missing follows */
    drain();
    CHECK_UINT(weight_of(3, 0), 5);
    stop();
}

static void test_map_change(void) {
    start();
    make_context(4, 0);
    thread.leaf.site = 0x1400;
    thread.unsent_ns = 1;
    CHECK(emit(0));
    generation++;
    thread.unsent_ns = 1;
    CHECK(emit(0));
    drain();
    CHECK_UINT(weight_of(4, 0), 2);
    CHECK_UINT(mcct_depth(&reader.cursor), 5);
    stop();
}

/* ---- a reader that is lied to ---- */

static void feed(const uint64_t *words, unsigned n) {
    uint64_t at = atomic_load(&slot->head);
    for (unsigned i = 0; i < n; i++)
        ring_put(slot, WALK_WORDS, at + i, words[i]);
    ring_publish(slot, at + n);
}

static bool breaks(const uint64_t *words, unsigned n) {
    struct reader_effect effect;
    start();
    feed(words, n);
    reader_drain(&reader, slot, reader_end(&reader, slot), tree, map, &effect);
    bool broken = reader.broken;
    stop();
    return broken;
}

static void test_lies(void) {
    const uint64_t good[] = {wire_word(WIRE_PUSH, 0x1000), 0, wire_word(WIRE_CREDIT, 5)};
    const uint64_t half_push[] = {wire_word(WIRE_PUSH, 0x1000)};
    const uint64_t too_far_up[] = {wire_word(WIRE_POP, 3)};
    const uint64_t no_verb[] = {0};
    CHECK(!breaks(good, 3));
    CHECK(breaks(half_push, 1));
    CHECK(breaks(too_far_up, 1));
    CHECK(breaks(no_verb, 1));
    struct reader_effect effect;
    start();
    atomic_store(&slot->head, 1ull << 40); /* more than a ring can hold */
    reader_drain(&reader, slot, reader_end(&reader, slot), tree, map, &effect);
    CHECK(reader.broken);
    stop();
}

static void test_random_words(void) {
    uint64_t state = 3;
    for (unsigned round = 0; round < 300; round++) {
        struct reader_effect effect;
        start();
        for (unsigned i = 0; i < 3000; i++) {
            uint64_t word =
                wire_word((enum wire_verb)(1 + next_random(&state) % 6), next_random(&state) % 50);
            ring_put(slot, WALK_WORDS, i,
                     next_random(&state) % 500 == 0 ? next_random(&state) << 31 : word);
        }
        ring_publish(slot, 3000);
        do {
            reader_drain(&reader, slot, reader_end(&reader, slot), tree, map, &effect);
        } while (effect.map_changed && !reader.broken);
        CHECK(reader.at <= 3000);
        stop();
    }
}

int main(void) {
    for (int lines = 0; lines < 2; lines++) {
        test_what_arrives(lines);
        test_full_ring(lines);
    }
    test_place_alone();
    for (uint64_t room = 6; room < 9; room++)
        check_room_for_place(room);
    test_map_change();
    test_lies();
    test_random_words();
    return check_report();
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * reader_test.c - REPEAT, MAP, NAME, LABEL and RAW_STACK in a ring, well-formed and not: what
 * arrives, what is refused, and that a lie closes the ring.
 */
#include "tests/check.h"
#include "tests/ingest/reader_ring.h"

#include <sys/syscall.h>

#include "common/code/jit_names.h"

#define REGISTERS 16

/* ---- REPEAT ---- */

static void test_repeat(void) {
    start();
    put(wire_word(WIRE_PUSH, 0x1000));
    put(0);
    put(wire_word(WIRE_PUSH, 0x2000));
    put(0x1005);
    put(wire_word(WIRE_REPEAT, 7));
    put(wire_word(WIRE_CREDIT, 3));
    drain();
    CHECK(!reader.broken);
    CHECK_UINT(mcct_depth(&reader.cursor), 9);
    CHECK_UINT(effect.repeats, 7);
    uint32_t node = node_child(tree, MCCT_ROOT, addresses_frame(map, 0x1000, 0));
    for (int i = 0; i < 8; i++)
        node = node_child(tree, node, addresses_frame(map, 0x2000, 0x1005));
    CHECK(node != 0);
    CHECK_UINT(reader.cursor.node, node);
    put(wire_word(WIRE_POP, 9));
    drain();
    CHECK(!reader.broken);
    CHECK_UINT(mcct_depth(&reader.cursor), 0);
    stop();
}

static bool breaks(uint64_t depth, uint64_t repeats) {
    start();
    for (uint64_t i = 0; i < depth; i++) {
        put(wire_word(WIRE_PUSH, 0x1000));
        put(0);
    }
    put(wire_word(WIRE_REPEAT, repeats));
    drain();
    bool broken = reader.broken;
    stop();
    return broken;
}

static void test_repeat_lies(void) {
    CHECK(!breaks(1, WIRE_MAX_FRAMES));
    CHECK(breaks(0, 1)); /* the root has no frame */
    CHECK(breaks(1, WIRE_MAX_FRAMES + 1));
    CHECK(breaks(1, WIRE_OPERAND_MASK));
}

/* A ring full of deep recursion is read bit by bit, and all of it in the end. */
static void test_repeat_in_parts(void) {
    unsigned drains = 0;
    start();
    reader.repeat_max = 10000;
    put(wire_word(WIRE_PUSH, 0x1000));
    put(0);
    for (int i = 0; i < 1000; i++) {
        put(wire_word(WIRE_REPEAT, 150));
        put(wire_word(WIRE_CREDIT, 1));
        put(wire_word(WIRE_POP, 150));
    }
    do {
        drain();
        drains++;
        CHECK(effect.repeats < 10000 + 150);
    } while (effect.undrained && drains < 100);
    CHECK(!reader.broken);
    CHECK_UINT(drains, 15); /* 150,000 frames, 10,050 in each */
    CHECK_UINT(total(), 1000);
    CHECK_UINT(reader.at, 3002);
    stop();
}

/* ---- MAP ---- */

/* A stream is read by its own generation, even when the map has moved on. */
static void test_generations(void) {
    struct frame_key key;
    uint64_t want[] = {4, 9, 4};
    start();
    addresses_add(map, 0x4000, 0x5000, 0, 4, 1);
    addresses_add(map, 0x4000, 0x5000, 0, 9, 2);
    for (unsigned i = 0; i < 3; i++) {
        put(wire_word(WIRE_MAP, 1 + i % 2));
        put(wire_word(WIRE_PUSH, 0x4010));
        put(0);
        drain();
        CHECK(effect.map_changed);
        drain();
        struct mcct_view view;
        node_view(tree, reader.cursor.node, &view);
        CHECK(frame_get(view.frame, &key));
        CHECK_UINT(key.routine_module, want[i]);
    }
    stop();
}

/* ---- LEAF_PC ---- */

static uint64_t count_at(uint32_t parent, uint64_t pc) {
    struct mcct_view view = {0};
    uint32_t node = node_child(tree, parent, addresses_frame(map, WIRE_LEAF_PC, pc));
    if (node != 0)
        node_view(tree, node, &view);
    return view.count;
}

/* A place is one level more, named by its own module, at which its pc stands as it is. */
static void test_leaf_pc(void) {
    struct frame_key key;
    start();
    addresses_add(map, 0x4000, 0x5000, 0x3000, 9, 0);
    addresses_add(map, 0x5000, 0x6000, 0x3000, 7, 0);
    put(wire_word(WIRE_PUSH, 0x4010));
    put(0);
    for (unsigned i = 0; i < 3; i++) { /* at the first address of module 7, not in module 9 */
        put(wire_word(WIRE_PUSH, WIRE_LEAF_PC));
        put(i < 2 ? 0x5000 : 0x4020);
        put(wire_word(WIRE_CREDIT, 10 + i));
        put(wire_word(WIRE_POP, 1));
    }
    put(wire_word(WIRE_PUSH, WIRE_LEAF_PC));
    put(0x9999);
    put(wire_word(WIRE_CREDIT, 5));
    drain();
    CHECK(!reader.broken);
    CHECK_UINT(mcct_depth(&reader.cursor), 2);
    uint32_t node = node_child(tree, MCCT_ROOT, addresses_frame(map, 0x4010, 0));
    CHECK_UINT(count_at(node, 0x5000), 21);
    CHECK_UINT(count_at(node, 0x4020), 12);
    CHECK_UINT(count_at(node, 0x8888), 5); /* all code that is not known is one place */
    CHECK(frame_get(addresses_frame(map, WIRE_LEAF_PC, 0x5000), &key) && frame_is_leaf_pc(&key));
    CHECK_UINT(key.site_module, 7);
    CHECK_UINT(key.site, 0x2000);
    CHECK(frame_get(addresses_frame(map, WIRE_LEAF_PC, 0x9999), &key) && frame_is_leaf_pc(&key));
    CHECK_UINT(key.site_module, 0);
    CHECK_UINT(key.site, 0);
    CHECK(frame_get(addresses_frame(map, 0x4010, 0), &key) && !frame_is_leaf_pc(&key));
    CHECK(frame_get(addresses_frame(map, WIRE_SYSTEM_CALL | SYS_write, 0), &key));
    CHECK(key.routine_module == MODULE_JIT && key.site_module == 0);
    CHECK_STR(jit_name((uint32_t)key.routine), "[write(2)]");
    CHECK(frame_get(addresses_frame(map, WIRE_SYSTEM_CALL | WIRE_SYSTEM_CALL_UNKNOWN, 0), &key));
    CHECK_STR(jit_name((uint32_t)key.routine), "[system call]");
    CHECK(frame_get(addresses_frame(map, (WIRE_SYSTEM_CALL << 1) - 1, 0), &key));
    CHECK_STR(jit_name((uint32_t)key.routine), "[system call]");
    stop();
}

/* ---- NAME ---- */

static void put_name_of(uint64_t what, const char *name, uint64_t bytes) {
    uint64_t words[WIRE_NAME_MAX / 8 + 1] = {0};
    memcpy(words, name, strlen(name));
    put(wire_word(WIRE_PUSH, WIRE_NAME | bytes));
    put(what);
    for (uint64_t i = 0; i < (bytes + 7) / 8 && i < HCCT_ARRAY_LEN(words); i++)
        put(words[i]);
}

static void put_name(uint64_t code, const char *name, uint64_t bytes) {
    put_name_of(WIRE_PYTHON | code, name, bytes);
}

static const char *name_at(uint64_t code) {
    struct frame_key key;
    CHECK(frame_get(addresses_frame(map, WIRE_PYTHON | code, WIRE_PYTHON | code), &key));
    CHECK(key.routine_module == MODULE_JIT && key.site_module == MODULE_JIT);
    CHECK_UINT(key.routine, key.site);
    return jit_name((uint32_t)key.routine);
}

/* A code object's name holds from the words that tell it on, until others do; the cursor stays. Its
 * address may be within a module. */
static void test_names(void) {
    start();
    addresses_add(map, 0x4000, 0x5000, 0x3000, 9, 0);
    put_name(0x4010, "f (a.py)", 8);
    put_name(0x9000, "größe (b.py)", strlen("größe (b.py)"));
    drain();
    CHECK(!reader.broken);
    CHECK_UINT(mcct_depth(&reader.cursor), 0);
    CHECK_STR(name_at(0x4010), "f (a.py)");
    CHECK_STR(name_at(0x9000), "größe (b.py)");
    CHECK_STR(name_at(0x9008), "[generated code]");
    put_name(0x4010, "g (a.py)", 8);
    put(wire_word(WIRE_PUSH, WIRE_PYTHON | 0x4010));
    put(0);
    put(wire_word(WIRE_CREDIT, 7));
    drain();
    CHECK(!reader.broken);
    CHECK_UINT(total(), 7);
    CHECK_STR(name_at(0x4010), "g (a.py)");
    stop();
}

static bool name_breaks(uint64_t bytes, unsigned missing) {
    start();
    put_name(0x4010, "f (a.py)", bytes);
    uint64_t head = atomic_load(&slot->head);
    ring_publish(slot, head - missing);
    drain();
    bool broken = reader.broken;
    stop();
    return broken;
}

static void test_name_lies(void) {
    CHECK(!name_breaks(WIRE_NAME_MAX, 0));
    CHECK(name_breaks(0, 0));
    CHECK(name_breaks(WIRE_NAME_MAX + 1, 0));
    CHECK(name_breaks(WIRE_NAME - 1, 0));
    CHECK(name_breaks(9, 1));
    CHECK(name_breaks(9, 2));
    CHECK(name_breaks(9, 3));
}

/* ---- RAW_STACK ---- */

static void put_raw_sample_of(uint64_t weight, uint32_t frames, uint32_t registers,
                              uint32_t words) {
    put(wire_word(WIRE_RAW_STACK, weight));
    put(WIRE_RAW_STACK_SIZES(frames, registers, words));
    put(0x4242);
    put(0x4343);
    put(0x81);
    for (uint32_t i = 0; i < registers; i++)
        put(1000 + i);
    for (uint32_t i = 0; i < 2 * frames; i++)
        put(3000 + i);
    for (uint32_t i = 0; i < words; i++)
        put(2000 + i);
}

static void put_raw_sample(uint64_t weight, uint32_t registers, uint32_t words) {
    put_raw_sample_of(weight, 0, registers, words);
}

/* Frames that the agent has found go in front of what the daemon is to find. */
static void test_raw_sample_begun(void) {
    start();
    put_raw_sample_of(9, 2, REGISTERS, 5);
    drain();
    CHECK(!reader.broken);
    struct raw_sample *sample = raw_sample_list_take(&deferred);
    CHECK(sample != NULL);
    CHECK_UINT(sample->stack.n_inner, 2);
    CHECK_UINT(sample->stack.pc, 0x4242);
    CHECK_UINT(sample->stack.at, 0x4343);
    CHECK_UINT(sample->stack.known, 0x81);
    CHECK_UINT(raw_stack_inner(&sample->stack)[0].routine, 3000);
    CHECK_UINT(raw_stack_inner(&sample->stack)[1].site, 3003);
    CHECK_UINT(raw_stack_registers(&sample->stack)[REGISTERS - 1], 1000 + REGISTERS - 1);
    CHECK_UINT(raw_stack_words(&sample->stack)[4], 2004);
    raw_sample_free(sample);
    stop();
}

static void test_raw_sample(void) {
    start();
    addresses_add(map, 0x4000, 0x5000, 0x4000, 9, 0);
    addresses_add(map, 0x6000, 0x7000, 0x5000, 3, 0);
    put(wire_word(WIRE_PUSH, 0x1000));
    put(0);
    put_raw_sample(77, REGISTERS, 30);
    put(wire_word(WIRE_CREDIT, 5));
    drain();
    CHECK(!reader.broken);
    CHECK_UINT(effect.credits, 2);
    CHECK_UINT(effect.refused, 0);
    CHECK_UINT(total(), 5); /* the stack's weight comes when it has been unwound */
    CHECK_UINT(mcct_depth(&reader.cursor), 1);
    struct raw_sample *sample = raw_sample_list_take(&deferred);
    CHECK(sample != NULL && raw_sample_list_take(&deferred) == NULL);
    CHECK_UINT(sample->weight, 77);
    CHECK_UINT(sample->stack.pc, 0x4242);
    CHECK_UINT(sample->stack.n_ranges, 2);
    CHECK_UINT(raw_stack_ranges(&sample->stack)[0].module, 9);
    CHECK_UINT(raw_stack_ranges(&sample->stack)[1].start, 0x6000);
    CHECK_UINT(raw_stack_ranges(&sample->stack)[1].bias, 0x5000);
    for (unsigned i = 0; i < REGISTERS; i++)
        CHECK_UINT(raw_stack_registers(&sample->stack)[i], 1000 + i);
    for (unsigned i = 0; i < 30; i++)
        CHECK_UINT(raw_stack_words(&sample->stack)[i], 2000 + i);
    raw_sample_free(sample);
    stop();
}

/* The words of a stack may run over the ring's end. */
static void test_raw_sample_wraps(void) {
    start();
    for (unsigned round = 0; round < 20; round++) {
        put_raw_sample(1, REGISTERS, 3001);
        drain();
        struct raw_sample *sample = raw_sample_list_take(&deferred);
        CHECK(!reader.broken && sample != NULL);
        CHECK_UINT(raw_stack_words(&sample->stack)[0], 2000);
        CHECK_UINT(raw_stack_words(&sample->stack)[3000], 5000);
        raw_sample_free(sample);
    }
    stop();
}

static void test_raw_sample_limits(void) {
    start();
    unsigned n = 0;
    put_raw_sample(1, RAW_STACK_REGISTERS_MAX, WIRE_RAW_STACK_MAX);
    put_raw_sample(1, 0, 0);
    put_raw_sample(0, REGISTERS, 5); /* no weight: nothing to find out */
    drain();
    CHECK(!reader.broken);
    for (const struct raw_sample *sample = deferred.first; sample != NULL; sample = sample->next)
        n++;
    CHECK_UINT(n, 2);
    CHECK_UINT(effect.refused, 0);
    stop();
}

static bool raw_sample_breaks(uint64_t sizes, unsigned words) {
    start();
    put(wire_word(WIRE_RAW_STACK, 1));
    if (words > 0)
        put(sizes);
    for (unsigned i = 1; i < words; i++)
        put(i);
    drain();
    bool broken = reader.broken;
    CHECK(broken || reader.at == atomic_load(&slot->head));
    CHECK(reader.at <= atomic_load(&slot->head));
    CHECK(!broken || deferred.first == NULL);
    stop();
    return broken;
}

static void test_raw_sample_lies(void) {
    CHECK(!raw_sample_breaks(WIRE_RAW_STACK_SIZES(0, 16, 4), 24));
    CHECK(!raw_sample_breaks(WIRE_RAW_STACK_SIZES(3, 16, 4), 30));
    CHECK(raw_sample_breaks(0, 0));
    CHECK(raw_sample_breaks(WIRE_RAW_STACK_SIZES(0, 0, 0), 3));
    CHECK(!raw_sample_breaks(WIRE_RAW_STACK_SIZES(0, 0, 0), 4));
    CHECK(raw_sample_breaks(WIRE_RAW_STACK_SIZES(0, 16, 4), 23));
    CHECK(raw_sample_breaks(WIRE_RAW_STACK_SIZES(3, 16, 4), 29));
    CHECK(!raw_sample_breaks(WIRE_RAW_STACK_SIZES(WIRE_RAW_STACK_FRAMES_MAX, 0, 0), 1028));
    CHECK(raw_sample_breaks(WIRE_RAW_STACK_SIZES(WIRE_RAW_STACK_FRAMES_MAX + 1, 0, 0), 1100));
    CHECK(raw_sample_breaks(WIRE_RAW_STACK_SIZES(0, RAW_STACK_REGISTERS_MAX + 1, 0), 100));
    CHECK(raw_sample_breaks(WIRE_RAW_STACK_SIZES(0, 0, WIRE_RAW_STACK_MAX + 1), 7500));
    CHECK(raw_sample_breaks(WIRE_RAW_STACK_SIZES(UINT16_MAX, UINT16_MAX, UINT32_MAX), 7500));
    CHECK(raw_sample_breaks(WIRE_RAW_STACK_SIZES(0, UINT16_MAX, 1), 7500));
    CHECK(raw_sample_breaks(UINT64_MAX, 7500));
}

/* In units of 1,024 ns; of what was measured only the part that was drawn has chance. */
static void test_draws(void) {
    start();
    put_raw_sample(10 * 1024, REGISTERS, 3);
    put_raw_sample(30 * 1024, REGISTERS, 3);
    drain();
    CHECK_UINT(effect.draws.weight, 40);
    CHECK_UINT(effect.draws.squares, 100 + 900);
    reader.measured_above = 20 * 1024;
    put_raw_sample(30 * 1024, REGISTERS, 3);
    drain();
    CHECK_UINT(effect.draws.weight, 30);
    CHECK_UINT(effect.draws.squares, 400);
    stop();
}

/* Nobody takes them, or too many are on their way: their weight is reported. */
static void test_refused(void) {
    start();
    reader.deferred = NULL;
    put_raw_sample(7, REGISTERS, 3);
    put_raw_sample(5, REGISTERS, 3);
    drain();
    CHECK(!reader.broken);
    CHECK_UINT(effect.refused, 2);
    CHECK_UINT(effect.refused_weight, 12);
    reader.deferred = &deferred;
    uint64_t refused = 0, taken = 0;
    for (unsigned i = 0; i < 1000; i++) { /* of some 56 KiB each */
        put_raw_sample(1, REGISTERS, WIRE_RAW_STACK_MAX);
        drain();
        refused += effect.refused_weight;
    }
    struct raw_sample *sample;
    while ((sample = raw_sample_list_take(&deferred)) != NULL) {
        taken += sample->weight;
        raw_sample_free(sample);
    }
    CHECK(refused > 0 && taken > 100);
    CHECK_UINT(refused + taken, 1000);
    CHECK(taken * WIRE_RAW_STACK_MAX * 8 <= DEFERRED_USER_BYTES_MAX);
    put_raw_sample(1, REGISTERS, WIRE_RAW_STACK_MAX); /* there is room again */
    drain();
    CHECK_UINT(effect.refused, 0);
    stop();
}

/* Who fills their room takes nobody else's. */
static void test_room_of_users(void) {
    static const struct raw_stack sizes = {.n_words = WIRE_RAW_STACK_MAX};
    struct raw_sample_list taken = {0};
    struct raw_sample *sample;
    uint64_t bytes = 0;
    while ((sample = raw_sample_new(1, &sizes)) != NULL) {
        bytes += sample->bytes;
        raw_sample_list_add(&taken, sample);
    }
    CHECK(bytes > DEFERRED_USER_BYTES_MAX / 2 && bytes <= DEFERRED_USER_BYTES_MAX);
    CHECK((sample = raw_sample_new(2, &sizes)) != NULL);
    raw_sample_free(sample);
    for (uid_t uid = 3; uid < 20; uid++) /* all of them have a limit, too */
        while ((sample = raw_sample_new(uid, &sizes)) != NULL) {
            bytes += sample->bytes;
            raw_sample_list_add(&taken, sample);
        }
    CHECK(bytes <= DEFERRED_BYTES_MAX);
    while ((sample = raw_sample_list_take(&taken)) != NULL)
        raw_sample_free(sample);
    CHECK((sample = raw_sample_new(2, &sizes)) != NULL);
    raw_sample_free(sample);
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

/* Any words: the reader stays within what is published, and stops for good when it must. */
/* All contexts of a thread begin with it, raw stack samples too; the words know nothing of that. */
static void test_thread(void) {
    start();
    strcpy(reader.root.thread, "writer");
    put(wire_word(WIRE_PUSH, 0x1000));
    put(0);
    put(wire_word(WIRE_CREDIT, 3));
    put(wire_word(WIRE_POP, 1));
    put(wire_word(WIRE_PUSH, 0x2000));
    put(0);
    put(wire_word(WIRE_CREDIT, 4));
    drain();
    CHECK(!reader.broken);
    uint32_t thread = node_child(tree, MCCT_ROOT, addresses_thread(map, "writer"));
    CHECK(thread != 0);
    CHECK(node_child(tree, thread, addresses_frame(map, 0x1000, 0)) != 0);
    CHECK_UINT(reader.cursor.node, node_child(tree, thread, addresses_frame(map, 0x2000, 0)));
    CHECK_UINT(node_child(tree, MCCT_ROOT, addresses_frame(map, 0x1000, 0)), 0);
    struct frame_key key;
    CHECK(frame_get(addresses_thread(map, "writer"), &key) && frame_is_thread(&key));
    CHECK(frame_get(addresses_frame(map, 0x1000, 0), &key) && !frame_is_thread(&key));
    stop();
}

/* ---- LABEL ---- */

static void put_labels(uint64_t n, const uint64_t *id) {
    put(wire_word(WIRE_PUSH, WIRE_LABEL | n));
    for (uint64_t i = 0; i < n; i++)
        put(id[i]);
}

static uint32_t label_frame(uint64_t id, const char *text) {
    struct frame_key key;
    uint32_t frame = addresses_frame(map, WIRE_LABEL | id, 0);
    CHECK(frame_get(frame, &key) && frame_is_label(&key) && !frame_is_thread(&key));
    CHECK_STR(jit_name((uint32_t)key.routine), text);
    return frame;
}

static uint64_t weight_at(uint32_t node) {
    struct mcct_view view;
    CHECK(node != 0);
    node_view(tree, node, &view);
    return view.count;
}

/* Contexts begin with the thread's labels from LABEL on, below its name; raw stack samples, too. */
static void test_labels(void) {
    start();
    strcpy(reader.root.thread, "writer");
    put(wire_word(WIRE_PUSH, 0x1000));
    put(0);
    put(wire_word(WIRE_CREDIT, 1));
    put(wire_word(WIRE_POP, 1));
    put_name_of(WIRE_LABEL | 7, "route=/pay", strlen("route=/pay"));
    put_name_of(WIRE_LABEL | 9, "tenant=b", strlen("tenant=b"));
    put_labels(2, (uint64_t[]){7, 9});
    put(wire_word(WIRE_PUSH, 0x1000));
    put(0);
    put(wire_word(WIRE_CREDIT, 2));
    put_raw_sample(5, REGISTERS, 1);
    put(wire_word(WIRE_POP, 1));
    put_labels(1, (uint64_t[]){9});
    put(wire_word(WIRE_CREDIT, 4));
    put_labels(0, NULL);
    put(wire_word(WIRE_PUSH, 0x1000));
    put(0);
    put(wire_word(WIRE_CREDIT, 8));
    drain();
    CHECK(!reader.broken);
    uint32_t thread = node_child(tree, MCCT_ROOT, addresses_thread(map, "writer"));
    uint32_t code = addresses_frame(map, 0x1000, 0);
    uint32_t pay = label_frame(7, "route=/pay"), tenant = label_frame(9, "tenant=b");
    uint32_t both = node_child(tree, node_child(tree, thread, pay), tenant);
    CHECK_UINT(weight_at(node_child(tree, both, code)), 2);
    CHECK_UINT(weight_at(node_child(tree, thread, tenant)), 4);
    CHECK_UINT(weight_at(node_child(tree, thread, code)), 9);
    struct raw_sample *sample = raw_sample_list_take(&deferred);
    uint32_t frame[CONTEXT_ROOT_FRAMES];
    CHECK_UINT(context_root_frames(map, &sample->root, frame), 3);
    CHECK_UINT(frame[1], pay);
    CHECK_UINT(frame[2], tenant);
    raw_sample_free(sample);
    stop();
}

static bool labels_break(uint64_t n, uint64_t id, unsigned missing) {
    start();
    put(wire_word(WIRE_PUSH, WIRE_LABEL | n));
    for (uint64_t i = 0; i < n && i < 10; i++)
        put(id);
    uint64_t head = atomic_load(&slot->head);
    ring_publish(slot, head - missing);
    drain();
    bool broken = reader.broken;
    stop();
    return broken;
}

static void test_label_lies(void) {
    CHECK(!labels_break(WIRE_LABELS, WIRE_LABEL_IDS - 1, 0)); /* not named: as generated code */
    CHECK(labels_break(WIRE_LABELS + 1, 1, 0));
    CHECK(labels_break(WIRE_LABEL - 1, 1, 0));
    CHECK(labels_break(1, 0, 0));
    CHECK(labels_break(1, WIRE_LABEL_IDS, 0));
    CHECK(labels_break(1, UINT64_MAX, 0));
    CHECK(labels_break(2, 1, 1));
    start(); /* frames that POP has taken from the labels are missing */
    put_labels(2, (uint64_t[]){1, 2});
    put(wire_word(WIRE_POP, 1));
    put_labels(1, (uint64_t[]){1});
    drain();
    CHECK(reader.broken);
    stop();
}

static void test_random_words(void) {
    uint64_t state = 11;
    unsigned broken = 0;
    for (unsigned round = 0; round < 300; round++) {
        start();
        for (unsigned i = 0; i < 400; i++) {
            uint64_t n = next_random(&state) % 20;
            switch (next_random(&state) % 5) {
            case 0:
                put_raw_sample(n, (uint32_t)n, (uint32_t)(next_random(&state) % 30));
                break;
            case 1:
                put(wire_word(WIRE_REPEAT, n));
                break;
            case 2:
                put(wire_word(WIRE_POP, n % 3));
                break;
            default:
                put(wire_word(WIRE_PUSH, 0x1000 + n));
                put(n);
            }
            if (next_random(&state) % 1000 == 0)
                put(next_random(&state) << 31 ^ next_random(&state));
            if (next_random(&state) % 500 == 0)
                put_labels(n % (WIRE_LABELS + 1), (uint64_t[]){n, 1, 2, 3});
            if (i % 100 == 99)
                drain();
            CHECK(reader.at <= atomic_load(&slot->head));
        }
        broken += reader.broken;
        stop();
    }
    CHECK(broken > 0 && broken < 300);
}

/* ---- sub-windows ---- */

static bool add_weight(void *arg, uint32_t node, const struct mcct_view *view) {
    (void)node;
    *(uint64_t *)arg = *(uint64_t *)arg * 31 + view->frame * (1 + view->count);
    return true;
}

/* One number for all frames and weights of a tree. */
static uint64_t digest(const struct mcct *of) {
    uint64_t sum = 0;
    CHECK(mcct_walk(of, add_weight, &sum));
    return sum;
}

static struct mcct *window(struct subwindows *subwindows, uint64_t now, uint64_t span) {
    struct subwindows_span taken;
    const struct subwindows_part last = subwindows_last(now, span);
    CHECK(subwindows_take(subwindows, now, &last, &taken, NULL));
    return subwindows_merge(&taken);
}

static void put_frame(uint64_t routine) {
    put(wire_word(WIRE_PUSH, routine));
    put(routine + 5);
}

/* Every verb, in a sub-window and in the next one, where the thread stands deep in a recursion
 * already: the sum is the tree, and each sub-window has what was credited in its time. */
static void test_subwindows(void) {
    const struct subwindows_params params = {
        .tree = {.summary = &summary_exact, .epsilon = 0.001, .max_bytes = 64u << 20}};
    const uint64_t second = 1000000000;
    struct mcct_stats stats;
    start();
    reader.subwindows = subwindows_new(&params, 0);
    put_frame(0x1000);
    put_frame(0x2000);
    put(wire_word(WIRE_REPEAT, 7));
    put(wire_word(WIRE_CREDIT, 3));
    drain();
    struct mcct *first = window(reader.subwindows, second, second);
    CHECK_UINT(digest(first), digest(tree));
    subwindows_advance(reader.subwindows, 2 * second);
    drain(); /* nothing: it need not be in the new sub-window */
    CHECK(reader.subwindow_cursor.tree == NULL);
    put(wire_word(WIRE_CREDIT, 5)); /* where it has been all the time */
    put(wire_word(WIRE_POP, 4));
    put_frame(0x3000);
    put_call(1, 0x4000, 0x4005);
    put_call(2, 0x5000, 0x5005);
    put(wire_word(WIRE_CREDIT, 9));
    drain();
    CHECK(!reader.broken);
    CHECK_UINT(mcct_depth(&reader.subwindow_cursor), mcct_depth(&reader.cursor));
    struct mcct *both = window(reader.subwindows, 3 * second, 3 * second);
    CHECK_UINT(digest(both), digest(tree));
    subwindows_advance(reader.subwindows, 100 * second);
    struct mcct *last = window(reader.subwindows, 100 * second, second);
    mcct_stats(last, &stats);
    CHECK_UINT(stats.total, 0);
    struct mcct *minute = window(reader.subwindows, 100 * second, 120 * second);
    CHECK_UINT(digest(minute), digest(tree));
    CHECK(mcct_merge(first, both)); /* 3, and all of it */
    mcct_stats(first, &stats);
    CHECK_UINT(stats.total, 3 + total());
    CHECK_UINT(total(), 3 + 5 + 1 + 1 + 9);
    put(wire_word(WIRE_CREDIT, 1)); /* one that is still in a sub-window when it ends */
    drain();
    mcct_free(first);
    mcct_free(both);
    mcct_free(last);
    mcct_free(minute);
    struct subwindows *subwindows = reader.subwindows;
    stop();
    subwindows_free(subwindows);
}

int main(void) {
    test_repeat();
    test_repeat_lies();
    test_repeat_in_parts();
    test_generations();
    test_leaf_pc();
    test_names();
    test_name_lies();
    test_raw_sample();
    test_raw_sample_begun();
    test_raw_sample_wraps();
    test_raw_sample_limits();
    test_raw_sample_lies();
    test_room_of_users();
    test_draws();
    test_refused();
    test_thread();
    test_labels();
    test_label_lies();
    test_random_words();
    test_subwindows();
    return check_report();
}

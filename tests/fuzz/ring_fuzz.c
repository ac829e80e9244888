/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ring_fuzz.c - any words in a ring: the reader stays within what is published and within its
 * limits, and a lie closes the ring for good.
 */
#include <stdbool.h>
#include <unistd.h>

#include "common/code/frame.h"
#include "common/tree/subwindows.h"
#include "common/wire/ring.h"
#include "daemon/ingest/reader.h"
#include "tests/fuzz/fuzz.h"

#define RING_WORDS  4096u
#define REPEATS_MAX 2000u /* of one drain */
#define DRAINS_MAX  40u   /* of one input; there may be more to read than that */
#define SECOND      1000000000ull

enum act { ACT_DRAIN, ACT_HEAD, ACT_MODULE, ACT_SUBWINDOW, ACT_RAW, ACT_RAW_STACK, ACT_VERB };

static struct {
    struct wire_slot *slot;
    struct reader reader;
    struct raw_sample_list deferred;
    struct mcct *tree;
    struct addresses *map;
    struct reader_effect effect;
    uint64_t clock;
    unsigned drains;
} world;

static void begin(bool has_subwindows) {
    const struct mcct_params params = {.epsilon = 0.01, .max_bytes = 256u << 10};
    const struct subwindows_params subwindows = {.tree = params};
    size_t bytes = sizeof *world.slot + 8 * RING_WORDS;
    world.slot = aligned_alloc(64, bytes);
    world.tree = mcct_new(&params);
    world.map = addresses_new(frame_user(geteuid()));
    world.clock = world.drains = 0;
    fuzz_must(world.slot != NULL && world.tree != NULL && world.map != NULL);
    memset(world.slot, 0, bytes);
    world.reader =
        (struct reader){.size = RING_WORDS,
                        .deferred = &world.deferred,
                        .repeat_max = REPEATS_MAX,
                        .subwindows = has_subwindows ? subwindows_new(&subwindows, 0) : NULL};
}

static void end(void) {
    struct subwindows *subwindows = world.reader.subwindows;
    struct raw_sample *sample;
    while ((sample = raw_sample_list_take(&world.deferred)) != NULL)
        raw_sample_free(sample);
    reader_close(&world.reader);
    mcct_free(world.tree);
    subwindows_free(subwindows);
    addresses_free(world.map);
    free(world.slot);
}

static void put(uint64_t word) {
    uint64_t at = atomic_load(&world.slot->head);
    ring_put(world.slot, RING_WORDS, at, word);
    ring_publish(world.slot, at + 1);
}

static void drain(void) {
    if (world.drains++ >= DRAINS_MAX)
        return;
    uint64_t at = world.reader.at;
    uint64_t end = reader_end(&world.reader, world.slot); /* it may have lied about its head */
    bool was_broken = world.reader.broken;
    reader_drain(&world.reader, world.slot, end, world.tree, world.map, &world.effect);
    if (was_broken) { /* it is emptied, whatever its head says, and nothing of it is read */
        fuzz_must(world.reader.broken && world.effect.words == 0);
        return;
    }
    fuzz_must(world.reader.at >= at);
    if (end != RING_BROKEN)
        fuzz_must(world.reader.at <= end);
    fuzz_must(world.effect.words == world.reader.at - at);
    fuzz_must(world.effect.repeats < REPEATS_MAX + WIRE_MAX_FRAMES || world.reader.broken);
}

static void put_raw_sample(struct fuzz_input *input) {
    uint64_t sizes = fuzz_take_word(input);
    uint32_t registers = (uint32_t)(sizes >> 32) % 40, words = (uint32_t)sizes % 100;
    uint32_t frames = (uint32_t)(sizes >> 16) % 50;
    put(wire_word(WIRE_RAW_STACK, sizes >> 40));
    put(WIRE_RAW_STACK_SIZES(frames, registers, words));
    for (uint32_t i = 0; i < 3 + 2 * frames + registers + words; i++)
        put(i);
}

/* A verb with an operand of one byte or two, and what else belongs to it. */
static void put_verb(struct fuzz_input *input, unsigned verb) {
    uint8_t bytes[3];
    fuzz_take(input, bytes, sizeof bytes);
    uint64_t operand = bytes[0] | (uint64_t)(bytes[1] & 0x3f) << 8;
    if (verb >= WIRE_CALL >> WIRE_VERB_SHIFT)
        put(wire_call(bytes[1] >> 6, operand, bytes[2]));
    else
        put(wire_word(verb, operand << (bytes[1] >> 6) * 8));
    if (verb == WIRE_PUSH)
        put(bytes[2]);
}

static void add_module(struct fuzz_input *input) {
    uint64_t start = fuzz_take_byte(input) * 64u, bytes = fuzz_take_word(input);
    addresses_add(world.map, start, start + bytes, fuzz_take_byte(input), fuzz_take_byte(input),
                  fuzz_take_byte(input));
}

static void act(struct fuzz_input *input) {
    uint8_t what = fuzz_take_byte(input);
    switch (what % 16) {
    case ACT_DRAIN:
        drain();
        break;
    case ACT_HEAD:
        atomic_store(&world.slot->head, fuzz_take_word(input));
        break;
    case ACT_MODULE:
        add_module(input);
        break;
    case ACT_SUBWINDOW:
        world.clock += fuzz_take_byte(input) * SECOND;
        if (world.reader.subwindows != NULL)
            subwindows_advance(world.reader.subwindows, world.clock);
        break;
    case ACT_RAW:
        put(fuzz_take_word(input));
        break;
    case ACT_RAW_STACK:
        put_raw_sample(input);
        break;
    default:
        put_verb(input, 1 + (what >> 4) % 8);
    }
}

/* A window of all that time is a tree like any other. */
static void check_window(void) {
    struct subwindows_span window;
    struct mcct_stats stats;
    const struct subwindows_part all = subwindows_last(world.clock, SUBWINDOWS_SPAN_MAX_NS);
    if (world.reader.subwindows == NULL ||
        !subwindows_take(world.reader.subwindows, world.clock, &all, &window, NULL))
        return;
    struct mcct *sum = subwindows_merge(&window);
    if (sum == NULL)
        return;
    mcct_stats(sum, &stats);
    fuzz_must(stats.nodes > 0);
    mcct_free(sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    begin((fuzz_take_byte(&input) & 1) != 0);
    while (input.size > 0)
        act(&input);
    drain();
    drain();
    check_window();
    end();
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "ring", .mutations = 3000};

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * price.c - what a report takes in a loop of reports, into memory that nobody reads.
 *
 * There all of it can be measured from outside, and at the same time what price_end() sees of it.
 * In a program a report takes as much, and what price_end() sees there beyond that: what it has to
 * wait for memory.
 */
#include "preload/calls/price.h"

#include <sys/mman.h>

#include "preload/calls/calls.h"
#include "preload/life/memory.h"

#define WORDS  1024u /* of the ring */
#define FRAMES 8u

_Static_assert(PRICE_LOOP < WORDS, "a loop has room");

struct bench {
    struct calls calls;
    struct calls_frame frame[FRAMES];
    _Alignas(64) struct wire_slot slot;
    uint64_t word[WORDS];
};

struct calls *price_bench_make(uint64_t code) {
    struct bench *bench = memory_map(sizeof *bench, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (bench == NULL)
        return NULL;
    struct calls *c = &bench->calls;
    c->alive = true;
    c->thread = thread_self;
    c->base = c->common = bench->frame;
    c->base->sp = UINT64_MAX;
    c->top = c->cursor = bench->frame + 1;
    c->end = bench->frame + FRAMES;
    c->high = UINT64_MAX;
    c->slot = &bench->slot;
    c->code_start = code;
    c->code_bytes = WIRE_PAGE;
    c->limit = bench->word + WORDS;
    return c;
}

void price_bench_free(struct calls *c) {
    sys2(SYS_munmap, c, sizeof(struct bench));
}

struct loop {
    struct bench *bench;
    void (*calls)(uint32_t n, void *argument);
    void *argument;
};

/* The least that one of so many has taken. */
static uint64_t ticks_of_one(const struct loop *loop) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < PRICE_LOOPS; i++) {
        loop->bench->calls.at = loop->bench->calls.zero = loop->bench->word;
        uint64_t began = price_ticks();
        loop->calls(PRICE_LOOP, loop->argument);
        uint64_t took = (price_ticks() - began) * PRICE_ONE / PRICE_LOOP;
        least = took < least ? took : least;
    }
    return least;
}

struct price_usual price_bench_run(struct calls *c, void (*calls)(uint32_t n, void *argument),
                                   void *argument) {
    const struct loop loop = {(struct bench *)c, calls, argument};
    struct price_usual usual = {0};
    struct calls *self = calls_self;
    calls_self = NULL;
    usual.bare = ticks_of_one(&loop);
    calls_self = c;
    c->price.mask = PRICE_NO_MASK;
    uint64_t reported = ticks_of_one(&loop);
    usual.report = reported > usual.bare ? reported - usual.bare : 0;
    c->price.mask = 0;
    ticks_of_one(&loop);
    usual.measured = price_mean(&c->price);
    calls_self = self;
    return usual;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * wrap.c - malloc and its like, asked for before the next library's.
 *
 * A call that is not sampled costs a subtraction. What libc allocates for its callers (strdup,
 * getline) comes here by malloc, and so do C++'s operators, unless operators.c is needed. A
 * reallocation is the end of one block and the beginning of another, also where it stays in its
 * place. What the agent does takes no memory and keeps errno.
 */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "preload/blocks/allocate.h"
#include "preload/blocks/link.h"
#include "preload/blocks/rate.h"
#include "preload/blocks/sites.h"
#include "preload/sample/draw.h"
#include "preload/wrap/next_symbol.h"

/* ---- the next library's ---- */

enum name {
    MALLOC,
    FREE,
    CALLOC,
    REALLOC,
    MEMALIGN,
    POSIX_MEMALIGN,
    ALIGNED_ALLOC,
    VALLOC,
    PVALLOC,
    NAMES,
};

static const char *const names[NAMES] = {
    "malloc",         "free",          "calloc", "realloc", "memalign",
    "posix_memalign", "aligned_alloc", "valloc", "pvalloc",
};

static _Atomic(void *) found[NAMES];

/* The loader allocates before any constructor runs. */
static hcct_noinline void *look_up(enum name name) {
    void *(*find)(const char *) = hcct_blocks_link.event.find;
    void *function = find != NULL ? find(names[name]) : next_by_itself(names[name]);
    atomic_store_explicit(&found[name], function, memory_order_release);
    return function;
}

/* NULL: it has not been looked up. */
static inline void *next_if_found(enum name name) {
    return atomic_load_explicit(&found[name], memory_order_relaxed);
}

static inline void *next(enum name name) {
    void *function = next_if_found(name);
    return hcct_likely(function != NULL) ? function : look_up(name);
}

/* ---- the course of a thread ---- */

#define SPENT_MOST_NS 100000u
#define STOP_MOST_NS  2000u
#define NOTED_OF      8u /* one in so many samples */
#define NOTED_MS      20u
#define STOPS_NOTED   16u /* one in so many stops: without a sample they take next to nothing */

__thread struct blocks_course blocks_course;

/* While nobody samples, points are drawn for what may be allocated after that; each draw takes as
 * long as some twenty calls. */
#define DOUBLED_UNREADY 3u

static void draw(bool ready) {
    uint32_t by_table = table_doubled(), by_rate = rate_doubled();
    if (!ready && by_rate < DOUBLED_UNREADY)
        by_rate = DOUBLED_UNREADY;
    stops_draw(&blocks_course.stops, by_table > by_rate ? by_table : by_rate, by_rate > 0);
    blocks_course.stops.beside = (uint16_t)hcct_blocks_link.event.beside;
}

/* What was done since `before`: for a sample, or at each of `stops`, after `bytes` in all. The
 * thread may have been interrupted, or have waited for a place to report its first sample: no more
 * is believed than a walk, or a draw, may take. */
static void spend(uint64_t before, bool sampled, uint64_t stops, uint64_t bytes) {
    uint64_t now = hcct_blocks_link.now(), took = now > before ? now - before : 0;
    uint64_t most = sampled ? SPENT_MOST_NS : STOP_MOST_NS;
    took = took < most ? took : most;
    rate_spend(sampled ? took : took * stops, sampled, bytes);
}

/* The thread's clock takes a system call: it is read for one sample in eight, at a thread's first
 * stop, when that is some time ago, and when a decision is due. */
static void note(uint64_t now, bool sampled) {
    struct blocks_course *it = &blocks_course;
    uint16_t now_ms = (uint16_t)(now / 1000000), since_ms = (uint16_t)(now_ms - it->noted_ms);
    bool once = sampled && draw_below(draw_word(&it->stops.course.random), NOTED_OF) == 0;
    if (!once && it->begun && since_ms < NOTED_MS && !rate_is_dear())
        return;
    uint32_t cpu_us = (uint32_t)(hcct_blocks_link.cpu() / 1000), since = cpu_us - it->cpu_us;
    it->noted_ms = now_ms;
    it->begun = true;
    it->cpu_us = cpu_us;
    rate_note(since <= INT32_MAX ? since * 1000ull : 0); /* else the clock is another one */
}

/* What the program has allocated from one stop to the next, more or less: a stop lies in a block as
 * often as this has a part in the clock, so the block's own bytes have their part in it on average.
 */
static uint64_t allocated(const struct table_size *its) {
    uint64_t clock = stops_apart(its->doubled), length = its->bytes + its->beside;
    return its->beside == 0 ? clock : (uint64_t)((unsigned __int128)clock * its->bytes / length);
}

/* A block with a point of all places: does it stay, by the R of its own? That follows from what its
 * place had before. */
static bool stays(struct table_size *its, const struct event_place *place) {
    uint64_t length = its->bytes + its->beside, points = length / wire_blocks_mean(its->doubled);
    uint64_t met =
        sites_meet(sites_number(place, its->bytes), (points > 0 ? points : 1) << its->doubled);
    return table_stays(its, rate_doubled_at(met), &blocks_course.stops.course.random);
}

/* When a stop begins. To ask for the time takes as long as the rest of it: that is left out. */
static uint64_t begin(void) {
    uint64_t before = hcct_blocks_link.now(), now = hcct_blocks_link.now();
    return now + (now - before);
}

/* `left` is at its end, `rest` bytes before that of the block: the next stop is drawn before a
 * sample is taken, as handlers of signals that came meanwhile run at its end, and may allocate. In
 * those that come before the draw is done there is none for long. */
static void stop(void *block, size_t size, uint64_t rest, const struct event_place *place) {
    struct blocks_course *it = &blocks_course;
    struct table_size its = {size, it->stops.beside, it->stops.doubled, it->stops.doubled};
    bool noted = ++it->unnoted >= STOPS_NOTED || !it->begun;
    uint64_t stops = noted ? it->unnoted : 0, bytes = allocated(&its);
    uint64_t before = noted ? begin() : 0;
    bool hit = stops_hit(&it->stops, rest) && block != NULL;
    it->unnoted = noted ? 0 : it->unnoted;
    draw(true);
    if (it->stops.doubled > its.usual) /* this point was drawn before, maybe long before */
        its.usual = it->stops.doubled;
    bool sampled = hit && stays(&its, place);
    if (sampled) {
        before = hcct_blocks_link.now();
        table_add(block, &its, place, &it->stops.course.random);
    }
    if (sampled || noted) {
        spend(before, sampled, stops, bytes * stops);
        note(before, sampled);
    }
}

hcct_noinline void blocks_check(void *block, size_t size, const struct event_place *place) {
    struct course *course = &blocks_course.stops.course;
    int saved = errno;
    bool ready = event_link_is_ready(&hcct_blocks_link.event);
    if (!course->begun) {
        course_begin(course);
        draw(ready);
    }
    uint64_t length = size + blocks_course.stops.beside;
    if (length < course->left) {
        course->left -= length;
        return;
    }
    uint64_t rest = length - course->left;
    course->left = wire_blocks_mean(RATE_DOUBLED_USUAL); /* a handler may leave by a jump now */
    if (ready)
        stop(block, size, rest, place);
    else
        draw(false);
    errno = saved;
}

hcct_noinline void blocks_forget(void *block) {
    table_forget(table_find(block));
}

/* Points that are drawn already are those of the parent and of all its children. */
static void begin_in_child(void) {
    blocks_course = (struct blocks_course){.cpu_us = 0};
    table_clear();
    rate_in_child();
}

struct blocks_link hcct_blocks_link = {
    .event = {.build = EVENT_LINK_BUILD(struct blocks_link)},
    .clear = begin_in_child,
    .renew = table_renew,
};

/* ---- what the application calls ---- */

/* Where nothing is to be done but a subtraction, the next function is jumped to. */

typedef void *malloc_function(size_t);
typedef void free_function(void *);
typedef void *pair_function(size_t, size_t); /* calloc, memalign, aligned_alloc */
typedef void *realloc_function(void *, size_t);
typedef int posix_memalign_function(void **, size_t, size_t);

static inline void *allocate(enum name name, size_t size, const struct event_place *place) {
    void *block = ((malloc_function *)next(name))(size);
    blocks_check(block, size, place);
    return block;
}

/* `bytes` of the two arguments. */
static inline void *allocate_pair(enum name name, size_t first, size_t second, size_t bytes,
                                  const struct event_place *place) {
    void *block = ((pair_function *)next(name))(first, second);
    blocks_check(block, block != NULL ? bytes : 0, place);
    return block;
}

BLOCKS_SLOWLY void *malloc_slowly(size_t size) {
    const struct event_place place = EVENT_CALLER;
    return allocate(MALLOC, size, &place);
}

BLOCKS_WRAPPER void *malloc(size_t size) {
    malloc_function *function = next_if_found(MALLOC);
    if (hcct_unlikely(function == NULL) || hcct_unlikely(!blocks_passes(size)))
        return malloc_slowly(size);
    return function(size);
}

BLOCKS_SLOWLY void free_slowly(void *block) {
    blocks_leave(block);
    ((free_function *)next(FREE))(block);
}

BLOCKS_WRAPPER void free(void *block) {
    free_function *function = next_if_found(FREE);
    if (hcct_unlikely(function == NULL) || table_may_have(block))
        free_slowly(block);
    else
        function(block);
}

BLOCKS_SLOWLY void *calloc_slowly(size_t n, size_t size) {
    const struct event_place place = EVENT_CALLER;
    return allocate_pair(CALLOC, n, size, n * size, &place);
}

BLOCKS_WRAPPER void *calloc(size_t n, size_t size) {
    pair_function *function = next_if_found(CALLOC);
    size_t bytes;
    if (hcct_unlikely(function == NULL) || __builtin_mul_overflow(n, size, &bytes) ||
        hcct_unlikely(!blocks_passes(bytes)))
        return calloc_slowly(n, size);
    return function(n, size);
}

/* The old block is there until the new one is; then another thread may have its address. */
static inline void *reallocate(void *old, size_t size, const struct event_place *place) {
    struct table_block known = {.number = 0};
    if (table_may_have(old))
        known = table_find(old);
    void *block = ((realloc_function *)next(REALLOC))(old, size);
    if (hcct_unlikely(known.number != 0) && (block != NULL || size == 0))
        table_forget(known);
    blocks_check(block, size, place);
    return block;
}

BLOCKS_SLOWLY void *realloc_slowly(void *old, size_t size) {
    const struct event_place place = EVENT_CALLER;
    return reallocate(old, size, &place);
}

BLOCKS_WRAPPER void *realloc(void *old, size_t size) {
    realloc_function *function = next_if_found(REALLOC);
    if (hcct_unlikely(function == NULL) || table_may_have(old) ||
        hcct_unlikely(!blocks_passes(size)))
        return realloc_slowly(old, size);
    return function(old, size);
}

BLOCKS_WRAPPER void *reallocarray(void *old, size_t n, size_t size) {
    const struct event_place place = EVENT_CALLER;
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return reallocate(old, bytes, &place);
}

BLOCKS_WRAPPER int posix_memalign(void **block, size_t alignment, size_t size) {
    const struct event_place place = EVENT_CALLER;
    int error = ((posix_memalign_function *)next(POSIX_MEMALIGN))(block, alignment, size);
    blocks_check(error == 0 ? *block : NULL, error == 0 ? size : 0, &place);
    return error;
}

BLOCKS_WRAPPER void *memalign(size_t alignment, size_t size) {
    const struct event_place place = EVENT_CALLER;
    return allocate_pair(MEMALIGN, alignment, size, size, &place);
}

BLOCKS_WRAPPER void *aligned_alloc(size_t alignment, size_t size) {
    const struct event_place place = EVENT_CALLER;
    return allocate_pair(ALIGNED_ALLOC, alignment, size, size, &place);
}

BLOCKS_WRAPPER void *valloc(size_t size) {
    const struct event_place place = EVENT_CALLER;
    return allocate(VALLOC, size, &place);
}

BLOCKS_WRAPPER void *pvalloc(size_t size) {
    const struct event_place place = EVENT_CALLER;
    return allocate(PVALLOC, size, &place);
}

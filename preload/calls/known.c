/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * known.c - what a walk can't see of a function, learned while its calls were followed.
 *
 * Functions that were inlined into another report their calls, too, and have no frame that a walk
 * could show; and the copy of a function that the compiler made for some callers reports the
 * original's address. But which inlined functions are executing is said by the place in the code,
 * and so is what a function calls itself. So from the open calls of a time at which all were
 * followed, this remembers
 *   - for a return address: the reported functions of the physical frame that it returns to;
 *   - for the place of a function's own report: the address that it reports.
 * A walk at the beginning of the next burst looks up both. What was never learned is taken to be
 * one function that reports its own address.
 */
#include "preload/calls/calls.h"

static struct calls_known *place(struct calls *c, uint64_t key) {
    return &c->known[(key * 0x9e3779b97f4a7c15ull) >> (64 - CALLS_KNOWN_BITS)];
}

const struct calls_known *calls_recall(struct calls *c, uint64_t key) {
    const struct calls_known *known = place(c, key);
    return key != 0 && known->key == key ? known : NULL;
}

static bool was_walked(const struct calls_frame *f) {
    return (f->report & CALLS_WALKED) != 0;
}

/* Whether `f` was inlined into the physical frame that begins with `first`. */
static bool is_inside(const struct calls_frame *f, const struct calls_frame *first) {
    if (was_walked(f))
        return (f->report & CALLS_INSIDE) != 0;
    return f->site == first->site && f->report != first->report &&
           first->sp - f->sp < CALLS_PUSHED_MAX;
}

/* One past the last frame of the physical frame that begins with `f`. */
static const struct calls_frame *physical_end(const struct calls_frame *f,
                                              const struct calls_frame *top) {
    const struct calls_frame *next = f + 1;
    while (next < top && is_inside(next, f))
        next++;
    return next;
}

static void learn(struct calls *c, uint64_t key, const struct calls_frame *f, size_t n) {
    struct calls_known *known = place(c, key);
    if (known->key == key || n > CALLS_INLINED_MAX)
        return;
    known->key = key;
    known->n = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        known->routine[i] = f[i].routine;
}

void calls_learn(struct calls *c) {
    const struct calls_frame *f = c->base + 1;
    while (f < c->top) {
        const struct calls_frame *end = physical_end(f, c->top);
        if (!was_walked(f) && end < c->top)
            learn(c, end->site, f, (size_t)(end - f));
        if (!was_walked(f))
            learn(c, f->report, f, 1);
        f = end;
    }
}

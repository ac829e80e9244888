/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * frames.c - from the innermost run outwards, with the native frames beside them.
 */
#include "preload/python/frames.h"

#include <pthread.h>
#include <string.h>

#include "preload/life/hooks.h"
#include "preload/python/names.h"
#include "preload/python/runtime.h"
#include "preload/python/thread.h"
#include "preload/wrap/libc.h"

#define SEARCH 64u /* so many known frames may be gone from between two */

struct chase {
    struct python_thread *python;
    const struct memo *memo;
    const struct python_known *last; /* frames that the last walk found: those that are left */
    const struct python_known *last_end;
    struct python_known *now; /* and those of this one */
    bool is_as_before;        /* the frame before is as it was */
    uint64_t frame;           /* where the chain is; 0: at its end */
    uint64_t cframe;          /* of the run, where there are any */
    uint32_t native;          /* native frames that are left, from the outermost on */
    uint32_t steps, again;
    uint32_t functions;
};

/* A program's own interpreter stays where it is. */
static bool read_key(struct python_thread *python, uint64_t *key) {
    uint64_t at = python_runtime.at + python_runtime.layout->thread_key;
    if (agent_hooks.late)
        return python_read(python, at, key);
    *key = *(const volatile uint64_t *)at;
    return true;
}

/* The PyThreadState of the calling thread, 0: it has none. glibc only reads here, and takes no
 * lock. A key that is not set up yet, or anybody's, leads to nothing that says it is this thread's.
 */
static uint64_t own_state(struct python_thread *python) {
    const struct python_layout *layout = python_runtime.layout;
    uint64_t key, id;
    if (!read_key(python, &key) || (uint32_t)key == 0)
        return 0;
    uint64_t state = (uint64_t)libc_getspecific((pthread_key_t)(key >> 32));
    bool is_own = state != 0 && python_read(python, state + layout->thread_id, &id) &&
                  id == (uint64_t)libc_thread_self();
    return is_own ? state : 0;
}

static bool has_cframes(const struct python_layout *layout) {
    return layout->cframe_previous != 0;
}

static bool begin(struct chase *c, uint64_t state) {
    const struct python_layout *layout = python_runtime.layout;
    uint64_t *top = has_cframes(layout) ? &c->cframe : &c->frame;
    if (!python_read(c->python, state + layout->top, top))
        return false;
    return !has_cframes(layout) ||
           python_read(c->python, c->cframe + layout->cframe_top, &c->frame);
}

/* ---- what the last walk found ---- */

/* NULL: no frame was there, or not near. */
static const struct python_known *recall(struct chase *c, uint64_t frame) {
    size_t left = (size_t)(c->last_end - c->last), n = left < SEARCH ? left : SEARCH;
    for (size_t i = 0; i < n; i++) {
        if (c->last[i].at != frame)
            continue;
        const struct python_known *found = &c->last[i];
        c->last += i + 1;
        return found;
    }
    return NULL;
}

static bool is_last_by(uint64_t word) {
    const struct python_layout *layout = python_runtime.layout;
    return (uint8_t)(word >> 8 * (layout->entry & 7)) == layout->is_entry;
}

/* Its memory is read as it is. */
static bool is_still(const struct python_known *known) {
    const struct python_layout *layout = python_runtime.layout;
    const volatile uint64_t *frame = (const volatile uint64_t *)known->at;
    return frame[layout->code / 8] == known->function.code &&
           frame[layout->previous / 8] == known->previous &&
           is_last_by(frame[layout->entry / 8]) == known->is_last &&
           python_code_is(&known->function);
}

static bool is_equal(const struct python_known *a, const struct python_known *b) {
    return a->at == b->at && a->previous == b->previous && a->is_last == b->is_last &&
           memcmp(&a->function, &b->function, sizeof a->function) == 0;
}

/* ---- frames ---- */

static void add(struct chase *c, const struct python_known *it, bool is_sent) {
    c->python->found[c->functions] =
        (struct python_found){.code = it->function.code, .sent = is_sent};
    if (c->functions < PYTHON_KNOWN)
        c->now[c->functions] = *it;
    c->functions++;
}

/* What is in a frame, unless it is one that executes nothing. */
static bool read_frame(struct chase *c, struct python_known *it, bool *is_empty) {
    const struct python_layout *layout = python_runtime.layout;
    uint64_t entry;
    if (!python_read(c->python, (it->at + layout->entry) & ~7ull, &entry) ||
        !python_read(c->python, it->at + layout->code, &it->function.code) ||
        !python_read(c->python, it->at + layout->previous, &it->previous))
        return false;
    it->is_last = is_last_by(entry);
    *is_empty = it->is_last && layout->entry_is_empty;
    return true;
}

static bool step_anew(struct chase *c, const struct python_known *before, uint64_t *mark) {
    struct python_known it = {.at = c->frame};
    bool is_empty;
    if (!read_frame(c, &it, &is_empty))
        return false;
    c->frame = it.previous;
    *mark = !it.is_last ? 0 : is_empty ? it.at : c->cframe;
    if (is_empty)
        return true;
    enum python_code what = python_code_at(c->python, it.function.code, &it.function);
    c->is_as_before = before != NULL && is_equal(before, &it);
    if (what == PYTHON_CODE_SENT || what == PYTHON_CODE_NEW)
        add(c, &it, what == PYTHON_CODE_SENT);
    return what != PYTHON_CODE_NONE;
}

/* One frame: *mark gets the address on the run's stack when it was the run's last one. */
static bool step(struct chase *c, uint64_t *mark) {
    if (c->steps++ == WIRE_MAX_FRAMES)
        return false;
    const struct python_known *before = recall(c, c->frame);
    if (before == NULL || !c->is_as_before || !is_still(before))
        return step_anew(c, before, mark);
    c->frame = before->previous;
    *mark = before->is_last ? c->cframe : 0;
    c->again++;
    add(c, before, true);
    return true;
}

/* The native frame that has an address in its part of the stack; they are outermost first. False:
 * none of those that are left, or none of the interpreter's. */
static bool find_native(struct chase *c, uint64_t address) {
    const struct memo_frame *frame = c->memo->frame;
    while (c->native > 1 && address >= frame[c->native - 2].sp)
        c->native--;
    if (c->native == 0 || address < frame[c->native - 1].sp)
        return false;
    uint64_t routine = frame[--c->native].frame.routine;
    return routine >= python_runtime.start && routine < python_runtime.end;
}

/* The run before began where the chain has come to. */
static bool leave_run(struct chase *c) {
    const struct python_layout *layout = python_runtime.layout;
    uint64_t top;
    if (!has_cframes(layout))
        return true;
    return python_read(c->python, c->cframe + layout->cframe_previous, &c->cframe) &&
           python_read(c->python, c->cframe + layout->cframe_top, &top) && top == c->frame;
}

/* All of a run, or nothing. */
static bool follow_run(struct chase *c) {
    uint32_t first = c->functions;
    uint64_t mark = 0;
    bool good = true;
    while (good && mark == 0)
        good = c->frame != 0 && step(c, &mark);
    if (!good || !find_native(c, mark)) {
        c->functions = first;
        return false;
    }
    for (uint32_t i = first; i < c->functions; i++)
        c->python->found[i].native = c->native;
    return true;
}

struct python_chain python_frames(struct agent_thread *thread) {
    struct python_thread *python = thread->python;
    struct python_known *last = python->known[python->turn];
    struct chase c = {.python = python,
                      .memo = &thread->memo,
                      .last = last,
                      .last_end = last + python->n_known,
                      .now = python->known[1 - python->turn],
                      .native = thread->memo.depth};
    struct python_chain chain = {0};
    thread_stack_above(thread, thread->interrupted.reg[ARCH_SP], &python->low, &python->high);
    uint64_t state = own_state(python);
    if (state == 0)
        return chain;
    chain.missed = !begin(&c, state);
    while (!chain.missed && c.frame != 0) {
        uint32_t before = c.functions;
        chain.missed = !follow_run(&c);
        chain.runs += c.functions != before;
        chain.missed |= !chain.missed && !leave_run(&c);
    }
    python->turn = 1 - python->turn;
    python->n_known = c.functions < PYTHON_KNOWN ? c.functions : PYTHON_KNOWN;
    chain.functions = c.functions;
    chain.steps = c.steps;
    chain.again = c.again;
    return chain;
}

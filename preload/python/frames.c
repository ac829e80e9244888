/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * frames.c - from the innermost run outwards, with the native frames beside them.
 */
#include "preload/python/frames.h"

#include <pthread.h>

#include "preload/python/names.h"
#include "preload/python/runtime.h"
#include "preload/python/thread.h"
#include "preload/wrap/libc.h"

struct chase {
    struct python_thread *python;
    const struct memo *memo;
    uint64_t frame;  /* where the chain is; 0: at its end */
    uint64_t cframe; /* of the run, where there are any */
    uint32_t native; /* native frames that are left, from the outermost on */
    uint32_t steps;
    uint32_t functions;
};

/* The PyThreadState of the calling thread, 0: it has none. glibc only reads here, and takes no
 * lock. A key that is not set up yet, or anybody's, leads to nothing that says it is this thread's.
 */
static uint64_t own_state(struct python_thread *python) {
    const struct python_layout *layout = python_runtime.layout;
    uint64_t key, id;
    if (!python_read(python, python_runtime.at + layout->thread_key, &key) || (uint32_t)key == 0)
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

/* One frame: *mark gets the address on the run's stack when it was the run's last one. */
static bool step(struct chase *c, uint64_t *mark) {
    const struct python_layout *layout = python_runtime.layout;
    uint64_t frame = c->frame, entry, code;
    if (c->steps++ == WIRE_MAX_FRAMES ||
        !python_read(c->python, (frame + layout->entry) & ~7ull, &entry) ||
        !python_read(c->python, frame + layout->code, &code) ||
        !python_read(c->python, frame + layout->previous, &c->frame))
        return false;
    bool is_last = (uint8_t)(entry >> 8 * (layout->entry & 7)) == layout->is_entry;
    *mark = !is_last ? 0 : layout->entry_is_empty ? frame : c->cframe;
    if (is_last && layout->entry_is_empty)
        return true;
    enum python_code what = python_code_at(c->python, code);
    if (what == PYTHON_CODE_SENT || what == PYTHON_CODE_NEW)
        c->python->found[c->functions++] =
            (struct python_found){.code = code, .sent = what == PYTHON_CODE_SENT};
    return what != PYTHON_CODE_NONE;
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
    struct chase c = {
        .python = thread->python, .memo = &thread->memo, .native = thread->memo.depth};
    struct python_chain chain = {0};
    uint64_t state = own_state(c.python);
    if (state == 0)
        return chain;
    chain.missed = !begin(&c, state);
    while (!chain.missed && c.frame != 0) {
        uint32_t before = c.functions;
        chain.missed = !follow_run(&c);
        chain.runs += c.functions != before;
        chain.missed |= !chain.missed && !leave_run(&c);
    }
    chain.functions = c.functions;
    chain.steps = c.steps;
    return chain;
}

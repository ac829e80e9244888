/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * show.c - native frames outermost first, functions from the end of the list on, which has the
 * outermost ones last. What has not changed since the last walk is not sent again.
 */
#include "preload/python/show.h"

#include <string.h>

#include "preload/life/session.h"
#include "preload/python/frames.h"
#include "preload/python/names.h"
#include "preload/python/thread.h"

#define FUNCTION_STEPS 4u /* what a new function costs: its frame, its code and its name */

struct making {
    struct agent_thread *thread;
    struct wire_slot *slot;
    uint32_t skip;   /* frames that are left out */
    uint32_t depth;  /* frames that are there */
    uint64_t caller; /* the function whose code the next frame was called from; 0: none of Python */
    bool lost;
};

static void put(struct making *m, struct unwind_frame frame, bool is_known) {
    struct python_thread *python = m->thread->python;
    if (m->skip > 0) {
        m->skip--;
        return;
    }
    struct unwind_frame *there = &python->frame[m->depth];
    if (python->same == m->depth && m->depth < python->depth && is_known &&
        unwind_frame_is(there, &frame))
        python->same++;
    *there = frame;
    m->depth++;
}

static void put_native(struct making *m, struct unwind_frame frame) {
    if (m->caller != 0)
        frame.site = m->caller;
    m->caller = 0;
    put(m, frame, true);
}

/* The outermost function of a run was called where the loop was. */
static void put_function(struct making *m, const struct python_found *it, uint64_t site) {
    struct unwind_frame frame = {WIRE_PYTHON | it->code, m->caller != 0 ? m->caller : site};
    m->lost |= !it->sent && !python_name_tell(m->thread, m->slot, it->code);
    m->caller = frame.routine;
    put(m, frame, it->sent);
}

static void make(struct making *m, uint32_t functions) {
    const struct memo *memo = &m->thread->memo;
    const struct python_found *found = m->thread->python->found;
    for (uint32_t i = 0; i < memo->depth && !m->lost; i++) {
        if (functions == 0 || found[functions - 1].native != i) {
            put_native(m, memo->frame[i].frame);
            continue;
        }
        while (functions > 0 && found[functions - 1].native == i && !m->lost)
            put_function(m, &found[--functions], memo->frame[i].frame.site);
    }
}

struct python_shown python_show(struct agent_thread *thread, struct wire_slot *slot,
                                uint32_t limit) {
    struct python_thread *python = thread->python;
    struct making making = {.thread = thread, .slot = slot};
    struct python_chain chain = {.missed = true}; /* by a copy of the stack */
    python_read_anew(python);
    if (thread->memo.depth > 0)
        chain = python_frames(thread);
    uint32_t total = thread->memo.depth - chain.runs + chain.functions;
    making.skip = total > limit ? total - limit : 0;
    python->same = 0;
    make(&making, chain.functions);
    if (making.lost)
        python->n_known = 0; /* not all of their names were sent */
    python->depth = making.depth;
    if (thread->stream->common_frames > python->same)
        thread->stream->common_frames = python->same;
    thread->shown = (struct shown){python->frame, sizeof *python->frame, making.depth};
    session_count(slot, WIRE_PYTHON_FRAMES, chain.functions);
    session_count(slot, WIRE_PYTHON_MISSED, chain.missed);
    return (struct python_shown){.effort =
                                     FUNCTION_STEPS * (chain.steps - chain.again) + chain.again,
                                 .cut = total > limit,
                                 .lost = making.lost};
}

bool python_is_innermost(const struct agent_thread *thread) {
    return thread->shown.depth > 0 &&
           wire_is_python(thread_shown(thread, thread->shown.depth - 1)->routine);
}

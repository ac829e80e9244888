/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * encode.h - a sample's context from the calls that the thread has open, in the place of a walk.
 *
 * Call instructions of the modules that are meant (redirect.h) lead through slots (slot.h), which
 * keep the open calls of each thread on a stack of entries. A sample walks from where the signal
 * has met the thread to the first return address in a slot. From there on each entry says which
 * call it was, and its call site where its caller's own return address is: if that is the next
 * entry's, and is still in place, the function was entered by that call, and no walk is made. If
 * not, it was entered by a call that leads through no slot, and a walk goes on to the next entry.
 *
 * So each frame is one that the stack has now, and an entry of a call that is over is never taken
 * for one: neither slots that were missed, nor jumps out of functions make a context wrong.
 *
 * To walks return addresses are the program's own: who reads a word of the stack for them asks
 * redirect_in_program(), and takes all of that for one redirect_reads().
 */
#ifndef HCCT_ENCODE_H
#define HCCT_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/life/thread.h"
#include "preload/sample/unwind.h"

/* The calling thread's calls are kept from here on; and no longer. Thread context. */
void encode_begin(struct agent_thread *thread);
void encode_end(void);

/* Slots are in use where there is somebody to sample for. Any context; with a session inside it. */
void encode_follow(struct agent_thread *thread, struct wire_session *session, uint64_t pc);
void encode_rest(void);

/* A thread that was interrupted on its way through a slot is at its call instruction. As below. */
void encode_step_out(const struct unwind_env *env, struct unwind_registers *regs);

struct encode_found {
    uint32_t stepped; /* frames that were walked */
    bool truncated;   /* there are more than `limit` */
};

/* The context of the thread, which stands at `regs`: thread->shown is that then, at most `limit`
 * frames of it. False: a walk has to tell; counted, with its reason. Signal context, inside the
 * session and between redirect_reads(). */
bool encode_find(struct agent_thread *thread, struct wire_slot *slot, const struct unwind_env *env,
                 const struct unwind_registers *regs, uint32_t limit, struct encode_found *found);
/* After a walk instead: thread->shown is what is in the memo. As above. */
void encode_show_walk(struct agent_thread *thread);

#endif

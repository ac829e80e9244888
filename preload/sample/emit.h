/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * emit.h - the single road from a context to the ring: what changed since the last one.
 *
 * The daemon's cursor stands where the last record left it: below `sent_frames` frames and
 * `sent_leaf`. The outermost `common_frames` of them are still those
 * of the last walk (thread->shown). That is no part of the memo: it nearly always differs, while
 * the frame that it is in stays. All this changes only with what is published, so a record that
 * finds no room costs its sample and nothing else; the next one is a difference from the same
 * cursor. What is sent is in proportion to what has changed.
 */
#ifndef HCCT_EMIT_H
#define HCCT_EMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/life/thread.h"

/* Sends the context of thread->shown, under the mark of a partial walk (0: none) and down to
 * thread->leaf, and credits `weight` to it. False: the ring had no
 * room for all of it, and nothing was credited. Signal context, inside the session. */
bool emit_sample(struct agent_thread *thread, struct wire_slot *slot, uint32_t mark,
                 uint64_t weight);

#define EMIT_POP_WORDS 1

/* All frames below the daemon's cursor go, so that everything is pushed anew. Puts at most
 * EMIT_POP_WORDS words at *at, which moves on, and does not publish. Signal context, inside the
 * session. */
void emit_pop(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at);

#define EMIT_MAP_WORDS 2

/* Sends, if it has not yet, the generation of the module log by which addresses are to be read.
 * Everything is pushed anew then. Puts at most EMIT_MAP_WORDS words at *at, which moves on, and
 * does not publish. Signal context, inside the session. */
void emit_map(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at);

/* Sends, by itself, what a frame that is no address is called (WIRE_NAME): `bytes` of the text,
 * which can be read up to the end of its last word. False: the ring had no room. Signal context,
 * inside the session. */
bool emit_name(struct agent_thread *thread, struct wire_slot *slot, uint64_t frame,
               const char *text, uint64_t bytes);

/* Whether the context of the stream's last sample can be credited again: false where that was not
 * sent whole, or there is no room. Signal context, inside the session. */
bool emit_can_repeat(const struct agent_thread *thread, struct wire_slot *slot);

/* Credits `weight` to the context of the last sample, which stays. False: not emit_can_repeat.
 * Signal context, inside the session. */
bool emit_repeat(struct agent_thread *thread, struct wire_slot *slot, uint64_t weight);

#endif

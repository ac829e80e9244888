/*
 * emit.h - the single road from a context to the ring: what changed since the last one.
 *
 * The shadow stack is what the daemon has been told, not what the thread last did: it is changed
 * only by what is published. So a record that finds no room costs its sample and nothing else; the
 * next one is a difference from the same shadow.
 */
#ifndef HCCT_EMIT_H
#define HCCT_EMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/thread.h"

/* Sends the context thread->scratch[0..n), innermost first, under the mark of a partial walk (0:
 * none), and credits thread->owed_ns to it, which is 0 then. False: the ring had no room for all of
 * it. Signal context, inside the session. */
bool emit_sample(struct agent_thread *thread, struct wire_slot *slot, uint32_t n, uint32_t mark);

#endif

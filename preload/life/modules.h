/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * modules.h - which ELF object covers an address, and its unwind table.
 *
 * Objects are found by _dl_find_object, which takes no lock, when a walk first meets them; each is
 * written to the session's module log, where the daemon reads what it is and answers with the
 * offset of its table. After a dlclose each known object is checked again before it is believed.
 */
#ifndef HCCT_MODULES_H
#define HCCT_MODULES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/life/thread.h"

/* Remembers the executable's path, and where the agent itself is. Process context. */
void modules_start(void);

/* Forgets all: a new session has an empty log. Nobody else may be in the session. */
void modules_reset(void);

/* Learns the objects that are loaded now, so that their tables are there when the first sample
 * comes. Process context, inside the session. */
void modules_learn_all(struct agent_thread *thread, struct wire_session *session);

/* Notes where the objects are that are loaded now, for modules_learn_again. Process context, before
 * there is a session. */
void modules_note_all(void);

/* Learns the objects that an earlier session of this process, or its parent's, knew, or that were
 * noted, as far as they are still there: a copy of a stack can't be unwound without. Signal
 * context, inside a session that nobody else has entered yet. */
void modules_learn_again(struct agent_thread *thread, struct wire_session *session);

/* The module that covers pc; false: none. Signal context, inside the session. */
bool modules_find(struct agent_thread *thread, struct wire_session *session, uint64_t pc,
                  struct unwind_module *module);

/* Pages where no object was found: zeroed at first. */
#define MODULES_MISSED 64u
struct modules_missed {
    uint64_t page[MODULES_MISSED];
    uint32_t n; /* times that the loader was asked in vain */
};

/* Learns the object that `word` points to, if it does. A copy of a stack is about to be sent: the
 * daemon will meet objects in it that this walk has not come to, and knows none that is not in the
 * log. Signal context, inside the session. */
void modules_learn_pointed(struct agent_thread *thread, struct wire_session *session, uint64_t word,
                           struct modules_missed *missed);

/* Modules of the session's log, and one of them. What is not filled yet says nothing. Any context,
 * inside the session. */
uint32_t modules_logged(struct wire_session *session);
struct wire_module *modules_entry(struct wire_session *session, uint32_t i);
/* The object of that module is loaded: it has not gone, or has come back to its place. */
bool modules_is_there(struct wire_session *session, uint32_t i);

/* Around dlclose: an object may go, or have gone. Thread context. */
void modules_closing(void);
void modules_closed(void);
/* Nobody says when an object goes (late.h): each that is known is asked for anew. Any context. */
void modules_recheck(void);
/* In a child of fork: no other thread closes anything. */
void modules_alone(void);

/* Whether `address` is the agent's own code. Any context, after modules_start. */
bool modules_is_agent(uint64_t address);

/* Changes whenever something found by address before must not be believed any more. Any context. */
extern _Atomic uint32_t modules_valid __attribute__((visibility("hidden")));

static inline uint32_t modules_validity(void) {
    return atomic_load_explicit(&modules_valid, memory_order_acquire);
}

/* Counts the changes after which an address may mean something else. Any context. */
uint32_t modules_generation(void);

#endif

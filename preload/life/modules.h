/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * modules.h - which ELF object covers an address, and its unwind table.
 *
 * Objects are found by _dl_find_object, which takes no lock, when a walk first meets them; each is
 * written to the session's module log, where the daemon reads what it is and answers with the
 * offset of its table.
 *
 * What was found is believed as long as the validity is the same. Objects go in dlclose alone,
 * which is announced before and after; while a thread is in it, each who asks for the validity is
 * given another one, so that nothing that is found in that time is believed later, or by others.
 * So whoever runs in an object that has taken another one's place has a validity for which the
 * other one was never found: it has asked later than that was announced to go. An object that a
 * thread runs in, or will come back to, can't go, so for such addresses what the loader says is so.
 */
#ifndef HCCT_MODULES_H
#define HCCT_MODULES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire/compiler.h"
#include "common/wire/wire.h"
#include "preload/life/thread.h"

/* The validity in the upper half, and how many threads are in dlclose below. */
extern _Atomic uint64_t modules_state __attribute__((visibility("hidden")));
#define MODULES_ONE_VALIDITY (1ull << 32)

/* By the module's place in the log, in which validity it was found last, or: */
extern _Atomic uint32_t modules_checked[WIRE_MODULES_MAX] __attribute__((visibility("hidden")));
#define MODULES_NOT_FILLED 0u         /* it says nothing yet */
#define MODULES_GONE       UINT32_MAX /* another one has its place, or had it: never used again */

/* Not one of the two above. */
static inline uint32_t modules_validity_of(uint64_t state) {
    return ((uint32_t)(state >> 32) & 0x3fffffffu) | 0x40000000u;
}

/* Changes whenever something found by address before must not be believed any more: to be read
 * before what is found is looked for, once. Any context. */
static inline uint32_t modules_validity(void) {
    uint64_t state = atomic_load_explicit(&modules_state, memory_order_acquire);
    if (hcct_unlikely((uint32_t)state != 0))
        state = atomic_fetch_add(&modules_state, MODULES_ONE_VALIDITY) + MODULES_ONE_VALIDITY;
    return modules_validity_of(state);
}

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
 * context, in a session that nobody else can enter yet: who adds an object to the log meanwhile
 * takes the place of one that is to be learned. */
void modules_learn_again(struct agent_thread *thread, struct wire_session *session);

/* The module that covers pc; false: none. For a pc that is on no stack any more it may be one that
 * is going. Signal context, inside the session. */
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
/* Whether what is in the log as module `i` was found to be loaded in that validity. Any context. */
static inline bool modules_was_found(uint32_t i, uint32_t validity) {
    return atomic_load_explicit(&modules_checked[i], memory_order_acquire) == validity;
}
/* An object has found no room in the log that is at the place of one that has an entry: the daemon
 * would take it for that. Any context. */
bool modules_mislead(void);
/* The object of that module is loaded: it has not gone, or has come back to its place. */
bool modules_is_there(struct wire_session *session, uint32_t i);

/* Around what reads an object that may go: dlclose waits for it, for a while. False: one is going
 * just now, and there is no modules_read(). Any context. */
bool modules_reading(void);
void modules_read(void);

/* Around dlclose: an object may go, or have gone. Thread context. */
void modules_closing(void);
void modules_closed(void);
/* Nobody says when an object goes (late.h): each that is known is asked for anew. Any context. */
void modules_recheck(void);
/* In a child of fork: no other thread closes anything. */
void modules_alone(void);

/* Whether `address` is the agent's own code. Any context, after modules_start. */
bool modules_is_agent(uint64_t address);

/* Counts the changes after which an address may mean something else. Any context. */
uint32_t modules_generation(void);

#endif

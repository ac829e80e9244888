/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * places.h - when the texts of redirected modules change places. Private to this room.
 *
 * One thread at a time makes a change: of places, or of the list of modules. Who finds another one
 * at it goes on, as that one looks again before it is done. Any context, but where said.
 */
#ifndef HCCT_REDIRECT_PLACES_H
#define HCCT_REDIRECT_PLACES_H

#include <stdbool.h>
#include <stdint.h>

/* A change begins. False: another thread is at one. */
bool places_begin(void);
void places_end(void);
/* In a change: the texts are as is wanted from now on. */
void places_set(void);
/* The texts are as is wanted, or another thread is about to see to it. */
void places_follow(void);

/* An object may be going (dlclose): nothing changes places. How many threads are at it. */
void places_keep(void);
void places_unkeep(void);
uint32_t places_keepers(void);
static inline bool places_are_kept(void) {
    return places_keepers() != 0;
}

/* Waits for a fifth of a millisecond. Thread context. */
void places_nap(void);
/* Waits until no thread is at a change; one that may never end is not waited for. As above. */
void places_await(void);

/* In a child of fork, whose only thread this is: nobody's calls are followed. */
void places_after_fork_child(void);

#define PLACES_WAITS_FOR_OTHER 5000 /* naps until another thread has made its change */

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * render_slots.h - how many answers are rendered at once: of one user so many, of all so many.
 */
#ifndef HCCT_RENDER_SLOTS_H
#define HCCT_RENDER_SLOTS_H

#include <stdbool.h>
#include <sys/types.h>

#define RENDER_SLOTS_USER 4u
#define RENDER_SLOTS_MAX  8u

/* Takes one if it is free. */
bool render_slot_try(uid_t uid);
/* Waits for one, so many seconds at most. False: none came free, or the daemon ends. */
bool render_slot_wait(uid_t uid, unsigned seconds);
void render_slot_give(uid_t uid);

/* From now on nobody waits. */
void render_slots_stop(void);

#endif

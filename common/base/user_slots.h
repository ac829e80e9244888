/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * user_slots.h - who holds slots, of which one user may have so many, and all together so many.
 *
 * No lock: the caller's serves. To begin with, all but the limits is 0.
 */
#ifndef HCCT_USER_SLOTS_H
#define HCCT_USER_SLOTS_H

#include <stdbool.h>
#include <sys/types.h>

#define USER_SLOTS_ROOM 16u

struct user_slots {
    unsigned all, each; /* the limits; `all` is USER_SLOTS_ROOM at most */
    unsigned n;
    uid_t uid[USER_SLOTS_ROOM]; /* of those that are held */
};

/* Those that this user holds. */
static inline unsigned user_slots_held(const struct user_slots *slots, uid_t uid) {
    unsigned held = 0;
    for (unsigned i = 0; i < slots->n; i++)
        held += slots->uid[i] == uid;
    return held;
}

static inline bool user_slots_free(const struct user_slots *slots, uid_t uid) {
    return slots->n < slots->all && user_slots_held(slots, uid) < slots->each;
}

/* One that is free. */
static inline void user_slots_take(struct user_slots *slots, uid_t uid) {
    slots->uid[slots->n++] = uid;
}

/* One that the user holds. */
static inline void user_slots_give(struct user_slots *slots, uid_t uid) {
    unsigned i = 0;
    while (slots->uid[i] != uid)
        i++;
    slots->uid[i] = slots->uid[--slots->n];
}

#endif

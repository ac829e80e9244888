/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * render_slots.c - slots under a lock, and waiting for them.
 */
#include "daemon/render/render_slots.h"

#include <pthread.h>
#include <time.h>

#include "common/base/user_slots.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct user_slots taken;
    bool stop;
} slots = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER,
           .taken = {.all = RENDER_SLOTS_MAX, .each = RENDER_SLOTS_USER}};

static bool take_locked(uid_t uid) {
    bool free = user_slots_free(&slots.taken, uid);
    if (free)
        user_slots_take(&slots.taken, uid);
    return free;
}

bool render_slot_try(uid_t uid) {
    pthread_mutex_lock(&slots.lock);
    bool taken = take_locked(uid);
    pthread_mutex_unlock(&slots.lock);
    return taken;
}

bool render_slot_wait(uid_t uid, unsigned seconds) {
    struct timespec until;
    bool taken, timely = true;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    pthread_mutex_lock(&slots.lock);
    while (!(taken = take_locked(uid)) && timely && !slots.stop)
        timely = pthread_cond_clockwait(&slots.changed, &slots.lock, CLOCK_MONOTONIC, &until) == 0;
    pthread_mutex_unlock(&slots.lock);
    return taken;
}

void render_slot_give(uid_t uid) {
    pthread_mutex_lock(&slots.lock);
    user_slots_give(&slots.taken, uid);
    pthread_cond_broadcast(&slots.changed);
    pthread_mutex_unlock(&slots.lock);
}

void render_slots_stop(void) {
    pthread_mutex_lock(&slots.lock);
    slots.stop = true;
    pthread_cond_broadcast(&slots.changed);
    pthread_mutex_unlock(&slots.lock);
}

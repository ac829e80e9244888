/*
 * render_slots.c - a short list of users.
 */
#include "daemon/render/render_slots.h"

#include <pthread.h>
#include <time.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uid_t uid[RENDER_SLOTS_MAX];
    unsigned n;
    bool stop;
} slots = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static bool take_locked(uid_t uid) {
    unsigned own = 0;
    for (unsigned i = 0; i < slots.n; i++)
        own += slots.uid[i] == uid;
    if (slots.n == RENDER_SLOTS_MAX || own == RENDER_SLOTS_USER)
        return false;
    slots.uid[slots.n++] = uid;
    return true;
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
    unsigned i = 0;
    pthread_mutex_lock(&slots.lock);
    while (slots.uid[i] != uid)
        i++;
    slots.uid[i] = slots.uid[--slots.n];
    pthread_cond_broadcast(&slots.changed);
    pthread_mutex_unlock(&slots.lock);
}

void render_slots_stop(void) {
    pthread_mutex_lock(&slots.lock);
    slots.stop = true;
    pthread_cond_broadcast(&slots.changed);
    pthread_mutex_unlock(&slots.lock);
}

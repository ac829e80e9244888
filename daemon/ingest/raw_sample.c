/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * raw_sample.c - memory of raw stack samples, counted by user.
 */
#include "daemon/ingest/raw_sample.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

/* Who has samples on their way: few, and nobody else. */
struct raw_sample_user {
    struct raw_sample_user *next;
    uint64_t bytes;
    uid_t uid;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct raw_sample_user *users;
static uint64_t on_their_way; /* bytes of all */

/* NULL: no memory. */
static struct raw_sample_user *find_locked(uid_t uid) {
    struct raw_sample_user *user = users;
    while (user != NULL && user->uid != uid)
        user = user->next;
    if (user != NULL)
        return user;
    user = malloc(sizeof *user);
    if (user != NULL) {
        *user = (struct raw_sample_user){.next = users, .uid = uid};
        users = user;
    }
    return user;
}

static void drop_if_idle_locked(struct raw_sample_user *user) {
    struct raw_sample_user **at = &users;
    if (user->bytes > 0)
        return;
    while (*at != user)
        at = &(*at)->next;
    *at = user->next;
    free(user);
}

/* Whose account they stand on; NULL: there is no room. */
static struct raw_sample_user *take_room(uid_t uid, uint64_t bytes) {
    pthread_mutex_lock(&lock);
    struct raw_sample_user *user = find_locked(uid);
    if (user != NULL && user->bytes + bytes <= DEFERRED_USER_BYTES_MAX &&
        on_their_way + bytes <= DEFERRED_BYTES_MAX) {
        user->bytes += bytes;
        on_their_way += bytes;
    } else if (user != NULL) {
        drop_if_idle_locked(user);
        user = NULL;
    }
    pthread_mutex_unlock(&lock);
    return user;
}

static void give_room(struct raw_sample_user *user, uint64_t bytes) {
    pthread_mutex_lock(&lock);
    user->bytes -= bytes;
    on_their_way -= bytes;
    drop_if_idle_locked(user);
    pthread_mutex_unlock(&lock);
}

struct raw_sample *raw_sample_new(uid_t uid, const struct raw_stack *sizes) {
    uint64_t bytes = offsetof(struct raw_sample, stack) + raw_stack_bytes(sizes);
    struct raw_sample_user *user = take_room(uid, bytes);
    struct raw_sample *raw = user != NULL ? malloc(bytes) : NULL;
    if (raw != NULL)
        *raw = (struct raw_sample){.job.uid = uid, .user = user, .bytes = bytes, .stack = *sizes};
    else if (user != NULL)
        give_room(user, bytes);
    return raw;
}

void raw_sample_free(struct raw_sample *raw) {
    give_room(raw->user, raw->bytes);
    free(raw);
}

void raw_sample_list_add(struct raw_sample_list *list, struct raw_sample *raw) {
    raw->next = NULL;
    if (list->first == NULL)
        list->first = raw;
    else
        list->last->next = raw;
    list->last = raw;
}

struct raw_sample *raw_sample_list_take(struct raw_sample_list *list) {
    struct raw_sample *raw = list->first;
    if (raw != NULL)
        list->first = raw->next;
    return raw;
}

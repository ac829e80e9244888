/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * marks.c - a ring for each user who has marked something.
 */
#include "daemon/ingest/marks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/utf8.h"
#include "daemon/ingest/windows.h"

#define WAIT_NS 1000000000u

struct user {
    struct user *next;
    uid_t uid;
    uint64_t taken;
    struct mark mark[MARKS_USER_MAX];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct user *users;

static struct user *user_of(uid_t uid) {
    struct user *user = users;
    while (user != NULL && user->uid != uid)
        user = user->next;
    if (user == NULL && (user = calloc(1, sizeof *user)) != NULL) {
        user->uid = uid;
        user->next = users;
        users = user;
    }
    return user;
}

static void add(const struct mark *mark) {
    pthread_mutex_lock(&lock);
    struct user *user = user_of(mark->uid);
    if (user != NULL)
        user->mark[user->taken++ % MARKS_USER_MAX] = *mark;
    pthread_mutex_unlock(&lock);
}

/* The agent says when; that is not after now. It may be before this hcctd's beginning. */
static uint64_t time_of(uint64_t said) {
    uint64_t now = clock_now();
    return windows_time(said < now ? said : now);
}

static void keep(const struct process *process, const char *name, uint64_t said) {
    struct mark mark = {.time_ns = time_of(said), .uid = process->uid, .pid = process->pid};
    utf8_copy_clean(mark.name, sizeof mark.name, name);
    snprintf(mark.exe, sizeof mark.exe, "%s", process->exe);
    snprintf(mark.command, sizeof mark.command, "%s", process_command(process));
    snprintf(mark.tags, sizeof mark.tags, "%s", process_tags(process));
    if (mark.name[0] != '\0')
        add(&mark);
}

enum taken { TAKEN, NOT_YET, OVERWRITTEN };

/* Mark `number`, which may be written over meanwhile. */
static enum taken take_one(const struct process *process, uint64_t number) {
    struct wire_mark *shared = &process->memory.session->mark[(number - 1) % WIRE_MARKS];
    char name[WIRE_MARK_ROOM];
    uint64_t there = atomic_load_explicit(&shared->number, memory_order_acquire);
    if (there != number)
        return there < number || there == WIRE_MARK_WRITING ? NOT_YET : OVERWRITTEN;
    uint64_t said = atomic_load_explicit(&shared->time_ns, memory_order_relaxed);
    memcpy(name, shared->name, sizeof name);
    name[sizeof name - 1] = '\0';
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&shared->number, memory_order_relaxed) != number)
        return OVERWRITTEN;
    keep(process, name, said);
    return TAKEN;
}

/* One that is not there yet is waited for a while: its thread may have to wait for a processor, or
 * may have given it up. */
static bool goes_on_waiting(struct process *process) {
    uint64_t now = clock_now();
    if (process->marks_wait_ns == 0)
        process->marks_wait_ns = now;
    return now - process->marks_wait_ns < WAIT_NS;
}

void marks_take(struct process *process) {
    uint64_t set = atomic_load_explicit(&process->memory.session->marks, memory_order_acquire);
    if (set == process->marks_seen)
        return;
    uint64_t waiting = set - process->marks_seen;
    if (waiting > WIRE_MARKS) {
        process->ended.marks_lost += waiting - WIRE_MARKS;
        process->marks_seen = set - WIRE_MARKS;
    }
    for (; process->marks_seen != set; process->marks_seen++) {
        enum taken taken = take_one(process, process->marks_seen + 1);
        if (taken == NOT_YET && goes_on_waiting(process))
            return;
        process->marks_wait_ns = 0;
        process->ended.marks_lost += taken != TAKEN;
    }
}

void marks_each(void (*visit)(void *arg, const struct mark *mark), void *arg) {
    pthread_mutex_lock(&lock);
    for (const struct user *user = users; user != NULL; user = user->next) {
        uint64_t first = user->taken > MARKS_USER_MAX ? user->taken - MARKS_USER_MAX : 0;
        for (uint64_t i = first; i < user->taken; i++)
            visit(arg, &user->mark[i % MARKS_USER_MAX]);
    }
    pthread_mutex_unlock(&lock);
}

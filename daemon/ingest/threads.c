/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * threads.c - slots as a list, and what the kernel adds to it.
 *
 * An agent knows a thread's name when it is born, which is its parent's; most programs give it one
 * of its own a moment later. The kernel knows that one, and is asked by the thread number that the
 * agent claims, below the process that we know: another process's thread can't be had that way.
 */
#include "daemon/ingest/threads.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(((struct wire_slot *)NULL)->name) == THREAD_NAME_BYTES, "name of a slot");

static uint64_t counter(const struct wire_slot *slot, enum wire_counter which) {
    return atomic_load_explicit(&slot->counter[which], memory_order_relaxed);
}

static bool read_slot(const struct process *p, uint32_t i, struct process_thread *thread) {
    const struct wire_slot *slot = session_memory_slot(&p->memory, i);
    const struct reader *reader = p->readers[i];
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    if (reader == NULL || state == WIRE_SLOT_FREE)
        return false;
    *thread = (struct process_thread){
        .tid = slot->tid,
        .ended = state == WIRE_SLOT_ENDED,
        .broken = reader->broken,
        .credited_ns = counter(slot, WIRE_CREDITED_NS),
        .walks = counter(slot, WIRE_WALKS),
        .complete = counter(slot, WIRE_COMPLETE),
        .lost = counter(slot, WIRE_LOST),
        .handler_ns = counter(slot, WIRE_HANDLER_NS),
    };
    memcpy(thread->name, slot->name, THREAD_NAME_BYTES);
    return true;
}

static struct process_thread *read_slots(const struct process *p, size_t *n) {
    uint32_t slots = session_memory_slots(&p->memory);
    struct process_thread *list = slots > 0 ? calloc(slots, sizeof *list) : NULL;
    for (uint32_t i = 0; i < slots && list != NULL; i++)
        *n += read_slot(p, i, &list[*n]);
    return list;
}

/* All of a small file of the thread's in /proc; false: there is none. */
static bool read_file(pid_t pid, uint32_t tid, const char *name, char *text, size_t bytes) {
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/task/%" PRIu32 "/%s", (int)pid, tid, name);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return false;
    size_t n = fread(text, 1, bytes - 1, f);
    fclose(f);
    text[n] = '\0';
    return n > 0;
}

static void ask_name(pid_t pid, uint32_t tid, char name[THREAD_NAME_ROOM]) {
    char text[64];
    if (!read_file(pid, tid, "comm", text, sizeof text))
        return;
    text[strlen(text) - 1] = '\0'; /* the kernel's newline; the name may have others */
    snprintf(name, THREAD_NAME_ROOM, "%.*s", THREAD_NAME_BYTES, text);
}

/* The main thread has its program's name as well as threads that nobody has named. */
void threads_name(const struct process *p, const struct wire_slot *slot,
                  char name[THREAD_NAME_ROOM]) {
    if (slot->tid == p->sampling.own_pid) {
        strcpy(name, "main");
        return;
    }
    if (*name == '\0')
        snprintf(name, THREAD_NAME_ROOM, "%.*s", THREAD_NAME_BYTES, slot->name);
    ask_name(p->pid, slot->tid, name);
    if (*name == '\0')
        snprintf(name, THREAD_NAME_ROOM, "%" PRIu32, slot->tid);
}

static void ask_kernel(pid_t pid, struct process_thread *thread) {
    char text[1024];
    uint64_t user, system;
    ask_name(pid, thread->tid, thread->name);
    if (!read_file(pid, thread->tid, "stat", text, sizeof text))
        return;
    const char *after_name = strrchr(text, ')'); /* the name may hold anything */
    char state;
    if (after_name == NULL ||
        sscanf(after_name + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
               &state, &user, &system) != 3)
        return;
    thread->state = state;
    thread->cpu_ns = (user + system) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

struct process_thread *process_threads(struct process *p, size_t *n,
                                       struct process_threads_ended *ended) {
    struct process_thread *list = NULL;
    *n = 0;
    pthread_mutex_lock(&p->lock);
    *ended = (struct process_threads_ended){
        .threads = p->ended.threads,
        .credited_ns = p->ended.counter[WIRE_CREDITED_NS],
        .walks = p->ended.counter[WIRE_WALKS],
        .complete = p->ended.counter[WIRE_COMPLETE],
        .lost = p->ended.counter[WIRE_LOST],
        .handler_ns = p->ended.counter[WIRE_HANDLER_NS],
    };
    if (p->live)
        list = read_slots(p, n);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < *n; i++)
        if (!list[i].ended)
            ask_kernel(p->pid, &list[i]);
    return list;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late_wake.c - asks where threads wait, and has their timers expire.
 */
#include "preload/life/late_wake.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "common/wire/waits.h"
#include "preload/life/agent.h"
#include "preload/life/late_tasks.h"
#include "preload/life/late_threads.h"
#include "preload/life/sys.h"
#include "preload/sample/trigger.h"

#define MOST 64 /* are asked for while one is held */

/* ---- where one waits ---- */

static bool has_timeout(int fd) {
    struct timeval timeout = {0, 0};
    socklen_t length = sizeof timeout;
    return fd >= 0 && sys5(SYS_getsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, &length) == 0 &&
           (timeout.tv_sec != 0 || timeout.tv_usec != 0);
}

/* "number argument ... stack pc", hexadecimal but for the first one; else it does not sleep in a
 * call. */
static bool is_waiting(const char *text) {
    uint64_t argument[6];
    long call = 0;
    if (*text < '0' || *text > '9')
        return false;
    for (; *text >= '0' && *text <= '9'; text++)
        call = call * 10 + (*text - '0');
    for (int i = 0; i < 6; i++) {
        if (strncmp(text, " 0x", 3) != 0)
            return false;
        argument[i] = late_tasks_hexadecimal(text + 3);
        text += 3 + strspn(text + 3, "0123456789abcdef");
    }
    return waits_again(call, argument) && !has_timeout(waits_on_socket(call, argument));
}

/* Which wait it is; 0: it may be in none. */
static uint64_t wait_of(int tasks, const char *name) {
    const char *text = late_tasks_read(tasks, name, "/syscall");
    uint64_t hash = 14695981039346656037ull;
    if (!is_waiting(text))
        return 0;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211ull;
    return hash;
}

/* ---- waking ---- */

static void wake(struct agent_thread *thread) {
    thread->poked = true;
    trigger_poke(thread);
}

/* Sleep is found where threads are woken, and one that nobody wakes has no tick by which it could
 * begin. Where events are sampled, the first one that is awake makes the process known to the
 * daemon, which so has read what is loaded before there are events. */
static bool are_to_wake(void) {
    return wire_clock_sleeps(agent.settings.clock) ||
           (settings_have(&agent.settings, wire_of_events) &&
            atomic_load(&agent.process->session) == NULL);
}

/* It has waited in the same call at an earlier question, so it is hardly about to make
 * another one just now. */
void late_wake_waiting(int tasks, const char *name, struct agent_thread *thread) {
    uint64_t before = thread->waits_in;
    if (thread->masked != NULL || thread->poked || !are_to_wake())
        return;
    thread->waits_in = wait_of(tasks, name);
    if (thread->waits_in != 0 && thread->waits_in == before)
        wake(thread);
}

static bool is_to_wake(const struct agent_thread *thread) {
    return atomic_load(&thread->used) != 0 && !thread->ending && thread->masked == NULL &&
           thread->tid != 0;
}

static void wake_self(struct agent_thread *self, const struct wire_attach *request) {
    if (request->waits != 0 && !has_timeout(request->waits_on) && !self->poked)
        wake(self);
}

static void ask_once(int tasks, const struct wire_attach *request) {
    pid_t self = (pid_t)sys0(SYS_gettid);
    char name[LATE_TASKS_NAME];
    int n = 0;
    for (struct agent_thread *t = thread_first(); t != NULL && n < MOST; t = t->next) {
        if (!is_to_wake(t))
            continue;
        n++;
        late_tasks_name(t->tid, name);
        if (t->tid != self)
            late_wake_waiting(tasks, name, t);
        else
            wake_self(t, request);
    }
}

/* Two questions; others are asked for at ticks. */
void late_wake_all(struct wire_attach *request) {
    long tasks = are_to_wake() ? late_tasks_open() : -1;
    if (tasks < 0)
        return;
    bool may_ask = late_tasks_tells_waits((int)tasks);
    atomic_store(&request->unread, !may_ask);
    ask_once((int)tasks, request);
    if (may_ask) {
        sys_nap(LATE_WAKE_NS);
        ask_once((int)tasks, request);
    }
    sys1(SYS_close, tasks);
}

static bool waits_still(int tasks, const struct wire_attach_thread *named) {
    char name[LATE_TASKS_NAME];
    uint64_t switches;
    late_tasks_name(named->tid, name);
    return late_tasks_sleeps(tasks, name, &switches) && switches == named->switches &&
           !has_timeout(named->waits_on);
}

void late_wake_named(const struct wire_attach *request) {
    long tasks = are_to_wake() ? late_tasks_open() : -1;
    if (tasks < 0)
        return;
    for (uint32_t i = 0; i < request->n_threads && i < WIRE_ATTACH_THREADS; i++) {
        const struct wire_attach_thread *named = &request->thread[i];
        struct agent_thread *thread = late_threads_find(named->tid);
        if (thread != NULL && is_to_wake(thread) && !thread->poked &&
            waits_still((int)tasks, named))
            wake(thread);
    }
    struct agent_thread *self = late_threads_find((pid_t)sys0(SYS_gettid));
    if (self != NULL && is_to_wake(self))
        wake_self(self, request); /* its stop is one switch more */
    sys1(SYS_close, tasks);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ingest.c - sweeps.
 *
 * Agents never ring a bell (that would cost a system call in the signal handler), so the thread
 * polls: often while there is something to read, seldom when all is quiet, not at all when nobody
 * is profiled. A ring holds far more than programs write in the longest pause. The end of a process
 * wakes the thread by its pidfd.
 */
#include "daemon/ingest/ingest.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/code/frame.h"
#include "common/wire/compiler.h"
#include "daemon/ingest/deferred_unwind.h"
#include "daemon/ingest/drain.h"
#include "daemon/ingest/families.h"
#include "daemon/ingest/registry.h"
#include "daemon/ingest/resume.h"
#include "daemon/ingest/tables.h"
#include "daemon/ingest/windows.h"

/* A new process names its modules at once and needs their tables soon; until it has them, it sends
 * copies of stacks, which fill a ring (preload/sample/sampling.c goes by this pause). In a build
 * there is always one that is new, and each sweep costs more than what is found. */
#define PAUSE_NEW_US     2000
#define NEW_NS           4000000ull
#define COPIES_NS        50000000ull /* after a copy others are expected */
#define PAUSE_FILLING_US 10000       /* a ring had so much in it that it could be full soon */
#define PAUSE_BUSY_US    25000
#define PAUSE_QUIET_US   50000
#define PAUSE_NONE       (-1)
#define POLL_NS          500000000ull /* of processes that have no pidfd */
/* Programs whose calls are counted fill a ring in a millisecond, and then have to wait. */
#define PAUSE_FULL_US        0
#define PAUSE_CALLS_US       400
#define PAUSE_CALLS_QUIET_US 3000
#define PAUSE_CALLS_RARE_US  25000 /* under a budget bursts are far apart; short ones fit a ring */
#define SHORT_BURST_NS       1000000u

#define DRAINS_MAX 64 /* for one query */

static struct {
    pthread_t thread;
    int epoll, wake;
    _Atomic bool stop;
    struct process *live[REGISTRY_LIVE_MAX]; /* the thread's; no memory may be wanting for it */
} ingest = {.epoll = -1, .wake = -1};

static void wake(void) {
    uint64_t one = 1;
    ssize_t n = write(ingest.wake, &one, sizeof one);
    (void)n; /* a full counter wakes as well */
}

/* False: the process is gone. Where there are no pidfds (a container may forbid them), it is polled
 * now and then (finish_vanished). */
static bool watch_end(struct process *process) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = process->number};
    process->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    if (process->pidfd < 0)
        return errno != ESRCH;
    epoll_ctl(ingest.epoll, EPOLL_CTL_ADD, process->pidfd, &event);
    return true;
}

/* A pidfd that is closed leaves the epoll by itself. Two threads may come here at once. */
static void watch_no_more(struct process *process) {
    int fd = atomic_exchange(&process->pidfd, -1);
    if (fd >= 0)
        close(fd);
}

/* Gives the reference back. NULL: there is nothing to end. */
static void finish(struct process *process) {
    if (process == NULL)
        return;
    watch_no_more(process);
    process_finish(process);
    registry_put(process);
}

/* Of these, the one that counts what `old` has counted, if they are of the same program. */
static struct process *successor(struct process *const *processes, size_t n,
                                 const struct process *old) {
    for (size_t i = 0; i < n; i++)
        if (identity_same(&old->identity, &processes[i]->identity) &&
            processes[i]->sampling.collector == old->sampling.collector)
            return processes[i];
    return NULL;
}

/* A new program in the process: what the old one has used is not its start. */
static void note_exec(struct process *old, struct process *const *processes, size_t n) {
    struct process_stats stats;
    pthread_mutex_lock(&old->lock);
    old->executed = true;
    process_stats_locked(old, &stats);
    uint64_t used = old->live ? old->memory.session->earlier_ns + stats.counter[WIRE_CREDITED_NS] +
                                    stats.counter[WIRE_LOST_NS] + stats.unasked_ns + stats.gap_ns
                              : 0;
    if (wire_clock_sleeps(old->sampling.clock))
        used = UINT64_MAX; /* it is not known */
    pthread_mutex_unlock(&old->lock);
    for (size_t i = 0; i < n; i++)
        if (used > processes[i]->before.earlier_ns)
            processes[i]->before.earlier_ns = used;
}

/* It has ended. What its own session had behind it is not in it, either. */
static struct before before_by_other(const struct process *old) {
    uint64_t before = old->before.by == BEFORE_BY_OTHER ? old->before.earlier_ns : 0;
    return (struct before){BEFORE_BY_OTHER, before + old->ended.cpu_ns};
}

/* Gives the reference back. A session that the same program had before goes on in this one, of
 * which there may be no metric like it. */
static void replace(struct process *old, struct process *const *processes, size_t n, bool again) {
    struct process *process = again ? successor(processes, n, old) : NULL;
    if (old->live)
        watch_no_more(old);
    if (old->live && !again)
        note_exec(old, processes, n);
    bool goes_on = process != NULL && resume(process, old);
    if (goes_on)
        registry_remove(old);
    else
        process_finish(old);
    if (process != NULL && !goes_on)
        process->before = before_by_other(old);
    old->waiting = false; /* for nothing that could still come */
    registry_put(old);
}

/* No process is known that it goes on with. */
static void note_missed(struct process *const *processes, size_t n) {
    uint64_t children_ns;
    const struct process *first = processes[0];
    bool missed = families_missed(first->pid, first->identity.start_ticks, &children_ns);
    for (size_t i = 0; i < n && missed; i++)
        if (processes[i]->before.by == BEFORE_BY_CLOCK ||
            processes[i]->before.by == BEFORE_BY_SESSION)
            processes[i]->missed =
                (struct missed){true, processes[i]->sampling.alone ? 0 : children_ns};
}

void ingest_adopt(struct process *const *processes, size_t n, bool again) {
    struct frame_user *frames = processes[0]->frames;
    pid_t pid = processes[0]->pid;
    uint64_t number[WIRE_METRICS_MAX];
    struct process *old;
    bool there = true;
    for (size_t i = 0; i < n && again; i++)
        processes[i]->before.by = BEFORE_BY_CLOCK; /* until its last session is found */
    frame_hold(frames); /* a tree may be on its way from one process to another */
    while ((old = registry_find_live(pid)) != NULL) /* exec: a new program in the same process */
        replace(old, processes, n, again);
    while (again && (old = registry_find_waiting(pid, &processes[0]->identity)) != NULL)
        replace(old, processes, n, true);
    note_missed(processes, n);
    for (size_t i = 0; i < n; i++) {
        number[i] = processes[i]->number;
        there &= watch_end(processes[i]);
        registry_add(processes[i]);
    }
    frame_drop(frames);
    for (size_t i = 0; i < n && !there; i++)
        finish(registry_find_numbered(number[i]));
    wake();
}

/* Also where more is to be read than one drain takes on. Sampled blocks are seen once, first: the
 * program goes on meanwhile, and of later ones it is not known where they come from. */
static void drain_to_end(struct process *process) {
    unsigned left = DRAINS_MAX;
    process_drain_and_see(process, tables_request, NULL);
    while (process->undrained && --left > 0)
        process_drain(process, tables_request, NULL);
}

static bool is_watched(struct process *process) {
    return atomic_load(&process->pidfd) >= 0;
}

/* By its pidfd, or where it has none by what /proc says of its number. */
static bool has_ended(struct process *process) {
    struct pollfd end = {.fd = atomic_load(&process->pidfd), .events = POLLIN};
    struct process_identity identity;
    if (end.fd >= 0)
        return poll(&end, 1, 0) == 1;
    return !identity_read(process->pid, &identity) || !identity_same(&identity, &process->identity);
}

/* What the agent has written before it left is read. */
static void finish_if_left(struct process *process) {
    if (process_has_left(process))
        finish(registry_find_numbered(process->number));
}

/* Who asks for a profile when a program has ended hears that it has, also before the ingest thread
 * does. */
static void finish_if_ended(struct process *process) {
    if (process->live && has_ended(process))
        finish(registry_find_numbered(process->number));
    finish_if_left(process);
}

static bool may_gain(const struct process *process, const void *unused) {
    (void)unused;
    return process->live || process_has_deferred(process);
}

void ingest_flush(struct process *process) {
    size_t n = 1;
    if (process != NULL) {
        finish_if_ended(process);
        drain_to_end(process);
        deferred_unwind_wait(process);
        return;
    }
    struct process **list = registry_list(may_gain, NULL, &n);
    for (size_t i = 0; i < n; i++) {
        finish_if_ended(list[i]);
        drain_to_end(list[i]);
    }
    for (size_t i = 0; i < n; i++)
        deferred_unwind_wait(list[i]);
    registry_free_list(list, n);
}

/* Ends those that have ended without a word. */
static void finish_vanished(struct process *const *list, size_t n, uint64_t now) {
    static uint64_t due;
    if (now < due)
        return;
    due = now + POLL_NS;
    for (size_t i = 0; i < n; i++)
        if (!is_watched(list[i]))
            finish_if_ended(list[i]);
}

/* Those whose profiling has a budget are to know what this thread takes for them. */
static bool has_budget(const struct process *process) {
    return process->sampling.budget_ppm != 0;
}

static bool is_rare(const struct process *process) {
    return has_budget(process) && process->sampling.burst_length_ns <= SHORT_BURST_NS;
}

static bool sweep_one(struct process *process) {
    bool any = process_drain(process, tables_request, NULL);
    finish_if_left(process);
    return any || process->undrained;
}

/* CPU time of this thread. */
static uint64_t used_ns(void) {
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* What falls to each of n processes of the time since the last sweep: to sleep, and to wake. */
static uint64_t rest_of(size_t n) {
    static uint64_t last_ns;
    uint64_t now = used_ns(), rest = (now - last_ns) / (n > 0 ? n : 1);
    last_ns = now;
    return rest;
}

static bool sweep_measured(struct process *process, uint64_t rest_ns) {
    uint64_t began = used_ns();
    bool any = sweep_one(process);
    process_count_reading(process, used_ns() - began + rest_ns);
    return any;
}

/* True: one of them has a budget. */
static bool is_measured(struct process *const *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (has_budget(list[i]))
            return true;
    return false;
}

/* Microseconds until the next sweep is due. */
static int sweep(void) {
    struct process **list = ingest.live;
    bool any = false, is_new = false, filling = false, calls = false, fills_soon = false;
    size_t n = registry_all_live(list);
    bool measured = is_measured(list, n), rare = true;
    uint64_t now = clock_now(), rest_ns = measured ? rest_of(n) : 0;
    for (size_t i = 0; i < n; i++) {
        any |= has_budget(list[i]) ? sweep_measured(list[i], rest_ns) : sweep_one(list[i]);
        is_new |=
            now - list[i]->since_mono_ns < NEW_NS || now < list[i]->copied_mono_ns + COPIES_NS;
        bool counts = list[i]->sampling.collector == WIRE_COLLECT_CALLS;
        calls |= counts;
        rare &= !counts || is_rare(list[i]);
        fills_soon |= counts && list[i]->fills_soon;
        filling |= list[i]->fills_soon;
    }
    finish_vanished(list, n, now);
    registry_put_all(list, n);
    if (measured)
        (void)rest_of(n);
    if (n == 0)
        return PAUSE_NONE;
    if (calls)
        return fills_soon ? PAUSE_FULL_US
               : any      ? PAUSE_CALLS_US
               : rare     ? PAUSE_CALLS_RARE_US
                          : PAUSE_CALLS_QUIET_US;
    if (is_new)
        return PAUSE_NEW_US;
    return filling ? PAUSE_FILLING_US : any ? PAUSE_BUSY_US : PAUSE_QUIET_US;
}

/* True: a process is new. It has still to name its modules. */
static bool take(const struct epoll_event *event) {
    uint64_t count;
    if (event->data.u64 != 0)
        finish(registry_find_numbered(event->data.u64));
    else if (read(ingest.wake, &count, sizeof count) < 0 && errno != EAGAIN)
        ingest.stop = true;
    return event->data.u64 == 0;
}

static bool is_short(int pause) {
    return pause >= 0 && pause <= PAUSE_NEW_US;
}

/* A short pause is slept to its end, and who came or went in it is seen to in one go. */
static int wait_for(struct epoll_event *events, int n, int pause) {
    const struct timespec slept = {.tv_nsec = pause * 1000l};
    if (!is_short(pause))
        return epoll_wait(ingest.epoll, events, n, pause < 0 ? pause : pause / 1000);
    if (pause > 0)
        nanosleep(&slept, NULL);
    return epoll_wait(ingest.epoll, events, n, 0);
}

static void *run(void *unused) {
    struct epoll_event events[64];
    int pause = PAUSE_BUSY_US;
    (void)unused;
    while (!ingest.stop) {
        int n = wait_for(events, HCCT_ARRAY_LEN(events), pause);
        bool come = false;
        for (int i = 0; i < n; i++)
            come |= take(&events[i]);
        pause = come && !is_short(pause) ? PAUSE_NEW_US : sweep();
    }
    return NULL;
}

bool ingest_start(void) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0};
    ingest.epoll = epoll_create1(EPOLL_CLOEXEC);
    ingest.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return ingest.epoll >= 0 && ingest.wake >= 0 &&
           epoll_ctl(ingest.epoll, EPOLL_CTL_ADD, ingest.wake, &event) == 0 &&
           pthread_create(&ingest.thread, NULL, run, NULL) == 0;
}

/* A process whose rings are being read is notified as soon as one of them is. */
void ingest_say_goodbye(void) {
    static struct process *list[REGISTRY_LIVE_MAX]; /* no memory may be wanting for it */
    size_t n = registry_all_live(list), left = 0;
    drain_hurry(true);
    for (size_t i = 0; i < n; i++)
        if (!process_say_goodbye(list[i], false))
            list[left++] = list[i];
        else
            registry_put(list[i]);
    for (size_t i = 0; i < left; i++)
        process_say_goodbye(list[i], true);
    drain_hurry(false);
    registry_put_all(list, left);
}

/* What is written after the last reading is lost, and the agents of programs whose calls are
 * counted say so in their next session. Walks that were under way then are read at the very end. */
static void read_the_rest(void) {
    struct process **list = ingest.live;
    size_t n = registry_all_live(list);
    for (size_t i = 0; i < n; i++) {
        drain_to_end(list[i]);
        process_say_read(list[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (list[i]->sampling.collector == WIRE_COLLECT_WALKS)
            process_drain(list[i], NULL, NULL);
    registry_put_all(list, n);
}

void ingest_stop(void) {
    ingest.stop = true;
    wake();
    pthread_join(ingest.thread, NULL);
    ingest_say_goodbye(); /* none is left that does not know it, but one that has just come */
    read_the_rest();
}

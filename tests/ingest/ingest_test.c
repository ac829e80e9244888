/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ingest_test.c - the end of a process that has ended before is not the end of another one that has
 * its pid now; and living processes get their heartbeats also when there is no memory.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/tree/summary.h"
#include "daemon/ingest/drain.h"
#include "daemon/ingest/ingest.h"
#include "daemon/ingest/registry.h"
#include "tests/check.h"

/* ---- faults (the linker's --wrap) ---- */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
int __real_epoll_wait(int epoll, struct epoll_event *events, int n, int ms);
int __wrap_epoll_wait(int epoll, struct epoll_event *events, int n, int ms);

static _Atomic bool no_memory;

void *__wrap_calloc(size_t n, size_t size) {
    return no_memory ? NULL : __real_calloc(n, size);
}

/* The first event of a process is kept until `go_on`, and no other one comes after it. */
static enum { WAITING, KEPT, GIVEN } stale;
static sem_t kept, go_on, seen;

static bool is_wake(const struct epoll_event *event) {
    return event->data.u64 == 0;
}

int __wrap_epoll_wait(int epoll, struct epoll_event *events, int n, int ms) {
    if (stale == GIVEN)
        sem_post(&seen);
    n = __real_epoll_wait(epoll, events, n, ms);
    if (n < 1 || is_wake(&events[0]))
        return n > 1 ? 1 : n;
    if (stale == WAITING) {
        stale = KEPT;
        sem_post(&kept);
        sem_wait(&go_on);
        stale = GIVEN;
        return 1;
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return 0;
}

static bool wait_for(sem_t *semaphore) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    return sem_timedwait(semaphore, &until) == 0;
}

/* ---- processes ---- */

static pid_t begin_child(void) {
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    return pid;
}

static struct process *adopt(pid_t pid) {
    const struct process_params params = {
        .pid = pid,
        .uid = getuid(),
        .sampling = {.rate = 100},
        .tree = {.summary = &summary_exact, .epsilon = 0.001},
    };
    struct process *process = process_new(&params);
    CHECK(process != NULL);
    registry_ref(process); /* this test's */
    ingest_adopt(&process, 1, false);
    return process;
}

static void test_pid_used_again(void) {
    pid_t pid = begin_child();
    struct process *first = adopt(pid);
    kill(pid, SIGKILL);
    CHECK(wait_for(&kept));
    struct process *second = adopt(pid); /* the number is not given back before the wait below */
    CHECK(!first->live && second->live);
    sem_post(&go_on);
    CHECK(wait_for(&seen));
    CHECK(second->live);
    waitpid(pid, NULL, 0);
    process_finish(second);
    registry_put(first);
    registry_put(second);
}

static uint64_t heartbeat(const struct process *process) {
    return atomic_load(&process->memory.session->heartbeat_ns);
}

static bool beats(const struct process *process) {
    uint64_t before = heartbeat(process);
    for (int ms = 0; ms < 30000 && heartbeat(process) == before; ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return heartbeat(process) != before;
}

static void test_no_memory(void) {
    pid_t pid = begin_child();
    struct process *process = adopt(pid);
    CHECK(beats(process));
    no_memory = true;
    CHECK(beats(process) && beats(process) && beats(process));
    no_memory = false;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    process_finish(process);
    registry_put(process);
}

int main(void) {
    sem_init(&kept, 0, 0);
    sem_init(&go_on, 0, 0);
    sem_init(&seen, 0, 0);
    CHECK(ingest_start());
    test_pid_used_again();
    test_no_memory();
    ingest_stop();
    registry_clear();
    return check_report();
}

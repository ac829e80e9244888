/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * inject.c - tries one thread after the other until one is at a safe point.
 */
#include "client/attach/inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/attach/call.h"
#include "client/attach/filter.h"
#include "client/attach/image.h"
#include "client/attach/point.h"
#include "client/attach/sight.h"
#include "client/attach/waiting.h"
#include "client/attach/walker.h"
#include "common/base/clock.h"
#include "common/wire/compiler.h"

#define STOP_NS     2000000000u /* for a thread to stop: until then it runs */
#define HOLD_NS     50000000u   /* for a function to return; then the thread is let go */
#define AGAIN_NS    1000000     /* between two rounds */
#define LATER_NS    200000000u  /* after a function did not return in time */
#define PATH_ROOM   64u         /* for a path of ours */
#define PATIENCE_NS 300000000u  /* so long no thread may seem to be in the loader */

/* In which order threads are tried. */
enum rank {
    RANK_ASLEEP,
    RANK_RUNNING,
    RANK_TIMED,
    RANK_REPEATED,
    RANK_DOUBTFUL,
    RANKS,
    RANK_NEVER = RANKS
};

struct work {
    struct injection *injection;
    struct target target;
    struct code code;
    struct walker *walker; /* NULL: it can't be walked */
    uint64_t began_ns, until_ns;
    enum injected result;
    enum point_care care;
    size_t next;      /* the first thread that was not read (inject.h) */
    bool is_filtered; /* by seccomp */
    bool missing;     /* a walk needs files that were not read yet */
};

/* ---- on a stopped thread ---- */

/* Where things are above the frame. */
struct place {
    uint64_t request, path;
};

static bool write_request(const struct work *work, const struct call *call, struct place *place) {
    const struct injection *injection = work->injection;
    place->request = call->room;
    place->path = call->room + sizeof injection->request;
    return target_write(&work->target, place->request, &injection->request,
                        sizeof injection->request) &&
           (injection->agent_path == NULL ||
            target_write(&work->target, place->path, injection->agent_path,
                         strlen(injection->agent_path) + 1));
}

static uint64_t find_function(struct work *work) {
    struct image image;
    uint64_t found = 0;
    if (!target_read_maps(&work->target))
        return 0;
    uint64_t base = code_base_of(&work->target, INJECT_LIBRARY);
    if (base == 0 || !image_read(&image, &work->target, base))
        return 0;
    const struct image_function *f = image_find(&image, WIRE_ATTACH_FUNCTION);
    if (f != NULL)
        found = f->start;
    image_free(&image);
    return found;
}

static enum injected result_of(enum called called) {
    switch (called) {
    case CALLED:
        return INJECTED;
    case CALLED_FAULT:
        return INJECT_BROKEN;
    case CALLED_GONE:
        return INJECT_GONE;
    default:
        return INJECT_NOT_IN_TIME;
    }
}

/* ---- the file, for who does not see it ---- */

/* Not a path that the application would give to the loader itself. */
#define SENT_PATH "/proc/self/task/../fd/%d"
#define SENT_NAME "hcct" INJECT_LIBRARY

static bool copy_file(const char *from, const char *to) {
    char part[65536];
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CLOEXEC);
    ssize_t n = in >= 0 && out >= 0 ? 1 : -1;
    while (n > 0 && (n = read(in, part, sizeof part)) > 0)
        n = write(out, part, (size_t)n) == n ? n : -1;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return n == 0;
}

/* A file in memory is made there, filled from here, and named by the process's own descriptor. */
static enum called send_file(struct work *work, struct call *call, uint64_t path) {
    struct injection *injection = work->injection;
    const uint64_t arguments[] = {SYS_memfd_create, path, MFD_CLOEXEC};
    char name[64];
    if (!target_write(&work->target, path, SENT_NAME, sizeof SENT_NAME))
        return CALLED_GONE;
    enum called called =
        call_function(call, CALL_STEPS, work->code.syscall, arguments, clock_now() + HOLD_NS);
    if (called != CALLED)
        return called;
    int fd = (int)call->result;
    injection->sent_as = fd >= 0 ? fd + 1 : 0;
    snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)injection->pid, fd);
    bool sent = fd >= 0 && copy_file(injection->agent_path, name);
    snprintf(name, sizeof name, SENT_PATH, fd);
    if (!sent)
        name[0] = '\0'; /* the loader takes that for the program itself */
    return target_write(&work->target, path, name, strlen(name) + 1) ? CALLED : CALLED_GONE;
}

/* What is mapped needs no descriptor. */
static enum called take_back(struct work *work, struct call *call) {
    const uint64_t arguments[] = {SYS_close, (uint64_t)work->injection->sent_as - 1, 0};
    if (work->injection->sent_as == 0)
        return CALLED;
    work->injection->sent_as = 0;
    return call_function(call, CALL_STEPS, work->code.syscall, arguments, clock_now() + HOLD_NS);
}

static enum called call_loader(struct work *work, struct call *call, const struct place *place) {
    const uint64_t arguments[] = {place->path, RTLD_NOW | RTLD_LOCAL, 0};
    if (work->injection->agent_path == NULL || code_base_of(&work->target, INJECT_LIBRARY) != 0)
        return CALLED;
    if (work->injection->sends) {
        enum called sent = send_file(work, call, place->path);
        if (sent != CALLED)
            return sent;
    }
    return call_function(call, CALL_DETOUR, work->code.dlopen, arguments, clock_now() + HOLD_NS);
}

static enum called call_agent(struct work *work, struct call *call, const struct place *place,
                              uint64_t function) {
    struct wire_attach *request = &work->injection->request;
    const uint64_t arguments[] = {place->request, 0, 0};
    enum called called =
        call_function(call, CALL_RINGS, function, arguments, clock_now() + HOLD_NS);
    if (called == CALLED && !target_read(&work->target, place->request, request, sizeof *request))
        called = CALLED_GONE;
    return called;
}

static enum injected call_both(struct work *work, struct call *call) {
    struct place place;
    if (!write_request(work, call, &place))
        return INJECT_NEVER_SAFE;
    enum called called = call_loader(work, call, &place);
    if (called == CALLED)
        called = take_back(work, call);
    uint64_t function = called == CALLED ? find_function(work) : 0;
    if (called == CALLED && function == 0)
        return INJECT_NOT_LOADED;
    if (called == CALLED)
        called = call_agent(work, call, &place, function);
    return result_of(called);
}

/* True: the work is over. */
static bool use(struct work *work, struct stop *stop, const struct user_regs_struct *regs) {
    static struct call call;
    const char *library = work->injection->agent_path;
    size_t room =
        sizeof work->injection->request + PATH_ROOM + (library != NULL ? strlen(library) : 0);
    if (!call_begin(&call, stop, &work->target, &work->code, regs, room,
                    (int)work->injection->request.bell))
        return false;
    work->result = call_both(work, &call);
    if (work->result != INJECT_NOT_IN_TIME) {
        (void)call_end(&call, work->result != INJECT_BROKEN);
        return work->result != INJECT_NEVER_SAFE;
    }
    call_abandon(&call);
    work->injection->was_late = true;
    return true;
}

/* ---- a thread ---- */

static enum rank rank_of(const struct work *work, pid_t tid) {
    struct target_sleep where;
    if (!target_where(work->target.pid, tid, &where))
        return RANK_NEVER;
    if (where.running)
        return RANK_RUNNING;
    enum point point = point_asleep(&work->code, &work->target, &where, work->care);
    if (point != POINT_SAFE)
        return point == POINT_DOUBTFUL && work->walker != NULL ? RANK_DOUBTFUL : RANK_NEVER;
    if (work->injection->agent_path != NULL && work->code.n_agent == 0 && point_is_timed(&where))
        return RANK_TIMED;
    return point_is_repeated(&where) ? RANK_REPEATED : RANK_ASLEEP;
}

static bool is_safe(struct work *work, const struct stop *stop,
                    const struct user_regs_struct *regs) {
    enum point point = point_stopped(&work->code, &work->target, stop->tid, regs, work->care);
    if (point != POINT_DOUBTFUL || work->walker == NULL)
        return point == POINT_SAFE;
    size_t ranges = work->care == POINT_ALL_CODE ? work->code.n_locked : work->code.n_agent;
    enum walked walked = walker_stack(work->walker, &work->code, ranges, regs);
    work->missing |= walked == WALKED_MISSING;
    return walked == WALKED_CLEAR;
}

static bool try_stopped(struct work *work, struct stop *stop) {
    struct user_regs_struct regs, again;
    if (ptrace(PTRACE_GETREGS, stop->tid, NULL, &regs) != 0)
        return false;
    again = regs;
    point_again(&work->target, stop->tid, &again);
    if (is_safe(work, stop, &regs)) {
        struct wire_attach *request = &work->injection->request;
        request->waits = point_waits(&regs, &request->waits_on);
        if (!filter_dispatches(stop->tid) && (!work->is_filtered || filter_lets_agent(stop->tid)))
            return use(work, stop, &again);
        work->result = INJECT_CONFINED;
    }
    if (again.rip != regs.rip)
        ptrace(PTRACE_SETREGS, stop->tid, NULL, &again);
    return work->result == INJECT_CONFINED;
}

/* A thread that has ended, and is there until somebody notices, can't be traced either: it has no
 * memory any more. */
static bool is_over(pid_t pid, pid_t tid) {
    uint64_t size;
    return !target_status(pid, tid, "VmSize", false, &size);
}

static bool try_thread(struct work *work, pid_t tid) {
    struct stop stop;
    enum stopped stopped = stop_thread(&stop, work->target.pid, tid, clock_now() + STOP_NS);
    uint64_t began = clock_now();
    if (stopped == STOPPED_NOT) { /* the kernel lets it go when this process ends */
        work->result = INJECT_AGAIN;
        return true;
    }
    if (stopped == STOPPED_GONE) {
        bool refused = errno == EPERM && !is_over(work->target.pid, tid);
        work->result = refused ? INJECT_NO_RIGHTS : work->result;
        return refused;
    }
    bool over = stopped == STOPPED_HERE && try_stopped(work, &stop);
    stop_release(&stop);
    uint64_t ns = clock_now() - began;
    if (work->missing)
        walker_learn(work->walker);
    work->missing = false;
    work->injection->stops++;
    if (ns > work->injection->stopped_ns)
        work->injection->stopped_ns = ns;
    return over;
}

/* ---- all of them ---- */

/* What it holds may be waited for by who loads something now. */
static bool somebody_loads(const struct work *work, const pid_t *list, size_t n) {
    struct target_sleep where;
    for (size_t i = 0; i < n; i++)
        if (target_where(work->target.pid, list[i], &where) && !where.running && where.call >= 0 &&
            point_in_loader(&work->code, &work->target, &where))
            return true;
    return false;
}

static bool has_time(const struct work *work) {
    return clock_now() < work->until_ns;
}

static bool try_ranked(struct work *work, const pid_t *list, size_t n) {
    for (enum rank rank = 0; rank < RANKS; rank++)
        for (size_t i = 0; i < n && has_time(work); i++)
            if (rank_of(work, list[i]) == rank && try_thread(work, list[i]))
                return true;
    return false;
}

/* Before it is stopped: it blocks more signals then. */
static void name_thread(struct wire_attach *request, pid_t pid, pid_t tid, bool ours) {
    uint64_t blocked;
    if (!target_status(pid, tid, "SigBlk", true, &blocked))
        return;
    request->thread[request->n_threads++] = (struct wire_attach_thread){
        .tid = ours ? tid : target_own_number(pid, tid), .blocked = blocked};
}

static void name_threads(struct work *work, const pid_t *list, size_t n) {
    struct wire_attach *request = &work->injection->request;
    bool ours = sight_has_our_pids(work->target.pid);
    if (request->what == WIRE_ATTACH_WAKE) {
        work->next = waiting_name(request, work->target.pid, list, n, work->injection->from, ours);
        work->next = work->next < n ? work->next : 0;
        return;
    }
    request->n_threads = 0;
    for (size_t i = 0; i < n && request->n_threads < WIRE_ATTACH_THREADS; i++)
        name_thread(request, work->target.pid, list[i], ours);
}

static void rest(uint64_t ns) {
    const struct timespec time = {0, (long)ns};
    nanosleep(&time, NULL); /* an alarm may end it */
}

/* There is nobody to be woken. */
static bool is_idle(struct work *work) {
    struct wire_attach *request = &work->injection->request;
    if (request->what != WIRE_ATTACH_WAKE || request->n_threads > 0)
        return false;
    atomic_store(&request->answer, WIRE_ATTACH_DONE);
    work->result = INJECTED;
    return true;
}

/* One round; true: the work is over. */
static bool try_all(struct work *work) {
    pid_t *list;
    bool over = true;
    size_t n = target_threads(work->target.pid, &list);
    if (n == 0 || !target_read_maps(&work->target)) {
        work->result = INJECT_GONE;
    } else {
        bool patient = work->care == POINT_ALL_CODE && clock_now() - work->began_ns < PATIENCE_NS;
        name_threads(work, list, n);
        if (work->walker != NULL)
            walker_prepare(work->walker);
        over = is_idle(work) ||
               (!(patient && somebody_loads(work, list, n)) && try_ranked(work, list, n));
    }
    free(list);
    return over;
}

/* One that is ignored by default, so that it does nothing if nobody traces the thread any more. */
static uint32_t choose_bell(pid_t pid) {
    static const int ignored[] = {SIGURG, SIGWINCH, SIGCHLD};
    uint64_t caught;
    if (!target_status(pid, 0, "SigCgt", true, &caught))
        return 0;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(ignored); i++)
        if ((caught >> (ignored[i] - 1) & 1) == 0)
            return (uint32_t)ignored[i];
    return 0;
}

static enum injected begin(struct work *work) {
    static const enum injected faults[] = {[CODE_NO_LIBC] = INJECT_NO_LIBC,
                                           [CODE_OLD_LIBC] = INJECT_OLD_LIBC,
                                           [CODE_STRANGE_LIBC] = INJECT_STRANGE_LIBC};
    if (!target_open(&work->target, work->injection->pid))
        return errno == EACCES || errno == EPERM ? INJECT_NO_RIGHTS : INJECT_GONE;
    uint64_t mode = 0;
    (void)target_status(work->injection->pid, 0, "Seccomp", false, &mode);
    work->is_filtered = mode != 0 && filter_can_be_read();
    work->injection->request.bell = choose_bell(work->injection->pid);
    enum code_fault fault = code_read(&work->code, &work->target, INJECT_LIBRARY);
    work->injection->own_malloc = work->code.own_malloc;
    return fault == CODE_FINE ? INJECT_NEVER_SAFE : faults[fault];
}

static enum injected inject_here(struct injection *injection) {
    struct work work = {.injection = injection, .began_ns = clock_now()};
    work.care = injection->agent_path != NULL ? POINT_ALL_CODE : POINT_OWN_CODE;
    work.until_ns = work.began_ns + (uint64_t)(injection->seconds * CLOCK_SECOND);
    work.result = begin(&work);
    if (work.result == INJECT_NEVER_SAFE)
        work.walker = walker_new(&work.target);
    while (work.result == INJECT_NEVER_SAFE && has_time(&work) && !try_all(&work)) {
        rest(AGAIN_NS);
        work.result = INJECT_NEVER_SAFE;
    }
    walker_free(work.walker);
    target_close(&work.target);
    if (work.result == INJECTED)
        injection->from = work.next;
    return work.result;
}

/* ---- a process of its own ---- */

struct report {
    enum injected result;
    struct injection injection;
};

static ssize_t receive(int fd, struct report *report) {
    size_t used = 0;
    ssize_t n;
    do {
        n = read(fd, (char *)report + used, sizeof *report - used);
        used += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EINTR));
    return (ssize_t)used;
}

/* While it is awaited a thread stands still. Children are none. */
static void be_quick(void) {
    const struct sched_param least = {.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &least) != 0)
        (void)setpriority(PRIO_PROCESS, 0, -20); /* neither may be allowed */
}

_Noreturn static void work_and_report(struct injection *injection, int fd) {
    struct report report;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    stop_prepare();
    be_quick();
    report.result = inject_here(injection);
    report.injection = *injection;
    ssize_t n = write(fd, &report, sizeof report);
    _exit(n == (ssize_t)sizeof report ? 0 : 1);
}

static enum injected inject_once(struct injection *injection) {
    const char *library = injection->agent_path;
    struct report report;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return INJECT_NO_RIGHTS;
    pid_t pid = fork();
    if (pid == 0)
        work_and_report(injection, ends[1]);
    close(ends[1]);
    bool good = pid > 0 && receive(ends[0], &report) == (ssize_t)sizeof report;
    close(ends[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (!good)
        return INJECT_GONE;
    *injection = report.injection;
    injection->agent_path = library;
    return report.result;
}

enum injected inject(struct injection *injection) {
    double seconds = injection->seconds;
    uint64_t began = clock_now();
    enum injected result;
    do {
        result = inject_once(injection);
        injection->seconds = seconds - (double)(clock_now() - began) / CLOCK_SECOND;
        if (result == INJECT_NOT_IN_TIME)
            rest(LATER_NS);
    } while ((result == INJECT_AGAIN || result == INJECT_NOT_IN_TIME) && injection->seconds > 0);
    return result == INJECT_AGAIN ? INJECT_NEVER_SAFE : result;
}

bool inject_is_possible_here(void) {
    return true;
}

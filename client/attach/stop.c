/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stop.c - ptrace, by PTRACE_SEIZE: no signal is sent to stop a thread.
 */
#include "client/attach/stop.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"

#define CALL_STOP (SIGTRAP | 0x80)
#define LATE_US   2000 /* a deadline is noticed so much later */

static void wake(int signal) {
    (void)signal;
}

void stop_prepare(void) {
    const struct itimerval often = {{0, LATE_US}, {0, LATE_US}};
    struct sigaction action = {.sa_handler = wake}; /* waiting is not to go on */
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigaction(SIGALRM, &action, NULL);
    sigprocmask(SIG_UNBLOCK, &alarm, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static bool is_fault(int signal) {
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
           signal == SIGTRAP;
}

/* With all that it says: who gets it looks at where it comes from. A stop of the whole process has
 * no more than its number. */
static void keep(struct stop *stop, int signal) {
    if (stop->n_later == STOP_SIGNALS_MAX)
        return;
    siginfo_t *info = &stop->later[stop->n_later++];
    if (ptrace(PTRACE_GETSIGINFO, stop->tid, NULL, info) != 0 || info->si_signo != signal)
        *info = (siginfo_t){.si_signo = signal, .si_code = SI_USER};
}

/* By a call of its own, not from elsewhere. */
static bool has_rung(const struct stop *stop) {
    struct user_regs_struct regs;
    return ptrace(PTRACE_GETREGS, stop->tid, NULL, &regs) == 0 &&
           (long)regs.orig_rax == SYS_tgkill && regs.rdx == (unsigned long long)stop->bell;
}

/* What a stop means; STOPPED_NOT: nothing, the thread is to run on, with the signal *pass. */
static enum stopped classify(struct stop *stop, int status, int *pass) {
    int signal = WSTOPSIG(status), event = status >> 16;
    *pass = 0;
    if (!WIFSTOPPED(status))
        return STOPPED_GONE;
    if (signal == CALL_STOP)
        return STOPPED_CALL;
    if (event == PTRACE_EVENT_STOP && signal == SIGTRAP)
        return STOPPED_HERE;
    bool of_all = event == PTRACE_EVENT_STOP || signal == SIGSTOP; /* it is stopped as a whole */
    if (stop->calls && !of_all && is_fault(signal))
        return STOPPED_FAULT;
    if (stop->calls && stop->bell == signal && event == 0 && has_rung(stop))
        return STOPPED_BELL;
    if (stop->calls || event == PTRACE_EVENT_STOP)
        keep(stop, signal);
    else
        *pass = signal;
    return STOPPED_NOT;
}

static enum stopped wait_for(struct stop *stop, bool calls, uint64_t deadline_ns) {
    int status, pass;
    do {
        pid_t found = waitpid(stop->tid, &status, __WALL);
        if (found < 0 && errno != EINTR)
            return STOPPED_GONE;
        if (found != stop->tid)
            continue;
        enum stopped what = classify(stop, status, &pass);
        if (what != STOPPED_NOT)
            return what;
        if (ptrace(calls ? PTRACE_SYSCALL : PTRACE_CONT, stop->tid, NULL, (long)pass) != 0)
            return STOPPED_GONE;
    } while (clock_ns(CLOCK_MONOTONIC) < deadline_ns);
    return STOPPED_NOT;
}

enum stopped stop_thread(struct stop *stop, pid_t pid, pid_t tid, uint64_t deadline_ns) {
    *stop = (struct stop){.pid = pid, .tid = tid};
    if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0)
        return STOPPED_GONE;
    return stop_interrupt(stop) ? wait_for(stop, false, deadline_ns) : STOPPED_GONE;
}

bool stop_interrupt(const struct stop *stop) {
    return ptrace(PTRACE_INTERRUPT, stop->tid, NULL, NULL) == 0;
}

enum stopped stop_run(struct stop *stop, bool calls, uint64_t deadline_ns) {
    stop->calls = true;
    if (ptrace(calls ? PTRACE_SYSCALL : PTRACE_CONT, stop->tid, NULL, NULL) != 0)
        return STOPPED_GONE;
    return wait_for(stop, calls, deadline_ns);
}

enum stopped stop_wait(struct stop *stop, uint64_t deadline_ns) {
    return wait_for(stop, false, deadline_ns);
}

/* What the kernel, or kill, has sent nobody else may send as it was. */
static void send(const struct stop *stop, const siginfo_t *info) {
    if (syscall(SYS_rt_tgsigqueueinfo, stop->pid, stop->tid, info->si_signo, info) != 0)
        syscall(SYS_tgkill, stop->pid, stop->tid, info->si_signo);
}

void stop_release(const struct stop *stop) {
    ptrace(PTRACE_DETACH, stop->tid, NULL, NULL);
    for (unsigned i = 0; i < stop->n_later; i++)
        send(stop, &stop->later[i]);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * launch.c - fork, exec, wait, and signals in between.
 *
 * The command is in our process group, has our descriptors, our signal mask and dispositions as
 * they were when we began. What the terminal sends reaches it directly; what is sent to us is
 * passed on.
 */
#include "client/commands/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/commands/runtime_names.h"
#include "common/base/options.h"
#include "common/wire/compiler.h"

static const int caught[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

static struct sigaction before[HCCT_ARRAY_LEN(caught)], before_chld;
static void (*abandon_all)(void);
static volatile sig_atomic_t running; /* pid of the command while it may be signalled */

static void on_signal(int signal, siginfo_t *info, void *context) {
    (void)context;
    int saved = errno;
    if (running > 0) {
        if (info->si_code != SI_KERNEL) /* the terminal's go to the command by themselves */
            kill(running, signal);
    } else {
        abandon_all();
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigaction(signal, &action, NULL);
        raise(signal); /* blocked here: ends us on return */
    }
    errno = saved;
}

void launch_catch_signals(void (*abandon)(void)) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction child = {.sa_handler = SIG_DFL};
    abandon_all = abandon;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(caught); i++)
        sigaddset(&action.sa_mask, caught[i]);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(caught); i++) {
        sigaction(caught[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) /* nohup: what was ignored stays so */
            sigaction(caught[i], &action, NULL);
    }
    sigaction(SIGCHLD, &child, &before_chld); /* ignored, it would hide the exit status */
}

static void set_or_not(const char *name, const char *value) {
    if (value != NULL)
        setenv(name, value, 1);
}

/* AddressSanitizer's library refuses to start behind any other. It need not come first, and in
 * LD_PRELOAD it would be in all programs that the command starts. */
static void let_sanitizer_start(void) {
    static const char order[] = "verify_asan_link_order";
    const char *options = getenv("ASAN_OPTIONS");
    char *joined;
    if (options != NULL && strstr(options, order) != NULL)
        return;
    bool first = options == NULL || options[0] == '\0';
    if (asprintf(&joined, "%s%s%s=0", first ? "" : options, first ? "" : ":", order) > 0)
        setenv("ASAN_OPTIONS", joined, 1);
}

/* Before what is preloaded already. */
static void preload(const char *library) {
    const char *others = getenv("LD_PRELOAD");
    char *joined;
    if (library == NULL)
        return;
    if (others == NULL || others[0] == '\0')
        setenv("LD_PRELOAD", library, 1);
    else if (asprintf(&joined, "%s:%s", library, others) > 0)
        setenv("LD_PRELOAD", joined, 1);
}

static void set_environment(const struct launch *launch) {
    char text[16];
    preload(launch->locks);
    preload(launch->blocks);
    preload(launch->agent);
    let_sanitizer_start();
    setenv("HCCT_SOCKET", launch->socket, 1);
    snprintf(text, sizeof text, "%u", launch->rate);
    set_or_not("HCCT_RATE", launch->rate > 0 ? text : NULL);
    set_or_not("HCCT_ATTACH", "start"); /* what has no sample is shown, too */
    set_or_not("HCCT_BURST", launch->burst);
    set_or_not("HCCT_BUDGET", launch->budget);
    set_or_not("HCCT_CLOCK", launch->clock);
    set_or_not("HCCT_COLLECTOR", launch->collector);
    set_or_not("HCCT_METRICS", launch->metric);
    set_or_not("HCCT_EVERY", launch->every);
    set_or_not("HCCT_CREDIT", launch->credit);
    set_or_not("HCCT_MODULES", launch->modules);
    set_or_not("HCCT_TAGS", launch->tags);
    set_or_not("HCCT_LINES", launch->lines ? "yes" : NULL);
    set_or_not("HCCT_THREADS", launch->threads ? "yes" : NULL);
    set_or_not("HCCT_PYTHON", launch->python ? "yes" : NULL);
    set_or_not("HCCT_CHECK", launch->check ? "yes" : NULL);
    if (!launch->follow)
        setenv("HCCT_FOLLOW", "no", 1);
}

/* In the child: `report` is closed by a successful exec, else it says why there was none. */
_Noreturn static void become_command(const struct launch *launch, const sigset_t *mask,
                                     int report) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(caught); i++)
        sigaction(caught[i], &before[i], NULL);
    sigaction(SIGCHLD, &before_chld, NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    set_environment(launch);
    char **argv = runtime_names_enter(launch->names, launch->argv);
    execvp(argv[0], argv);
    int error = errno;
    if (write(report, &error, sizeof error) != (ssize_t)sizeof error)
        _exit(126);
    _exit(127);
}

/* errno of an exec that failed, 0 when it succeeded. */
static int read_exec_error(int fd) {
    int error = 0;
    ssize_t n;
    do {
        n = read(fd, &error, sizeof error);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof error ? error : 0;
}

/* As the first process of a container we are the parent of all whose own has ended. hcctd stays: it
 * is waited for by its number. */
static void wait_as_init(pid_t pid, pid_t keep) {
    siginfo_t info;
    do {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) != 0 && errno != EINTR)
            return;
        if (info.si_pid == keep && keep != 0)
            return;
        if (info.si_pid != 0 && info.si_pid != pid)
            waitpid(info.si_pid, NULL, 0);
    } while (info.si_pid != pid);
}

/* The pid is not passed on to kill() any more before it can be another process's. */
static int wait_for(pid_t pid, pid_t keep, struct rusage *used) {
    siginfo_t info;
    int status = 0;
    if (getpid() == 1)
        wait_as_init(pid, keep);
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        ;
    running = 0;
    while (wait4(pid, &status, 0, used) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static uint64_t nanoseconds(const struct timeval *time) {
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

bool launch_run(const struct launch *launch, struct launch_end *end) {
    struct rusage used = {0};
    int report[2];
    sigset_t all, mask;
    if (pipe2(report, O_CLOEXEC) != 0) {
        complain("no pipe can be made: %s", strerror(errno));
        return false;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    pid_t pid = fork();
    int error = errno;
    if (pid == 0)
        become_command(launch, &mask, report[1]);
    running = pid > 0 ? pid : 0;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(report[1]);
    if (pid > 0) {
        end->pid = pid;
        end->error = read_exec_error(report[0]);
        end->status = wait_for(pid, launch->keep, &used);
        end->cpu_ns = nanoseconds(&used.ru_utime) + nanoseconds(&used.ru_stime);
    } else {
        complain("no process can be started: %s", strerror(error));
    }
    close(report[0]);
    return pid > 0;
}

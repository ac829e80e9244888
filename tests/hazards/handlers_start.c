/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handlers_start.c - a handler that has interrupted a sleep begins a program, in every way that
 * libc has, or leaves the sleep: which signals the program has blocked, and the thread afterwards.
 */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "busy.h"

static char own[4096], line[4200];
static char mask[] = "mask", late[] = "late";
static char *ask[] = {own, mask, NULL}, *outlast[] = {own, late, NULL}, *environment[] = {NULL};

/* As the kernel has it, but for the signal by which libc cancels threads: a cleanup has that
 * blocked where it comes out of a sleep, and not where that had not begun. */
static void show_mask(const char *who) {
    char text[256];
    FILE *file = fopen("/proc/thread-self/status", "r");
    while (file != NULL && fgets(text, sizeof text, file) != NULL)
        if (strncmp(text, "SigBlk:", 7) == 0)
            printf("%s: %llx\n", who, strtoull(text + 8, NULL, 16) & ~(1ull << 31));
    if (file != NULL)
        fclose(file);
    fflush(stdout);
}

static void begin_fork(void) {
    if (fork() == 0) {
        execve(own, ask, environment);
        _exit(1);
    }
}

static void begin_forked(void) {
    if (fork() == 0) {
        show_mask("child");
        _exit(0);
    }
}

static void begin_bare_fork(void) {
    if (_Fork() == 0) {
        execl(own, own, mask, (char *)NULL);
        _exit(1);
    }
}

static void begin_vfork(void) {
    if (vfork() == 0) {
        execve(own, ask, environment);
        _exit(1);
    }
}

static void begin_by_number(void) {
    if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
        execv(own, ask);
        _exit(1);
    }
}

static void begin_spawn(void) {
    pid_t pid;
    posix_spawn(&pid, own, NULL, NULL, ask, environment);
}

static void begin_system(void) {
    if (system(line) != 0)
        puts("system failed");
}

static void begin_popen(void) {
    char text[256];
    FILE *file = popen(line, "r");
    while (file != NULL && fgets(text, sizeof text, file) != NULL)
        fputs(text, stdout);
    fflush(stdout);
    if (file != NULL)
        pclose(file);
}

static const struct way {
    const char *name;
    void (*begin)(void);
} ways[] = {{"fork", begin_fork},     {"fork alone", begin_forked}, {"_Fork", begin_bare_fork},
            {"vfork", begin_vfork},   {"clone", begin_by_number},   {"posix_spawn", begin_spawn},
            {"system", begin_system}, {"popen", begin_popen}};

static void (*begin)(void);
static bool sleeps_too, leaves;
static jmp_buf before;

static volatile sig_atomic_t came;

static void set_alarms(long us) {
    const struct itimerval time = {{0, us}, {0, us}};
    setitimer(ITIMER_REAL, &time, NULL);
}

/* Alarms come again, as the first one may have come before the sleep. */
static void on_alarm(int number) {
    (void)number;
    if (came++ > 0)
        return;
    if (begin != NULL) {
        begin();
        while (wait(NULL) > 0)
            continue;
    }
    if (sleeps_too) {
        poll(NULL, 0, 20);
        begin_fork();
        while (wait(NULL) > 0)
            continue;
    }
    if (leaves)
        longjmp(before, 1);
}

static void sleep_poll(void) {
    poll(NULL, 0, 800);
}

static void sleep_nap(void) {
    const struct timespec time = {0, 800000000};
    nanosleep(&time, NULL);
}

static void sleep_pause(void) {
    pause();
}

static void sleep_suspend(void) {
    sigset_t none;
    sigemptyset(&none);
    sigsuspend(&none);
}

static void (*const sleeps[])(void) = {sleep_poll, sleep_nap, sleep_pause, sleep_suspend};
#define SLEEPS (sizeof sleeps / sizeof *sleeps)

static void interrupt(const char *name, void (*sleep_so)(void)) {
    printf("%s\n", name);
    fflush(stdout);
    busy_ms(3);
    came = 0;
    set_alarms(60000);
    while (setjmp(before) == 0 && came == 0)
        sleep_so();
    set_alarms(0);
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    show_mask("afterwards");
}

static void on_end(void *unused) {
    (void)unused;
    show_mask("cleanup");
    begin_vfork();
    while (wait(NULL) > 0)
        continue;
}

static void *sleep_on(void *at_once) {
    busy_ms(5);
    pthread_cleanup_push(on_end, NULL);
    if (at_once != NULL)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    poll(NULL, 0, 20000);
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancel(void *at_once) {
    pthread_t thread;
    printf("a thread is cancelled\n");
    fflush(stdout);
    pthread_create(&thread, NULL, sleep_on, at_once);
    usleep(100000);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

/* By its own timer, whose signal is not to be blocked. */
static void begin_what_ends(void) {
    int status;
    if (fork() == 0) {
        execve(own, outlast, environment);
        _exit(1);
    }
    wait(&status);
    printf("its timer: %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    fflush(stdout);
}

static void run_out(void) {
    const struct itimerval soon = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_PROF, &soon, NULL);
    busy_ms(1000);
}

static void begin_nothing_else(void) {
    set_alarms(0);
    execve(own, ask, environment);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], mask) == 0) {
        show_mask("program");
        return 0;
    }
    if (argc > 1) {
        run_out();
        return 0;
    }
    if (readlink("/proc/self/exe", own, sizeof own - 1) <= 0)
        return 1;
    snprintf(line, sizeof line, "env -i %s mask", own);
    signal(SIGALRM, on_alarm);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (size_t s = 0; s < SLEEPS; s++) {
            begin = ways[i].begin;
            interrupt(ways[i].name, sleeps[s]);
        }
    begin = begin_system;
    sleeps_too = true;
    interrupt("sleeps too", sleep_poll);
    leaves = true;
    interrupt("sleeps and leaves", sleep_poll);
    begin = NULL;
    interrupt("only sleeps and leaves", sleep_pause);
    sleeps_too = false;
    interrupt("only leaves", sleep_nap);
    leaves = false;
    cancel(NULL);
    cancel(own);
    begin = begin_what_ends;
    interrupt("limits itself", sleep_poll);
    begin = begin_nothing_else;
    interrupt("exec", sleep_poll);
    return 1;
}

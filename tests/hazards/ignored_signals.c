/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ignored_signals.c - a signal that a program ignores is dropped when it is sent. Where the thread
 * that it is sent to has it blocked it is queued, and wakes another thread, whose call ends early:
 * a send() has sent a part. So a handler that a profiler has put here must not block what is
 * ignored, and must block what has a handler.
 *
 *   ignored_signals masks     what handlers of others block, as the kernel has it
 *   ignored_signals sends     threads send while children end
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* sigset, sigignore */

struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/* Past libc, and past whoever stands before it. */
static long kernels_action(long number, const struct kernel_action *action,
                           struct kernel_action *old) {
#if defined(__x86_64__)
    register long bytes __asm__("r10") = 8;
    long result = SYS_rt_sigaction;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(number), "S"(action), "d"(old), "r"(bytes)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long call __asm__("x8") = SYS_rt_sigaction, x0 __asm__("x0") = number;
    register const void *x1 __asm__("x1") = action;
    register void *x2 __asm__("x2") = old;
    register long x3 __asm__("x3") = 8;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(call), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
#endif
}

static volatile sig_atomic_t arrived;

static void handle(int number) {
    arrived = number;
}

/* As libc tells it: the kernel may have another function, which leads to it. */
static int is_own(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == handle;
}

/* Whether handlers of others have `number` blocked; `wanted` where there are none. */
static int is_blocked(int number, int wanted) {
    for (int other = 1; other <= SIGRTMAX; other++) {
        struct kernel_action now = {0};
        if (kernels_action(other, NULL, &now) != 0 || now.handler == SIG_DFL ||
            now.handler == SIG_IGN || is_own(other))
            continue;
        int blocks = (now.mask & 1ull << (number - 1)) != 0;
        if (blocks != wanted)
            return blocks;
    }
    return wanted;
}

static int failed;

static void expect(int number, int wanted, const char *when) {
    if (is_blocked(number, wanted) == wanted)
        return;
    failed = 1;
    printf("%s: signal %d is%s blocked\n", when, number, wanted ? " not" : "");
}

static void set_by_sigaction(int number, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(number, &action, NULL);
}

static void set_by_signal(int number, void (*handler)(int)) {
    signal(number, handler);
}

static void set_by_sigset(int number, void (*handler)(int)) {
    sigset(number, handler);
}

static void restore_nothing(void);

static void set_by_system_call(int number, void (*handler)(int)) {
    const struct kernel_action action = {.handler = handler, .restorer = restore_nothing};
    syscall(SYS_rt_sigaction, number, &action, NULL, 8);
}

static void restore_nothing(void) {}

static void set_and_reset(int number) {
    static const struct {
        const char *name;
        void (*set)(int, void (*)(int));
    } ways[] = {{"sigaction", set_by_sigaction},
                {"signal", set_by_signal},
                {"sigset", set_by_sigset},
                {"syscall", set_by_system_call}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        ways[i].set(number, handle);
        expect(number, 1, ways[i].name);
        ways[i].set(number, SIG_IGN);
        expect(number, 0, ways[i].name);
        ways[i].set(number, handle);
        expect(number, 1, ways[i].name);
        ways[i].set(number, SIG_DFL);
        expect(number, number == SIGUSR2, ways[i].name); /* it would end the program */
    }
}

static void look_at_masks(const char *when) {
    static const int by_default[] = {SIGCHLD, SIGURG, SIGWINCH, SIGCONT};
    for (size_t i = 0; i < sizeof by_default / sizeof *by_default; i++)
        expect(by_default[i], 0, when);
    expect(SIGHUP, 0, when); /* before this program was executed */
    expect(SIGUSR1, 1, when);
    set_and_reset(SIGCHLD);
    set_and_reset(SIGWINCH);
    set_and_reset(SIGUSR2);
    sigignore(SIGUSR2);
    expect(SIGUSR2, 0, "sigignore");
    set_by_signal(SIGUSR2, SIG_DFL);
}

static int masks(void) {
    busy_ms(60);
    look_at_masks("at first");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        busy_ms(30);
        look_at_masks("in a child");
        fflush(stdout);
        _exit(failed);
    }
    int status = -1;
    waitpid(child, &status, 0);
    printf("blocked is what has a handler: %s\n", failed || status != 0 ? "no" : "yes");
    return 0;
}

#define BYTES    (1 << 20)
#define CHILDREN 120
#define SENDERS  3

static volatile int over;

struct pair {
    int end[2];
    long sends, shorts;
};

static void *receive(void *arg) {
    static __thread char room[4096];
    struct pair *pair = arg;
    while (recv(pair->end[1], room, sizeof room, 0) > 0)
        ;
    return NULL;
}

static void *send_all(void *arg) {
    struct pair *pair = arg;
    char *data = calloc(1, BYTES);
    while (!over) {
        pair->sends++;
        pair->shorts += send(pair->end[0], data, BYTES, 0) != BYTES;
    }
    shutdown(pair->end[0], SHUT_RDWR);
    free(data);
    return NULL;
}

/* A child ends while its parent has just come from fork, which a profiler may stand around. */
static int sends(void) {
    struct pair pair[SENDERS] = {{{0, 0}, 0, 0}};
    pthread_t thread[2 * SENDERS];
    long n = 0, shorts = 0;
    for (int i = 0; i < SENDERS; i++)
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair[i].end) != 0 ||
            pthread_create(&thread[2 * i], NULL, receive, &pair[i]) != 0 ||
            pthread_create(&thread[2 * i + 1], NULL, send_all, &pair[i]) != 0)
            return 1;
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        busy(20000);
        waitpid(child, NULL, 0);
    }
    over = 1;
    for (int i = 0; i < 2 * SENDERS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < SENDERS; i++)
        n += pair[i].sends, shorts += pair[i].shorts;
    printf("%s ended short\n", shorts == 0 ? "no send" : "a send");
    fprintf(stderr, getenv("SENDS_VERBOSE") ? "%ld of %ld\n" : "", shorts, n);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[2], "executed") == 0)
        return strcmp(argv[1], "masks") == 0 ? masks() : sends();
    if (argc != 2)
        return 2;
    signal(SIGHUP, SIG_IGN);
    execl("/proc/self/exe", argv[0], argv[1], "executed", (char *)NULL);
    return 1;
}

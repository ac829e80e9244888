/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_view.c - prints what a program sees of its signal handlers: the same text must come out
 * with and without the agent.
 *
 *   asleep    handlers that interrupt calls that sleep: what they are given, the mask and errno
 *             behind them, EINTR, and SA_RESETHAND
 *   depth     of the stack, where a handler interrupts the program's own code
 *   left      handlers that leave such a call by siglongjmp, and by a thread's exit
 *   shared    a child that shares its parent's memory sets handlers of its own
 *   nested    a handler sleeps itself, and is interrupted by another one
 *   changed   a handler changes its signal's handler while it runs
 *   many      more handlers than the agent has entries for: each is read back, and called
 */
#include <errno.h>
#include <execinfo.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MANY 100

typedef void handler(int number);

static volatile sig_atomic_t called[MANY];

/* They are different functions. */
#define HANDLER(n)                                                                                 \
    static void handler_##n(int number) {                                                          \
        called[1##n - 100] += number != 0;                                                         \
    }
#define TEN(n)                                                                                     \
    HANDLER(n##0)                                                                                  \
    HANDLER(n##1)                                                                                  \
    HANDLER(n##2)                                                                                  \
    HANDLER(n##3)                                                                                  \
    HANDLER(n##4)                                                                                  \
    HANDLER(n##5)                                                                                  \
    HANDLER(n##6)                                                                                  \
    HANDLER(n##7)                                                                                  \
    HANDLER(n##8)                                                                                  \
    HANDLER(n##9)
TEN(0)
TEN(1)
TEN(2)
TEN(3)
TEN(4)
TEN(5)
TEN(6)
TEN(7)
TEN(8)
TEN(9)
#define NAMES(n)                                                                                   \
    handler_##n##0, handler_##n##1, handler_##n##2, handler_##n##3, handler_##n##4,                \
        handler_##n##5, handler_##n##6, handler_##n##7, handler_##n##8, handler_##n##9
static handler *const handlers[MANY] = {NAMES(0), NAMES(1), NAMES(2), NAMES(3), NAMES(4),
                                        NAMES(5), NAMES(6), NAMES(7), NAMES(8), NAMES(9)};

/* As the kernel has it. */
struct kernel_action {
    handler *handler;
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

static int is_read_back(int number, handler *expected) {
    struct sigaction now;
    struct kernel_action raw;
    if (sigaction(number, NULL, &now) != 0 || now.sa_handler != expected)
        return 0;
    return syscall(SYS_rt_sigaction, number, NULL, &raw, 8) == 0 && raw.handler == expected;
}

static void many(void) {
    const int numbers[] = {SIGUSR1, SIGALRM, SIGRTMIN + 2, SIGTERM};
    int good = 0;
    signal(SIGUSR1, SIG_DFL);
    handler *before[4] = {SIG_DFL, SIG_DFL, SIG_DFL, SIG_DFL};
    for (int i = 0; i < MANY; i++) {
        int number = numbers[i % 4];
        struct sigaction action = {.sa_handler = handlers[i]}, old = {.sa_handler = SIG_ERR};
        if (i / 4 % 3 == 0)
            sigaction(number, &action, &old);
        else if (i / 4 % 3 == 1)
            old.sa_handler = signal(number, handlers[i]);
        else
            old.sa_handler = sysv_signal(number, handlers[i]);
        good += old.sa_handler == before[i % 4] && is_read_back(number, handlers[i]);
        raise(number);
        raise(i / 4 % 3 == 2 ? SIGURG : number);
        before[i % 4] = i / 4 % 3 == 2 ? SIG_DFL : handlers[i];
    }
    int calls = 0;
    for (int i = 0; i < MANY; i++)
        calls += called[i];
    for (int i = 0; i < 4; i++)
        signal(numbers[i], SIG_DFL);
    printf("many: %d read back, %d calls\n", good, calls);
}

/* ---- in calls that sleep ---- */

static volatile sig_atomic_t seen, deep_seen, wrong;
static timer_t timer;
static volatile long again_us;

static void send_after_us(long us) {
    const struct itimerspec once = {{0, 0}, {0, us * 1000}};
    timer_settime(timer, 0, &once, NULL);
}

static void burn_us(long us) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    long long t, start = now.tv_sec * 1000000ll + now.tv_nsec / 1000;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        t = now.tv_sec * 1000000ll + now.tv_nsec / 1000;
    } while (t - start < us);
}

static void with_info(int number, siginfo_t *info, void *context) {
    const ucontext_t *uc = context;
    int saved = errno;
    wrong |= !(number == SIGUSR1 && info->si_signo == SIGUSR1 && info->si_code == SI_TIMER &&
               info->si_value.sival_int == 4711 && sigismember(&uc->uc_sigmask, SIGUSR2) == 1 &&
               sigismember(&uc->uc_sigmask, SIGUSR1) == 0);
    seen++;
    burn_us(3000);
    send_after_us(again_us); /* this one may have come before the call */
    errno = saved;
}

static void asleep(void) {
    struct sigaction action = {.sa_sigaction = with_info, .sa_flags = SA_SIGINFO}, old;
    sigset_t mask, now;
    struct timespec left;
    int ended = 0, same = 0;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 40; i++) {
        struct timespec second = {1, 0};
        errno = 0;
        send_after_us(again_us = 4000);
        int result = i % 2 == 0 ? nanosleep(&second, &left) : poll(NULL, 0, 1000);
        ended += result == -1 && errno == EINTR;
        send_after_us(again_us = 0);
        sigprocmask(SIG_SETMASK, NULL, &now);
        same += memcmp(&now, &mask, 8) == 0;
    }
    printf("asleep: %s, %d ended by EINTR, %d masks as before\n", wrong ? "wrong" : "right", ended,
           same);
    seen = 0;
    action.sa_flags |= (int)SA_RESETHAND;
    sigaction(SIGUSR1, &action, NULL);
    send_after_us(2000);
    poll(NULL, 0, 1000);
    sigaction(SIGUSR1, NULL, &old);
    printf("reset: %d, %s, now %s\n", (int)seen, wrong ? "wrong" : "right",
           old.sa_handler == SIG_DFL ? "default" : "else");
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
}

/* ---- the stack ---- */

static void count_frames(int number) {
    void *frame[64];
    (void)number;
    seen = backtrace(frame, 64);
}

static void depth(void) {
    signal(SIGUSR1, count_frames);
    seen = 0;
    raise(SIGUSR1);
    printf("depth: %d\n", (int)seen);
}

/* ---- left ---- */

static sigjmp_buf out;

static void jump(int number) {
    (void)number;
    burn_us(1500);
    siglongjmp(out, 1);
}

static void leave_thread(int number) {
    (void)number;
    burn_us(1500);
    pthread_exit((void *)1);
}

static void *sleeps(void *unused) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    for (;;)
        poll(NULL, 0, 1000);
    return unused;
}

static void left(void) {
    volatile int jumps = 0;
    volatile int exits = 0;
    signal(SIGUSR1, jump);
    for (volatile int i = 0; i < 40; i++) {
        if (sigsetjmp(out, 1) == 0) {
            send_after_us(2000);
            poll(NULL, 0, 1000);
        } else {
            jumps++;
            burn_us(1500);
        }
    }
    signal(SIGUSR2, leave_thread);
    for (int i = 0; i < 10; i++) {
        pthread_t id;
        void *result = NULL;
        pthread_create(&id, NULL, sleeps, NULL);
        burn_us(1500);
        pthread_kill(id, SIGUSR2);
        pthread_join(id, &result);
        exits += result == (void *)1;
    }
    printf("left: %d jumps, %d exits\n", jumps, exits);
}

/* ---- shared memory ---- */

static void shared(void) {
    struct sigaction action = {.sa_handler = handler_00}, old;
    int status = -1;
    sigaction(SIGUSR1, &action, NULL);
    pid_t child = vfork();
    if (child == 0) {
        struct sigaction other = {.sa_handler = handler_99}, before;
        sigaction(SIGUSR1, NULL, &before);
        sigaction(SIGUSR1, &other, &old);
        _exit(before.sa_handler == handler_00 && old.sa_handler == handler_00 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    sigaction(SIGUSR1, NULL, &old);
    printf("shared: child %d, here %s\n", status, old.sa_handler == handler_00 ? "same" : "else");
}

/* ---- nested ---- */

static void inner(int number) {
    (void)number;
    burn_us(1500);
    deep_seen++;
}

static void outer(int number) {
    (void)number;
    struct timespec ms = {0, 3000000};
    pthread_kill(pthread_self(), SIGUSR2); /* blocked by the handler's mask, up to the sleep */
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_UNBLOCK, &set, &before);
    nanosleep(&ms, NULL);
    burn_us(1500);
    sigprocmask(SIG_SETMASK, &before, NULL);
    seen++;
}

static void nested(void) {
    struct sigaction action = {.sa_handler = outer};
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGUSR1, &action, NULL);
    signal(SIGUSR2, inner);
    seen = deep_seen = 0;
    for (int i = 0; i < 20; i++) {
        send_after_us(1500);
        poll(NULL, 0, 1000);
    }
    printf("nested: %d, %d\n", (int)seen, (int)deep_seen);
}

/* ---- changed ---- */

static void second(int number) {
    (void)number;
    deep_seen++;
}

static void first(int number) {
    (void)number;
    burn_us(1500);
    signal(SIGUSR1, second);
    seen++;
}

static void changed(void) {
    seen = deep_seen = 0;
    for (int i = 0; i < 20; i++) {
        signal(SIGUSR1, first);
        for (int j = 0; j < 2; j++) {
            send_after_us(1500);
            poll(NULL, 0, 1000);
        }
    }
    printf("changed: %d, %d\n", (int)seen, (int)deep_seen);
}

int main(void) {
    struct sigevent event = {
        .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value = {.sival_int = 4711}};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return 3;
    asleep();
    depth();
    left();
    shared();
    nested();
    changed();
    many();
    return 0;
}

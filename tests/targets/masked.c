/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * masked.c - what a program can see of its signal mask, in and after calls that sleep, and the ways
 * out of such calls: jumps, cancellation, fork. Prints what it has seen; then each function named
 * after_* has had a part of its CPU time.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static int full[2]; /* a pipe that nobody reads */
static jmp_buf plain;
static sigjmp_buf with_mask;
static volatile sig_atomic_t todo;
static volatile int seen_blocked, seen_errors;

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline __attribute__((always_inline)) void burn(unsigned ms) {
    uint64_t end = cpu_ns() + ms * 1000000ull;
    while (cpu_ns() < end)
        for (unsigned i = 0; i < 1000; i++)
            sink += i;
}

/* Different ones, so that the compiler does not make one of them. */
#define AFTER(what, n)                                                                             \
    __attribute__((noinline)) static void after_##what(void) {                                     \
        burn(100);                                                                                 \
        sink += n;                                                                                 \
    }
AFTER(longjmp, 1)
AFTER(siglongjmp, 2)
AFTER(fork, 3)

/* Of the signals that a profiler might take. */
static int blocked(void) {
    sigset_t set;
    int n = 0;
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    for (int i = 1; i < NSIG; i++)
        n += sigismember(&set, i) == 1;
    return n;
}

enum { JUMP = 1, JUMP_WITH_MASK, FORK, RETURN };

static void on_alarm(int number) {
    struct pollfd never = {.fd = full[1], .events = POLLOUT};
    (void)number;
    seen_blocked = blocked();
    seen_errors = poll(&never, 1, 5) != 0; /* a call that sleeps in one that sleeps */
    if (todo == JUMP)
        longjmp(plain, 1);
    if (todo == JUMP_WITH_MASK)
        siglongjmp(with_mask, 1);
    if (todo == FORK) {
        pid_t child = fork();
        if (child == 0)
            _exit(blocked());
        int status = 0;
        seen_errors += waitpid(child, &status, 0) != child || WEXITSTATUS(status) != seen_blocked;
    }
}

static void unblock_alarm(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* In so long a time that the call has begun, in most cases. Again and again: where the call is to
 * be interrupted, and the first alarm came before it, as the machine was busy. */
static void alarms_in(int ms, int again_ms, int what) {
    struct itimerval when = {.it_interval = {0, again_ms * 1000}, .it_value = {0, ms * 1000}};
    todo = what;
    burn(10);
    setitimer(ITIMER_REAL, &when, NULL);
}

static void alarm_in(int ms, int what) {
    alarms_in(ms, 0, what);
}

static void no_alarms(void) {
    struct itimerval never = {0};
    int error = errno;
    setitimer(ITIMER_REAL, &never, NULL);
    errno = error;
}

static void leave_a_write(void) {
    char big[4096];
    memset(big, 'x', sizeof big);
    alarm_in(200, JUMP);
    if (setjmp(plain) == 0)
        while (write(full[1], big, sizeof big) > 0)
            ;
    unblock_alarm();
    printf("longjmp out of write: %d blocked in the handler, %d after, %d errors\n", seen_blocked,
           blocked(), seen_errors);
    after_longjmp();
    alarm_in(200, JUMP_WITH_MASK);
    if (sigsetjmp(with_mask, 1) == 0)
        poll(NULL, 0, 5000);
    printf("siglongjmp out of poll: %d blocked in the handler, %d after, %d errors\n", seen_blocked,
           blocked(), seen_errors);
    after_siglongjmp();
    alarms_in(200, 500, FORK);
    errno = 0;
    int result = poll(NULL, 0, 60000);
    no_alarms();
    printf("fork in a handler: poll %d %s, %d blocked in the handler, %d after, %d errors\n",
           result, strerror(errno), seen_blocked, blocked(), seen_errors);
    after_fork();
}

static void wait_for_all(void) {
    sigset_t all, none, old;
    struct timespec time = {0, 20000000};
    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_BLOCK, &all, &old);
    int fd = signalfd(-1, &all, SFD_NONBLOCK);
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    for (int i = 0; i < 20; i++) {
        burn(1);
        int result = poll(&ready, 1, 3);
        if (result != 0)
            printf("signalfd: poll %d, %#x\n", result, ready.revents);
    }
    burn(10);
    errno = 0;
    int result = sigtimedwait(&all, NULL, &time);
    printf("sigtimedwait: %d %s, %d blocked\n", result, strerror(errno), blocked());
    errno = 0;
    result = ppoll(NULL, 0, &time, &none);
    printf("ppoll: %d %s\n", result, strerror(errno));
    errno = 0;
    result = ppoll(NULL, 0, &time, (const sigset_t *)(uintptr_t)4096); /* nothing is mapped there */
    printf("ppoll with a mask that can't be read: %d %s\n", result, strerror(errno));
    alarm_in(200, RETURN);
    errno = 0;
    result = sigsuspend(&none);
    printf("sigsuspend: %d %s, %d blocked\n", result, strerror(errno), blocked());
    sigprocmask(SIG_SETMASK, &old, NULL);
    close(fd);
    unsigned long mask = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, 8);
    printf("the kernel's mask: %#lx\n", mask);
}

static void on_cancel(void *arg) {
    (void)arg;
    printf("cancelled: %d blocked\n", blocked());
}

static volatile pid_t writer; /* once it is about to write */

/* A cancellation that comes earlier finds it elsewhere, with another mask. */
static void wait_until_it_writes(void) {
    char path[64], line[256], state = 0;
    while (state != 'S') {
        usleep(10000);
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)writer);
        FILE *stat = writer != 0 ? fopen(path, "r") : NULL;
        if (stat == NULL)
            continue;
        if (fgets(line, sizeof line, stat) != NULL)
            sscanf(line, "%*d %*s %c", &state);
        fclose(stat);
    }
}

static void *write_for_ever(void *arg) {
    char byte = 'x';
    burn(20);
    writer = (pid_t)syscall(SYS_gettid);
    pthread_cleanup_push(on_cancel, arg);
    while (write(full[1], &byte, 1) == 1)
        ;
    pthread_cleanup_pop(0);
    return arg;
}

int main(void) {
    pthread_t thread;
    void *result = NULL;
    setvbuf(stdout, NULL, _IONBF, 0);
    signal(SIGALRM, on_alarm);
    if (pipe(full) != 0)
        return 1;
    burn(20);
    leave_a_write();
    wait_for_all();
    pthread_create(&thread, NULL, write_for_ever, NULL);
    wait_until_it_writes();
    pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "ended");
    return 0;
}

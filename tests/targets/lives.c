/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * lives.c - many short lives, of threads or of children that never call exec, whose CPU time goes
 * to two functions in halves, by the clock of each life. Lives are between half and one and a half
 * as long as asked for, drawn by chance: equal ones would fall into step with the kernel's tick.
 *
 *   usage: lives threads|forks|crews COUNT MICROSECONDS AT_ONCE [exec]
 *
 * crews: lives are of threads, AT_ONCE of them in each child.
 * Prints the CPU time in ns of all of it since main began, by getrusage, and of it what was used
 * in former() and latter(), by the clock of the threads themselves. With `exec` each child calls
 * exec of the program itself, which lives for that time then.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE_MAX 64

static volatile uint64_t sink;
static uint64_t life_ns;
static char **own_arguments;
static struct sums { _Atomic uint64_t former, latter; } * sums; /* shared with children */

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CPU time of one call: until the thread's clock says `until`. */
#define BURN                                                                                       \
    uint64_t now, begin = now_ns();                                                                \
    do {                                                                                           \
        for (unsigned i = 0; i < 2000; i++)                                                        \
            sink += i;                                                                             \
        now = now_ns();                                                                            \
    } while (now < until);                                                                         \
    return now - begin

__attribute__((noinline)) static uint64_t former(uint64_t until) {
    BURN;
}

__attribute__((noinline)) static uint64_t latter(uint64_t until) {
    sink += 3; /* not the same code: it would be one function */
    BURN;
}

/* `length`: of a thread whose CPU clock begins at 0; NULL: of one that has been there before. */
static void *live(void *length) {
    uint64_t begin = length == NULL ? now_ns() : 0;
    uint64_t ns = length == NULL ? life_ns : (uint64_t)(uintptr_t)length;
    sums->former += former(begin + ns / 2);
    sums->latter += latter(begin + ns);
    return NULL;
}

static void *some_length(void) {
    return (void *)(uintptr_t)(life_ns * (0.5 + drand48()) + 1);
}

static void run_threads(unsigned n) {
    pthread_t thread[AT_ONCE_MAX];
    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&thread[i], NULL, live, some_length()) != 0)
            abort();
    for (unsigned i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
}

static void run_children(unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        void *length = some_length();
        pid_t pid = fork();
        if (pid < 0)
            abort();
        if (pid > 0)
            continue;
        if (own_arguments != NULL)
            execv("/proc/self/exe", own_arguments);
        live(length);
        _exit(0);
    }
    for (unsigned i = 0; i < n; i++)
        wait(NULL);
}

static void run_crew(unsigned n) {
    pid_t pid = fork();
    if (pid < 0)
        abort();
    if (pid == 0) {
        run_threads(n);
        _exit(0);
    }
    wait(NULL);
}

static uint64_t used_ns(void) {
    struct rusage own, children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    uint64_t s = (uint64_t)(own.ru_utime.tv_sec + own.ru_stime.tv_sec + children.ru_utime.tv_sec +
                            children.ru_stime.tv_sec);
    uint64_t us = (uint64_t)(own.ru_utime.tv_usec + own.ru_stime.tv_usec +
                             children.ru_utime.tv_usec + children.ru_stime.tv_usec);
    return 1000000000u * s + 1000u * us;
}

int main(int argc, char **argv) {
    uint64_t before = used_ns();
    if (argc < 5)
        return 2;
    unsigned count = (unsigned)atoi(argv[2]), at_once = (unsigned)atoi(argv[4]);
    life_ns = (uint64_t)(atof(argv[3]) * 1000);
    now_ns(); /* the loader finds it here, not in each child's first call */
    sums = mmap(NULL, sizeof *sums, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sums == MAP_FAILED || at_once < 1 || at_once > AT_ONCE_MAX)
        return 2;
    if (strcmp(argv[1], "one") == 0) {
        live(NULL);
        return 0;
    }
    char *one[] = {argv[0], "one", "1", argv[3], "1", NULL};
    own_arguments = argc > 5 ? one : NULL;
    void (*run)(unsigned) = run_threads;
    if (strcmp(argv[1], "forks") == 0)
        run = run_children;
    else if (strcmp(argv[1], "crews") == 0)
        run = run_crew;
    for (unsigned done = 0; done < count; done += at_once)
        run(count - done < at_once ? count - done : at_once);
    printf("%llu %llu %llu\n", (unsigned long long)(used_ns() - before),
           (unsigned long long)sums->former, (unsigned long long)sums->latter);
    return 0;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * many_lives.c - many short children, or threads, one after another, and what they have taken.
 *
 *   many_lives fork|exec|thread COUNT STEPS     each of them takes so many steps of work
 *   many_lives steps MICROSECONDS               prints how many steps take so long
 *
 * First it works for a while, so that an agent that waits for that has met its daemon, and some
 * lives pass that are not counted. Prints, of the others: ns of CPU time, of the program and its
 * children; ns of real time; page faults.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS  1000000000ll
#define WARM_NS    60000000ll
#define WARM_LIVES 20
#define PROBE      2000000l

static volatile unsigned long sink;

static void work(long steps) {
    for (long i = 0; i < steps; i++)
        sink = sink * 3 + 1;
}

static long long now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * SECOND_NS + time.tv_nsec;
}

/* The best of some, as others run beside it. */
static long steps_in(long microseconds) {
    long long best = SECOND_NS;
    for (int i = 0; i < 10; i++) {
        long long before = now(CLOCK_THREAD_CPUTIME_ID);
        work(PROBE);
        long long took = now(CLOCK_THREAD_CPUTIME_ID) - before;
        best = took < best ? took : best;
    }
    return (long)(PROBE * (microseconds * 1000.0 / (double)best));
}

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void wait_for(pid_t child) {
    if (child < 0 || waitpid(child, NULL, 0) != child)
        die("child");
}

static void live_fork(long steps) {
    pid_t child = fork();
    if (child == 0) {
        work(steps);
        _exit(0);
    }
    wait_for(child);
}

static void live_exec(long steps) {
    (void)steps;
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    wait_for(child);
}

static void *thread(void *steps) {
    work(*(long *)steps);
    return NULL;
}

static void live_thread(long steps) {
    pthread_t id;
    if (pthread_create(&id, NULL, thread, &steps) != 0 || pthread_join(id, NULL) != 0)
        die("thread");
}

struct taken {
    long long cpu_ns, time_ns;
    long faults;
};

static void add(struct taken *taken, int who) {
    struct rusage usage;
    getrusage(who, &usage);
    taken->cpu_ns += (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * SECOND_NS +
                     (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ll;
    taken->faults += usage.ru_minflt + usage.ru_majflt;
}

static struct taken taken(void) {
    struct taken taken = {.time_ns = now(CLOCK_MONOTONIC)};
    add(&taken, RUSAGE_SELF);
    add(&taken, RUSAGE_CHILDREN);
    return taken;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "steps") == 0) {
        printf("%ld\n", steps_in(atol(argv[2])));
        return 0;
    }
    if (argc != 4)
        return 2;
    void (*live)(long) = strcmp(argv[1], "fork") == 0   ? live_fork
                         : strcmp(argv[1], "exec") == 0 ? live_exec
                                                        : live_thread;
    long count = atol(argv[2]), steps = atol(argv[3]);
    while (now(CLOCK_PROCESS_CPUTIME_ID) < WARM_NS)
        work(1000);
    for (int i = 0; i < WARM_LIVES; i++)
        live(steps);
    struct taken before = taken();
    for (long i = 0; i < count; i++)
        live(steps);
    struct taken after = taken();
    printf("%lld %lld %ld\n", after.cpu_ns - before.cpu_ns, after.time_ns - before.time_ns,
           after.faults - before.faults);
    return 0;
}

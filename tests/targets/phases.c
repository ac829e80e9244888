/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * phases.c - spends CPU time in one function, then in another.
 *
 *   usage: phases SECONDS_OF_FIRST SECONDS_OF_SECOND [THREADS]     seconds of CPU time per thread
 *
 * Prints "first" when the first phase has begun, "second" when all threads are in the second one,
 * "done" at the end of that; then it waits for its standard input to be closed. What is printed
 * says how far it is: nothing depends on how fast it gets there.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 1000

static pthread_barrier_t border;
static double seconds[2];
static volatile uint64_t sink;

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static void burn(double until) {
    while (cpu_seconds() < until)
        for (unsigned i = 0; i < 20000; i++)
            sink += i;
}

__attribute__((noinline)) static void first(void) {
    burn(cpu_seconds() + seconds[0]);
    sink++;
}

__attribute__((noinline)) static void second(void) {
    burn(cpu_seconds() + seconds[1]);
    sink++;
}

static void say(const char *word) {
    puts(word);
    fflush(stdout);
}

static void *run(void *is_main) {
    first();
    pthread_barrier_wait(&border);
    if (is_main != NULL)
        say("second");
    second();
    pthread_barrier_wait(&border);
    return NULL;
}

int main(int argc, char **argv) {
    static pthread_t others[THREADS_MAX];
    if (argc < 3)
        return 2;
    seconds[0] = atof(argv[1]);
    seconds[1] = atof(argv[2]);
    int threads = argc > 3 ? atoi(argv[3]) : 1;
    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    pthread_barrier_init(&border, NULL, (unsigned)threads);
    say("first");
    for (int i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, run, NULL) != 0)
            return 1;
    run(&border);
    for (int i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    say("done");
    while (read(STDIN_FILENO, &(char){0}, 1) > 0)
        ;
    return 0;
}

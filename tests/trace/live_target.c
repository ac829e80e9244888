/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * live_target.c - a program that reports its calls: two threads and a child that take many paths,
 * STEPS times each.
 *
 *   live_target STEPS
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH 12

struct dice {
    uint64_t state;
};

static int steps;

typedef void step(struct dice *dice, int depth);

static void red(struct dice *dice, int depth);
static void green(struct dice *dice, int depth);
static void blue(struct dice *dice, int depth);

/* Not instrumented, as it says nothing about paths. */
__attribute__((no_instrument_function)) static unsigned throw(struct dice * dice) {
    dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(dice->state >> 33);
}

__attribute__((no_instrument_function)) static void go_on(struct dice *dice, int depth) {
    static step *const colours[] = {red, green, blue, red};
    for (unsigned n = throw(dice) % 3; n > 0 && depth < DEPTH; n--)
        colours[throw(dice) % 4](dice, depth + 1);
}

static void red(struct dice *dice, int depth) {
    go_on(dice, depth);
}

static void green(struct dice *dice, int depth) {
    go_on(dice, depth);
    go_on(dice, depth);
}

static void blue(struct dice *dice, int depth) {
    go_on(dice, depth + 1);
}

static void *wander(void *seed) {
    struct dice dice = {(uintptr_t)seed};
    for (int i = 0; i < steps; i++)
        red(&dice, 0);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    steps = argc > 1 ? atoi(argv[1]) : 0;
    pid_t child = fork();
    if (child == 0) {
        wander((void *)3);
        return 0;
    }
    if (child < 0 || pthread_create(&thread, NULL, wander, (void *)1) != 0)
        return EXIT_FAILURE;
    wander((void *)2);
    pthread_join(thread, NULL);
    waitpid(child, NULL, 0);
    return EXIT_SUCCESS;
}

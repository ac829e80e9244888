/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * keys.c - takes all keys of thread-local values while threads compute, begin and end, as large
 * programs with many plugins do. Each value's destructor is called once.
 */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "tests/hazards/busy.h"

#define THREADS 4
#define ROUNDS  5

static pthread_key_t keys[PTHREAD_KEYS_MAX];
static unsigned n_keys;
static _Atomic unsigned long destroyed;
static _Atomic bool enough;
static bool c11;

static void destroy(void *value) {
    atomic_fetch_add(&destroyed, (unsigned long)value);
}

static void *compute(void *arg) {
    while (!atomic_load(&enough))
        busy_ms(1);
    return arg;
}

static void *use_keys(void *arg) {
    busy_ms(2);
    for (unsigned i = 0; i < n_keys; i++)
        pthread_setspecific(keys[i], (void *)1);
    busy_ms(2);
    return arg;
}

static bool one_more(void) {
    return c11 ? tss_create(&keys[n_keys], destroy) == thrd_success
               : pthread_key_create(&keys[n_keys], destroy) == 0;
}

static void use_in_threads(void) {
    pthread_t thread[THREADS];
    atomic_store(&destroyed, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, use_keys, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("%u keys, %lu values of %d threads destroyed\n", n_keys, atomic_load(&destroyed),
           THREADS);
}

int main(int argc, char **argv) {
    pthread_t thread[THREADS];
    (void)argv;
    c11 = argc > 1;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, compute, NULL);
    busy_ms(20);
    while (n_keys < PTHREAD_KEYS_MAX && one_more())
        n_keys++;
    use_in_threads();
    fflush(stdout);
    int status = 0;
    if (fork() == 0) {
        use_in_threads();
        fflush(stdout);
        _exit(3);
    }
    wait(&status);
    atomic_store(&enough, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_key_delete(keys[--n_keys]);
        use_in_threads();
        if (one_more())
            n_keys++;
    }
    printf("%d\n", WEXITSTATUS(status));
    return 0;
}

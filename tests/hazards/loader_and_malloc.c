/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * loader_and_malloc.c - the loader's lock and malloc's are taken in all orders by threads that look
 * up symbols, load libraries, allocate, and begin and end.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 300 };

static void *look_up(void *unused) {
    long found = 0;
    (void)unused;
    for (int i = 0; i < ROUNDS * 20; i++)
        found += dlsym(RTLD_DEFAULT, i % 2 ? "malloc" : "no_such_function_anywhere") != NULL;
    return (void *)found;
}

static void *load(void *unused) {
    long loaded = 0;
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        void *library = dlopen(i % 2 ? "libz.so.1" : "libm.so.6", RTLD_LAZY | RTLD_LOCAL);
        loaded += library != NULL && dlclose(library) == 0;
    }
    return (void *)loaded;
}

static void *allocate(void *unused) {
    long done = 0;
    (void)unused;
    for (int i = 0; i < ROUNDS * 200; i++) {
        char *block = malloc((size_t)(i % 3000) + 1);
        done += block != NULL;
        free(block);
    }
    return (void *)done;
}

static void *start_threads(void *unused) {
    long joined = 0;
    (void)unused;
    for (int i = 0; i < ROUNDS / 4; i++) {
        pthread_t thread;
        joined +=
            pthread_create(&thread, NULL, allocate, NULL) == 0 && pthread_join(thread, NULL) == 0;
    }
    return (void *)joined;
}

int main(void) {
    void *(*const work[])(void *) = {look_up, load, allocate, start_threads};
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, work[i], NULL);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(thread[i], &result);
        printf("%ld\n", (long)result);
    }
    return 0;
}

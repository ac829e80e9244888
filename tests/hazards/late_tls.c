/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late_tls.c - threads touch thread-local memory of a library that came late, for the first time,
 * while they are interrupted: its allocation is not safe within a handler.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "busy.h"

static int (*touch)(int);

static void *touch_it(void *seed) {
    int number = (int)(long)seed;
    busy(20000);
    return (void *)(long)(touch(number) == number * 3);
}

int main(int argc, char **argv) {
    long good = 0;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_LAZY) : NULL;
    if (library == NULL)
        return 1;
    *(void **)&touch = dlsym(library, "tls_touch");
    for (long round = 0; round < 100; round++) {
        pthread_t thread[8];
        for (long i = 0; i < 8; i++)
            if (pthread_create(&thread[i], NULL, touch_it, (void *)(round + i)) != 0)
                return 2; /* the machine has no room for it */
        for (int i = 0; i < 8; i++) {
            void *result;
            pthread_join(thread[i], &result);
            good += (long)result;
        }
    }
    printf("%ld\n", good);
    return 0;
}

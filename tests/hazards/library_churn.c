/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * library_churn.c - libraries come and go while their code runs: what is walked now is unmapped a
 * moment later, and something else lies in its place.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "busy.h"

static const char *const names[] = {"libz.so.1", "libm.so.6", "liblzma.so.5", "libresolv.so.2"};

static void *churn(void *start) {
    long called = 0;
    for (long i = (long)start; i < (long)start + 200; i++) {
        void *library = dlopen(names[i % 4], RTLD_NOW | RTLD_LOCAL);
        const char *(*version)(void) = NULL;
        double (*sine)(double) = NULL;
        if (library == NULL)
            continue;
        *(void **)&version = dlsym(library, "zlibVersion");
        *(void **)&sine = dlsym(library, "sin");
        for (int k = 0; k < 3000 && version != NULL; k++)
            called += version()[0] == '1' && k == 0;
        for (int k = 0; k < 3000 && sine != NULL; k++)
            called += sine(0.5) > 0.4 && k == 0;
        dlclose(library);
    }
    return (void *)called;
}

int main(void) {
    pthread_t thread[3];
    long called = 0;
    for (long i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, churn, (void *)i);
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_join(thread[i], &result);
        called += (long)result;
    }
    printf("%ld\n", called);
    return 0;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * loads.c - libraries that are loaded one by the other, of which only the last computes, at once.
 *
 *   loads MS LIBRARY...      a chain: each loads the next, and stays loaded
 *   loads -r MS LIBRARY...   one after another at the same place: each is closed before the next
 *
 * The libraries are copies of this file, built with LOADS_LIBRARY.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NO_INLINE __attribute__((noinline, noclone))

int loads_work(int ms, char **next);

static volatile unsigned state = 1;

NO_INLINE static void loads_burn(int ms) {
    struct timespec now;
    double end = 0;
    do {
        for (unsigned i = 0; i < 20000; i++)
            state = state * 1103515245u + 12345u;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        if (end == 0)
            end = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 + ms;
    } while ((double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 < end);
}

static int in_library(int ms, char **names, void **handle) {
    *handle = dlopen(names[0], RTLD_NOW | RTLD_LOCAL);
    int (*work)(int, char **) =
        *handle != NULL ? (int (*)(int, char **))dlsym(*handle, "loads_work") : NULL;
    if (work == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return work(ms, names + 1) + 1;
}

#ifdef LOADS_LIBRARY

NO_INLINE int loads_work(int ms, char **next) {
    void *handle;
    if (next[0] != NULL)
        return in_library(ms, next, &handle) + 1;
    loads_burn(ms);
    return 1;
}

#else

int main(int argc, char **argv) {
    void *handle;
    int again = argc > 1 && strcmp(argv[1], "-r") == 0, n = 0;
    char *one[2] = {0};
    const struct timespec rest = {0, 400000000};
    if (argc < again + 3)
        return 2;
    int ms = atoi(argv[again + 1]);
    if (!again) {
        n = in_library(ms, argv + 2, &handle);
        /* hcctd opens a file without a build-id while the program is there */
        nanosleep(&rest, NULL);
    }
    for (int i = 3; again && i < argc; i++) {
        one[0] = argv[i];
        n += in_library(ms, one, &handle);
        dlclose(handle);
    }
    if (n == 0)
        loads_burn(ms);
    return 0;
}

#endif

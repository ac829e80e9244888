/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_opened.c - opens a library, has it make 1,000 calls, closes it again, ROUNDS times; far
 * sooner than a tick could meet it there. The library is this file, with PLUGIN.
 *
 *   usage: calls_opened asked ROUNDS   by a function that the program looks up (dlsym)
 *          calls_opened told ROUNDS    by one that the library names when it is opened
 *          calls_opened relative       the library is found by the program's own search path, and
 *                                      what dlopen and dlsym answer depends on who calls them
 *          calls_opened left           as told, and it is not closed
 */
#ifdef PLUGIN

extern void (*calls_opened_spin)(void) __attribute__((weak));

static volatile unsigned sink;

__attribute__((noinline)) static void leaf(unsigned n) {
    sink += n;
}

__attribute__((noinline)) void spin(void);
__attribute__((noinline)) void spin(void) {
    for (unsigned i = 0; i < 1000; i++)
        leaf(i);
}

__attribute__((constructor)) static void tell(void) {
    if (&calls_opened_spin != 0)
        calls_opened_spin = spin;
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void (*calls_opened_spin)(void);
void (*calls_opened_spin)(void);

static void once(const char *path, int asked, int left) {
    void *plugin = dlopen(path, RTLD_NOW);
    void (*spin)(void) = calls_opened_spin;
    if (plugin == NULL)
        exit(2);
    if (asked)
        spin = (void (*)(void))dlsym(plugin, "spin");
    spin();
    if (!left)
        dlclose(plugin);
}

/* "usleep" is the agent's first, libc's next: of an object in front of all it is libc's. */
static int relative(void) {
    void *plugin = dlopen("calls_opened_plugin", RTLD_NOW);
    if (plugin == NULL || dlsym(plugin, "spin") == NULL)
        return 2;
    void *next = dlsym(RTLD_NEXT, "usleep"), *first = dlsym(RTLD_DEFAULT, "usleep");
    errno = 7;
    void *none = dlsym(plugin, "no such function");
    printf("%s, %s, %d\n", next != NULL && first != NULL ? "found" : "missing",
           none == NULL && dlerror() != NULL ? "an error" : "none", errno);
    return 0;
}

int main(int argc, char **argv) {
    char path[4096];
    snprintf(path, sizeof path, "%s_plugin", argv[0]);
    if (argc == 2 && strcmp(argv[1], "relative") == 0)
        return relative();
    int left = argc == 2 && strcmp(argv[1], "left") == 0;
    if (argc < 3 && !left)
        return 2;
    for (int rounds = left ? 1 : atoi(argv[2]); rounds > 0; rounds--)
        once(path, strcmp(argv[1], "asked") == 0, left);
    printf("done\n");
    return 0;
}

#endif

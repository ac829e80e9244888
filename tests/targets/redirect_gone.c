/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * redirect_gone.c - closes a library whose calls are redirected by then, and whose last one is the
 * first of a function that is bound when it is called. The library is this file, with PLUGIN.
 *
 *   usage: redirect_gone     says "redirected" if the library's code was another one in the end
 */
#ifdef PLUGIN

#include <unistd.h>

static volatile unsigned sink;

__attribute__((noinline)) static void leaf(unsigned n) {
    sink += n;
}

__attribute__((noinline)) void spin(void);
__attribute__((noinline)) void spin(void) {
    for (unsigned i = 0; i < 100000; i++)
        leaf(i);
}

__attribute__((destructor)) static void last(void) {
    sink += (unsigned)getppid();
}

#else

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CODE 64 /* bytes of spin() */

static volatile unsigned sink;

__attribute__((noinline)) static void after(void) {
    sink++;
}

int main(int argc, char **argv) {
    char path[4096], code[CODE];
    (void)argc;
    snprintf(path, sizeof path, "%s_plugin", argv[0]);
    void *plugin = dlopen(path, RTLD_LAZY);
    void (*spin)(void) = plugin != NULL ? (void (*)(void))dlsym(plugin, "spin") : NULL;
    if (spin == NULL)
        return 2;
    memcpy(code, (const char *)spin, CODE);
    time_t end = time(NULL) + 60;
    while (memcmp(code, (const char *)spin, CODE) == 0 && time(NULL) < end)
        spin();
    int redirected = memcmp(code, (const char *)spin, CODE) != 0;
    dlclose(plugin);
    after();
    printf("%s\n", redirected ? "redirected" : "as it was");
    return 0;
}

#endif

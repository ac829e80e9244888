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
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static volatile unsigned sink;

__attribute__((noinline)) static void after(void) {
    sink++;
}

/* The code there is in memory of the agent's. */
static int is_redirected(uintptr_t code) {
    uintptr_t start, end;
    char line[8192];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &start, &end) == 2 && code >= start &&
            code < end)
            found = strstr(line, "hcct-text") != NULL;
    if (maps != NULL)
        fclose(maps);
    return found;
}

int main(int argc, char **argv) {
    char path[4096];
    (void)argc;
    snprintf(path, sizeof path, "%s_plugin", argv[0]);
    void *plugin = dlopen(path, RTLD_LAZY);
    void (*spin)(void) = plugin != NULL ? (void (*)(void))dlsym(plugin, "spin") : NULL;
    if (spin == NULL)
        return 2;
    time_t end = time(NULL) + 60;
    do
        spin();
    while (!is_redirected((uintptr_t)spin) && time(NULL) < end);
    int redirected = is_redirected((uintptr_t)spin);
    dlclose(plugin);
    after();
    printf("%s\n", redirected ? "redirected" : "as it was");
    return 0;
}

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * locked.c - a program locks all of its memory, of which it has little; or has little address
 * space.
 *
 *   current, future    mlockall with these flags; threads are started afterwards
 *   limit              mlockall of a user who may lock 16 MB
 *   space              it has 600 MB of address space from its start, and needs 250
 *   later, later64     it limits itself to 400 MB, and needs 250
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "busy.h"

#define LITTLE_KB 65536
#define LIMIT     (16 << 20)
#define NOBODY    65534

static long kilobytes(const char *name) {
    char line[256];
    long found = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            found = atol(line + strlen(name));
    if (status != NULL)
        fclose(status);
    return found;
}

static void expect_little(const char *when) {
    static const char *const names[] = {"VmRSS:", "VmLck:"};
    for (int i = 0; i < 2; i++)
        if (kilobytes(names[i]) > LITTLE_KB)
            printf("%s: %s %ld kB\n", when, names[i], kilobytes(names[i]));
}

static void *work(void *arg) {
    busy_ms(10);
    return arg;
}

static void lock(int flags) {
    pthread_t thread[4];
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 << 10);
    if (mlockall(flags) != 0)
        printf("mlockall: %s\n", strerror(errno));
    expect_little("locked");
    busy_ms(30);
    for (int i = 0; i < 4; i++)
        if (pthread_create(&thread[i], &attr, work, NULL) != 0)
            printf("no thread\n");
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    expect_little("with threads");
    munlockall();
}

static void limit(void) {
    const struct rlimit little = {LIMIT, LIMIT};
    setrlimit(RLIMIT_MEMLOCK, &little);
    if (geteuid() == 0 && setuid(NOBODY) != 0)
        printf("setuid: %s\n", strerror(errno));
    if (mlockall(MCL_CURRENT) != 0)
        printf("mlockall: %s\n", strerror(errno));
    expect_little("limited");
    busy_ms(30);
}

static void limit_space(const char *self) {
    const struct rlimit space = {600ul << 20, 600ul << 20};
    setrlimit(RLIMIT_AS, &space);
    execl(self, self, "rest", (char *)NULL);
    printf("exec: %s\n", strerror(errno));
}

static void space(void) {
    char *memory = malloc(250 << 20);
    if (memory == NULL)
        printf("no memory\n");
    free(memory);
    busy_ms(30);
}

static void later(bool by_prlimit) {
    const struct rlimit limit = {400ul << 20, 400ul << 20};
    if ((by_prlimit ? prlimit(0, RLIMIT_AS, &limit, NULL) : setrlimit(RLIMIT_AS, &limit)) != 0)
        printf("no limit\n");
    for (int i = 0; i < 3; i++)
        space();
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    busy_ms(30);
    if (strcmp(how, "current") == 0)
        lock(MCL_CURRENT);
    else if (strcmp(how, "future") == 0)
        lock(MCL_CURRENT | MCL_FUTURE);
    else if (strcmp(how, "limit") == 0)
        limit();
    else if (strcmp(how, "space") == 0)
        limit_space(argv[0]);
    else if (strcmp(how, "later") == 0 || strcmp(how, "later64") == 0)
        later(strcmp(how, "later64") == 0);
    else
        space();
    printf("done\n");
    return 0;
}

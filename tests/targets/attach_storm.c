/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * attach_storm.c - a program in which hardly any moment is a good one to load a library.
 *
 *   attach_storm KIND LIBRARY
 *
 * KIND: alloc: one thread allocates; loader: three threads load and unload LIBRARY, allocate, and
 * look symbols up; fork: children are forked and waited for; threads: threads are begun and joined.
 * What it allocates it fills and checks. Until SIGTERM; then it says how many rounds it has made,
 * and its status is 0. A round that goes wrong ends it with 1; one that takes for ever is seen by
 * who has started it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 64

static volatile sig_atomic_t over;
static _Atomic unsigned long rounds;
static const char *library;

static void on_term(int signal) {
    (void)signal;
    over = 1;
}

static void fail(const char *what) {
    fprintf(stderr, "attach_storm: %s: %s\n", what, strerror(errno));
    _exit(1);
}

static void allocate(unsigned *seed) {
    unsigned char *block[BLOCKS];
    size_t bytes[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        bytes[i] = 1 + (size_t)rand_r(seed) % (i % 8 == 0 ? 200000 : 2000);
        block[i] = malloc(bytes[i]);
        if (block[i] == NULL)
            fail("malloc");
        block[i][0] = block[i][bytes[i] - 1] = (unsigned char)i;
    }
    for (int i = 0; i < BLOCKS; i++) {
        if (block[i][0] != (unsigned char)i || block[i][bytes[i] - 1] != (unsigned char)i)
            fail("a block has changed");
        free(block[i]);
    }
}

static void load(void) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        fail("dlopen");
    if (dlsym(handle, "no_such_symbol_anywhere") != NULL)
        fail("dlsym");
    (void)dlerror();
    if (dlclose(handle) != 0)
        fail("dlclose");
}

static void fork_one(unsigned *seed) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        allocate(seed);
        _exit(7);
    }
    if (pid < 0)
        fail("fork");
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            fail("waitpid");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
        fail("a child ended otherwise");
}

static void *allocate_once(void *seed) {
    allocate(seed);
    return NULL;
}

static void begin_one(unsigned *seed) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, allocate_once, seed) != 0)
        fail("pthread_create");
    pthread_join(thread, NULL);
}

static void one_round(const char *kind, unsigned *seed) {
    if (strcmp(kind, "loader") == 0)
        load();
    if (strcmp(kind, "fork") == 0)
        fork_one(seed);
    else if (strcmp(kind, "threads") == 0)
        begin_one(seed);
    else
        allocate(seed);
    atomic_fetch_add(&rounds, 1);
}

static void *run(void *arg) {
    unsigned seed = (unsigned)(size_t)pthread_self();
    while (!over)
        one_round(arg, &seed);
    return NULL;
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = on_term, .sa_flags = SA_RESTART};
    pthread_t thread[2];
    if (argc != 3)
        return 2;
    library = argv[2];
    sigaction(SIGTERM, &action, NULL);
    int others = strcmp(argv[1], "loader") == 0 ? 2 : 0;
    for (int i = 0; i < others; i++)
        pthread_create(&thread[i], NULL, run, argv[1]);
    run(argv[1]);
    for (int i = 0; i < others; i++)
        pthread_join(thread[i], NULL);
    printf("%lu rounds\n", atomic_load(&rounds));
    return 0;
}

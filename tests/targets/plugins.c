/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * plugins.c - threads that load, use and unload plugins, which follow each other at one address.
 *
 *   plugins THREADS ROUNDS MICROSECONDS PLUGIN...
 *
 * The plugins are copies of this file, built with PLUGINS_LIBRARY, in whose bytes the test has
 * given `plugin_x_inner` another letter: as many as there are functions `caller_...` below, at
 * most. A thread takes one at random each time, goes through the caller of that letter, and asks
 * for its context (hcct.h) in the plugin's constructor, in its functions and in its destructor;
 * then the plugin computes for so long. Now and then the last handle of a plugin is closed while
 * its destructor takes its time.
 *
 * Printed: each number that was given, with the letter of its plugin and where it was asked for,
 * and how often there was none.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/labels/hcct.h"

#define OWN_FRAME __attribute__((noinline, noclone))

/* Where a plugin has asked, and what it was given. */
struct plugin_asked {
    uint64_t beginning, inside;
};

typedef void plugin_work(struct plugin_asked *asked, int depth, unsigned us);
typedef void plugin_note(uint64_t number, unsigned letter, const char *where);
typedef void plugin_tell(plugin_note *note, unsigned letter);

#ifdef PLUGINS_LIBRARY

static double now_us(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

plugin_work plugin_entry;
plugin_tell plugin_at_end;

static uint64_t beginning;
static plugin_note *volatile note;
static unsigned own_letter;
static volatile unsigned state = 1;

OWN_FRAME static uint64_t plugin_x_inner(unsigned us) {
    uint64_t number = hcct_context();
    double end = now_us(CLOCK_THREAD_CPUTIME_ID) + us;
    while (us > 0 && now_us(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 500; i++)
            state = state * 1103515245u + 12345u;
    return number;
}

__attribute__((constructor)) static void plugin_begin(void) {
    beginning = plugin_x_inner(0);
    state++;
}

__attribute__((destructor)) static void plugin_end(void) {
    const struct timespec nap = {0, 300000};
    uint64_t number = plugin_x_inner(0);
    if (number % 4 == 0)
        nanosleep(&nap, NULL);
    if (note != NULL)
        note(number, own_letter, "end");
    state++;
}

OWN_FRAME void plugin_entry(struct plugin_asked *asked, int depth, unsigned us) {
    if (depth > 0)
        plugin_entry(asked, depth - 1, us);
    else
        *asked = (struct plugin_asked){beginning, plugin_x_inner(us)};
    state++;
}

void plugin_at_end(plugin_note *taker, unsigned letter) {
    own_letter = letter;
    note = taker;
}

#else

#define LETTERS 8u

static unsigned rounds, plugins, us;
static char **names;
static volatile int sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long asked_in_all, none;

static void print(uint64_t number, unsigned of, const char *where) {
    pthread_mutex_lock(&lock);
    asked_in_all++;
    if (number == 0)
        none++;
    else
        printf("0x%016lx %c %s\n", (unsigned long)number, 'a' + (int)of, where);
    pthread_mutex_unlock(&lock);
}

static void *find(void *handle, const char *name) {
    void *found = handle != NULL ? dlsym(handle, name) : NULL;
    if (found == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

static void use(unsigned i, int depth) {
    struct plugin_asked asked;
    void *handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    plugin_work *work = (plugin_work *)find(handle, "plugin_entry");
    ((plugin_tell *)find(handle, "plugin_at_end"))(print, i);
    work(&asked, depth, us);
    print(asked.beginning, i, "begin");
    print(asked.inside, i, "inside");
    dlclose(handle);
}

typedef void caller(unsigned i, int depth);
#define CALLER(c)                                                                                  \
    OWN_FRAME static void caller_##c(unsigned i, int depth) {                                      \
        use(i, depth);                                                                             \
        sink++;                                                                                    \
    }                                                                                              \
    static caller caller_##c

CALLER(a);
CALLER(b);
CALLER(c);
CALLER(d);
CALLER(e);
CALLER(f);
CALLER(g);
CALLER(h);
static caller *const callers[LETTERS] = {caller_a, caller_b, caller_c, caller_d,
                                         caller_e, caller_f, caller_g, caller_h};

static void *run(void *arg) {
    unsigned random = *(unsigned *)arg * 7919 + 1;
    for (unsigned i = 0; i < rounds; i++) {
        random = random * 1103515245u + 12345u;
        unsigned of = (random >> 16) % plugins;
        callers[of](of, (int)(random >> 8) % 3);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread[16];
    unsigned seed[16], threads = argc > 4 ? (unsigned)atoi(argv[1]) : 0;
    plugins = (unsigned)argc - 4;
    if (threads < 1 || threads > 16 || plugins > LETTERS)
        return 2;
    rounds = (unsigned)atoi(argv[2]);
    us = (unsigned)atoi(argv[3]);
    names = argv + 4;
    for (unsigned i = 0; i < threads; i++) {
        seed[i] = i;
        pthread_create(&thread[i], NULL, run, &seed[i]);
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    printf("asked %lu none %lu\n", asked_in_all, none);
    return 0;
}

#endif

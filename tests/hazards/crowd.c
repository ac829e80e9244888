/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * crowd.c - threads by thousands: the kernel limits the mappings of a process, so each more of them
 * is a thread less; and a new thread takes the same time however many others are there.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "busy.h"

enum { MANY = 6000, TURNS = 100, TRIES = 9, STACK = 128 << 10, MAPPINGS_EACH = 2 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, first_gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_attr_t attributes;
static pthread_t crowd[MANY];

static void *wait_for_end(void *mutex) {
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    return mutex;
}

static void *end(void *unused) {
    return unused;
}

static int mappings(void) {
    int lines = 0, c;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && (c = getc(maps)) != EOF)
        lines += c == '\n';
    if (maps != NULL)
        fclose(maps);
    return lines;
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What it takes this thread to have another one, at best. */
static double price(void) {
    double least = INT_MAX;
    for (int try = 0; try < TRIES; try++) {
        double before = cpu_seconds();
        for (int i = 0; i < TURNS; i++) {
            pthread_t thread;
            if (pthread_create(&thread, &attributes, end, NULL) == 0)
                pthread_join(thread, NULL);
        }
        double took = cpu_seconds() - before;
        least = took < least ? took : least;
    }
    return least;
}

int main(void) {
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    busy_ms(20);
    double alone = price();
    int few = mappings(), threads = 0;
    pthread_t first; /* what it leaves behind is as far away as can be from what the last one has */
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&first_gate);
    pthread_create(&first, &attributes, wait_for_end, &first_gate);
    while (threads < MANY && pthread_create(&crowd[threads], &attributes, wait_for_end, &gate) == 0)
        threads++;
    int each = (mappings() - few + threads / 2) / threads;
    pthread_mutex_unlock(&first_gate);
    pthread_join(first, NULL);
    double crowded = price();
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < threads; i++)
        pthread_join(crowd[i], NULL);
    if (each > MAPPINGS_EACH)
        printf("%d mappings a thread\n", each);
    if (crowded > 4 * alone)
        printf("a thread among many takes %.1f times as long\n", crowded / alone);
    puts("over");
    return 0;
}

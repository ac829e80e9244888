/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * labels.c - a program that says what its threads are at work for, by hcct.h.
 *
 *   labels shares SECONDS   two threads serve requests of two routes for so much CPU time, in turns
 *                           of random lengths, while the main thread works for nobody. Prints the
 *                           CPU time in ns of each
 *   labels fork             a child of fork goes on for what its parent is at work for
 *   labels values N SPINS   as many values, and so much work for each
 *   labels alloc            three quarters of what it allocates are for one route
 *   labels early            has its label before it says so, and works until its input ends
 *   labels stop             is not sampled in unseen(), but in seen()
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/labels/hcct.h"

#define OWN_FRAME __attribute__((noinline))
#define SERVERS   2
#define ROUTES    2

static const char *const routes[ROUTES] = {"/pay", "/list"};
static const double shares[ROUTES] = {0.7, 0.3};
static volatile uint64_t sink;

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

OWN_FRAME static void spin(unsigned n) {
    for (unsigned i = 0; i < n; i++)
        sink += i;
}

/* Returns when that was. */
OWN_FRAME static uint64_t work(uint64_t until) {
    uint64_t now;
    while ((now = cpu_ns()) < until)
        spin(400);
    return now;
}

struct server {
    pthread_t thread;
    unsigned seed;
    uint64_t budget, ns[ROUTES];
};

static void *serve(void *arg) {
    struct server *server = arg;
    for (uint64_t now = cpu_ns(), next; now < server->budget; now = next) {
        unsigned route = rand_r(&server->seed) % 2;
        uint64_t length = (uint64_t)(2000000 * shares[route]);
        hcct_label_set("route", routes[route]);
        next = work(now + length / 2 + (uint64_t)rand_r(&server->seed) % length);
        server->ns[route] += next - now;
    }
    return NULL;
}

static int with_shares(double seconds) {
    struct server server[SERVERS];
    uint64_t part = (uint64_t)(seconds * 1e9 / (SERVERS + 1)), all[ROUTES] = {0};
    for (unsigned i = 0; i < SERVERS; i++) {
        server[i] = (struct server){.seed = i + 1, .budget = part};
        if (pthread_create(&server[i].thread, NULL, serve, &server[i]) != 0)
            return 1;
    }
    uint64_t begin = cpu_ns(), own = work(begin + part) - begin;
    for (unsigned i = 0; i < SERVERS; i++) {
        pthread_join(server[i].thread, NULL);
        for (unsigned r = 0; r < ROUTES; r++)
            all[r] += server[i].ns[r];
    }
    for (unsigned r = 0; r < ROUTES; r++)
        printf("route=%s %llu\n", routes[r], (unsigned long long)all[r]);
    printf("[no label] %llu\n", (unsigned long long)own);
    return 0;
}

/* Each ends in a way of its own, or the compiler would make one of them. */
OWN_FRAME static void child(void) {
    work(cpu_ns() + 300000000);
    sink++;
}

OWN_FRAME static void unlabelled(void) {
    work(cpu_ns() + 300000000);
    sink += 2;
}

static int with_fork(void) {
    hcct_label_set("route", "/pay");
    pid_t pid = fork();
    if (pid == 0) {
        child();
        hcct_label_clear("route");
        unlabelled();
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    printf("%d\n", status);
    return 0;
}

static int with_values(unsigned n, unsigned spins) {
    for (unsigned i = 0; i < n; i++) {
        char value[16];
        snprintf(value, sizeof value, "id%u", i);
        hcct_label_set("request", value);
        spin(spins);
    }
    printf("%u\n", n);
    return 0;
}

static int with_alloc(void) {
    for (unsigned i = 0; i < 200000; i++) {
        hcct_label_set("route", routes[i % 4 == 0]);
        void *volatile block = malloc(1000);
        free(block);
    }
    return 0;
}

static void *wait_for_end(void *done) {
    char c;
    while (read(STDIN_FILENO, &c, 1) > 0)
        ;
    *(volatile int *)done = 1;
    return NULL;
}

static int with_early(void) {
    static volatile int done;
    pthread_t thread;
    hcct_label_set("route", "/pay");
    puts("labelled");
    fflush(stdout);
    if (pthread_create(&thread, NULL, wait_for_end, (void *)&done) != 0)
        return 1;
    while (!done)
        work(cpu_ns() + 1000000);
    pthread_join(thread, NULL);
    return 0;
}

OWN_FRAME static void seen(void) {
    work(cpu_ns() + 500000000);
    sink += 3;
}

OWN_FRAME static void unseen(void) {
    work(cpu_ns() + 500000000);
    sink += 4;
}

static int with_stop(void) {
    hcct_stop();
    work(cpu_ns() + 200000000); /* in which the timer comes to know it */
    unseen();
    hcct_start();
    work(cpu_ns() + 200000000);
    seen();
    return 0;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "shares") == 0 && argc > 2)
        return with_shares(atof(argv[2]));
    if (strcmp(mode, "fork") == 0)
        return with_fork();
    if (strcmp(mode, "values") == 0 && argc > 3)
        return with_values((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
    if (strcmp(mode, "alloc") == 0)
        return with_alloc();
    if (strcmp(mode, "early") == 0)
        return with_early();
    if (strcmp(mode, "stop") == 0)
        return with_stop();
    return 2;
}

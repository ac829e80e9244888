/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * alternate_stack.c - handlers on alternate stacks with room for one signal and little more, above
 * guard bytes; stacks that are taken down and unmapped while signals arrive; threads that end with
 * one in place.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "busy.h"

enum { ROUNDS = 30, GUARD = 4096 };

static volatile sig_atomic_t handled;

static void on_signal(int number) {
    char used[1024];
    memset(used, number, sizeof used);
    busy(200000 + used[17] % 2);
    handled++;
}

/* True when nothing was written below the stack. */
static int one_round(size_t bytes) {
    size_t all = GUARD + bytes;
    char *memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = memory + GUARD, .ss_size = bytes}, none = {.ss_flags = SS_DISABLE};
    int clean = 1;
    memset(memory, 0x5a, GUARD);
    if (sigaltstack(&stack, NULL) != 0)
        return 0;
    raise(SIGUSR1);
    busy(200000);
    raise(SIGUSR2);
    sigaltstack(&none, NULL);
    for (int i = 0; i < GUARD; i++)
        clean &= memory[i] == 0x5a;
    munmap(memory, all);
    busy(50000);
    return clean;
}

static void *rounds(void *unused) {
    long clean = 0;
    long least = sysconf(_SC_SIGSTKSZ) > 0 ? sysconf(_SC_MINSIGSTKSZ) : 8192;
    (void)unused;
    for (int i = 0; i < ROUNDS; i++)
        clean += one_round((size_t)least + 1280);
    return (void *)clean;
}

int main(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
    pthread_t thread[4];
    long clean = 0;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, rounds, NULL);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(thread[i], &result);
        clean += (long)result;
    }
    printf("%ld\n", clean);
    return handled == 0;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shared_alternate.c - all threads have one alternate stack in common: for a handler after which
 * the program ends, so that no two are ever needed at a time. It is set by libc's function, or
 * ("raw") by a system call. In the end the handler runs there, in a child of fork as well.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"

enum { THREADS = 6, BYTES = 81920, MS = 100 };

static char *memory;
static volatile char nobodys[65536] __attribute__((aligned(65536)));
static int raw;

static int set_stack(void) {
    const stack_t stack = {.ss_sp = memory, .ss_size = BYTES};
    return raw ? (int)syscall(SYS_sigaltstack, &stack, NULL) : sigaltstack(&stack, NULL);
}

static void *compute(void *arg) {
    uintptr_t failed = set_stack() != 0;
    busy_ms(MS);
    (void)arg;
    return (void *)failed;
}

static void on_fault(int number) {
    char here;
    (void)number;
    _exit(&here >= memory && &here < memory + BYTES ? 0 : 8);
}

static void fault(void) {
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    mprotect((void *)nobodys, sizeof nobodys, PROT_NONE);
    nobodys[0] = 0;
}

int main(int argc, char **argv) {
    pthread_t thread[THREADS];
    uintptr_t failed = 0;
    int status = 0;
    raw = argc > 1 && strcmp(argv[1], "raw") == 0;
    memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, compute, NULL);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(thread[i], &result);
        failed += (uintptr_t)result;
    }
    failed += set_stack() != 0;
    pid_t child = fork();
    if (child == 0) {
        busy_ms(20);
        fault();
    }
    waitpid(child, &status, 0);
    printf("%d failed, the handler: %d\n", (int)failed,
           WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    fflush(stdout);
    fault();
    return 0;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * found_stack.c - as Go's runtime does with cgo: each thread asks for its alternate stack by a
 * system call, sets one up so where there is none, and relies on it from then on; handlers, which
 * ask for it, are set by libc.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "busy.h"

#define BYTES (64 << 10)
enum { TURNS = 20 };

static __thread char *volatile low, *volatile high;
static __thread volatile int handled, strange;
static pthread_barrier_t others;

/* By this C calls Go. */
void crosscall2(void);
void crosscall2(void) {}

static void on_signal(int number) {
    char here;
    (void)number;
    handled++;
    strange += &here < low || &here >= high;
}

static void find_stack(void) {
    stack_t stack;
    syscall(SYS_sigaltstack, NULL, &stack);
    if ((stack.ss_flags & SS_DISABLE) != 0) {
        stack = (stack_t){.ss_sp = malloc(BYTES), .ss_size = BYTES};
        syscall(SYS_sigaltstack, &stack, NULL);
    }
    low = stack.ss_sp;
    high = low + stack.ss_size;
}

static void take_signals(const char *when) {
    handled = strange = 0;
    for (int i = 0; i < TURNS; i++) {
        busy_ms(2);
        raise(SIGUSR1);
    }
    printf("%s: %d handled, %d of them elsewhere\n", when, handled, strange);
}

static void *thread(void *unused) {
    find_stack();
    pthread_barrier_wait(&others);
    pthread_barrier_wait(&others);
    take_signals("thread");
    pthread_barrier_wait(&others);
    pthread_barrier_wait(&others);
    take_signals("thread, when another has one");
    return unused;
}

int main(void) {
    static char memory[BYTES];
    const stack_t stack = {.ss_sp = memory, .ss_size = BYTES};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
    pthread_t id;
    find_stack();
    pthread_barrier_init(&others, NULL, 2);
    pthread_create(&id, NULL, thread, NULL);
    pthread_barrier_wait(&others);
    sigaction(SIGUSR1, &action, NULL);
    take_signals("main");
    pthread_barrier_wait(&others);
    pthread_barrier_wait(&others);
    sigaltstack(&stack, NULL);
    low = memory;
    high = low + BYTES;
    take_signals("main, with another one");
    pthread_barrier_wait(&others);
    pthread_join(id, NULL);
    return 0;
}

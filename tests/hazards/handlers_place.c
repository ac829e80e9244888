/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handlers_place.c - where handlers run that ask for an alternate stack: on their thread's own as
 * long as it has set up none, whatever other threads have; and what a program reads back of all
 * that.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "busy.h"

#define BYTES (64 << 10)
enum { TURNS = 20 };

static __thread char *own_low, *own_high, *alternate;
static pthread_barrier_t barrier;
static sigjmp_buf out;
static ucontext_t turn[2];
static volatile int turns, leaves;

static const char *place(const char *at) {
    if (at >= own_low && at < own_high)
        return "own";
    return alternate != NULL && at >= alternate && at < alternate + BYTES ? "alternate" : "strange";
}

static void on_signal(int number) {
    stack_t now;
    char here;
    (void)number;
    if (leaves)
        siglongjmp(out, 1);
    sigaltstack(NULL, &now);
    printf("%s, told %x;", place(&here), (unsigned)now.ss_flags);
}

/* As threads that a program makes itself are taken turns with. */
static void on_turn(int number) {
    int mine = turns++ % 2;
    (void)number;
    swapcontext(&turn[mine], &turn[1 - mine]);
}

static void other_turn(void) {
    for (;;) {
        busy_ms(1);
        raise(SIGUSR2);
    }
}

static void find_own(void) {
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &bytes);
    own_low = low;
    own_high = own_low + bytes;
}

static void show(const char *when) {
    struct sigaction action;
    stack_t stack;
    busy_ms(25);
    printf("%s: ", when);
    raise(SIGUSR1);
    sigaction(SIGUSR1, NULL, &action);
    sigaltstack(NULL, &stack);
    printf(" asks %d, has %x of %zu\n", (action.sa_flags & SA_ONSTACK) != 0,
           (unsigned)stack.ss_flags, stack.ss_size);
}

static void have(char *memory) {
    const stack_t stack = {
        .ss_sp = memory, .ss_size = BYTES, .ss_flags = memory == NULL ? SS_DISABLE : 0};
    stack_t before;
    alternate = memory;
    sigaltstack(&stack, &before);
    printf("before: %x %zu\n", (unsigned)before.ss_flags, before.ss_size);
}

static void leave_by_jump(const char *when) {
    leaves = 1;
    if (sigsetjmp(out, 1) == 0)
        raise(SIGUSR1);
    leaves = 0;
    show(when);
}

static void take_turns(void) {
    char *stack = malloc(BYTES);
    getcontext(&turn[1]);
    turn[1].uc_stack.ss_sp = stack;
    turn[1].uc_stack.ss_size = BYTES;
    makecontext(&turn[1], other_turn, 0);
    for (int i = 0; i < TURNS; i++) {
        busy_ms(1);
        raise(SIGUSR2);
    }
    printf("%d turns\n", turns);
}

static void child(void) {
    fflush(stdout);
    if (fork() == 0) {
        show("child");
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
}

/* It is there before the other thread has a stack, and shows afterwards that it has none. */
static void *thread(void *unused) {
    find_own();
    show("thread");
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    busy_ms(25);
    show("thread that has none");
    return unused;
}

static void *ends_with_one(void *memory) {
    find_own();
    show("new thread");
    have(memory);
    show("new thread with one");
    return NULL;
}

int main(void) {
    static char memory[BYTES], memory_of_thread[BYTES];
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
    struct sigaction turning = {.sa_handler = on_turn, .sa_flags = SA_ONSTACK | SA_NODEFER};
    pthread_t id;
    find_own();
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &turning, NULL);
    show("none");
    leave_by_jump("after a jump");
    take_turns();
    child();
    signal(SIGUSR1, on_signal);
    show("by signal()");
    sigaction(SIGUSR1, &action, NULL);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&id, NULL, thread, NULL);
    pthread_barrier_wait(&barrier);
    have(memory);
    show("one");
    leave_by_jump("one, after a jump");
    child();
    pthread_barrier_wait(&barrier);
    pthread_join(id, NULL);
    pthread_create(&id, NULL, ends_with_one, memory_of_thread);
    pthread_join(id, NULL);
    have(NULL);
    show("none again");
    return 0;
}

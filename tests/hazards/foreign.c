/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * foreign.c - uses what the agent stands before: signals, threads, fork, waits, transfers. Built
 * with another C library, or with a sanitizer that stands there too.
 */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static _Thread_local volatile unsigned long sink;

static void on_signal(int number) {
    (void)number;
    seen++;
}

static void compute(long times) {
    for (long i = 0; i < times * 1000; i++)
        sink += (unsigned long)i;
}

static void *run(void *arg) {
    char *text = malloc(100);
    poll(NULL, 0, 1);
    compute(5000);
    free(text);
    return arg;
}

static void use_signals(void) {
    struct sigaction action = {.sa_handler = on_signal}, old;
    sigset_t set;
    signal(SIGUSR1, on_signal);
    sigaction(SIGPROF, &action, &old);
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGPROF);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(SIGUSR1);
}

static void use_threads(void) {
    pthread_t thread[3];
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread[i], NULL, run, NULL) != 0)
            printf("no thread\n");
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
}

static void use_children(void) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        compute(1000);
        _exit(7);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
        printf("no child\n");
}

static void use_jumps(void) {
    static jmp_buf buffer;
    static volatile int times;
    if (setjmp(buffer) < 3)
        longjmp(buffer, ++times);
}

int main(void) {
    use_signals();
    use_threads();
    use_children();
    use_jumps();
    compute(10000);
    if (syscall(SYS_getpid) != getpid())
        printf("no number\n");
    printf("%d signals\n", (int)seen);
    return 0;
}

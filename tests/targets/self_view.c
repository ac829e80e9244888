/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * self_view.c - prints all that a program can see of its own process which an agent might change:
 * the same text must come out with and without one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static volatile sig_atomic_t own_signals;

static void burn_ms(long ms) {
    struct timespec now;
    long long start, t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    start = now.tv_sec * 1000ll + now.tv_nsec / 1000000;
    do {
        for (int i = 0; i < 10000; i++)
            sink += (unsigned long)i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        t = now.tv_sec * 1000ll + now.tv_nsec / 1000000;
    } while (t - start < ms);
}

static void show_descriptors(const char *when) {
    printf("%s descriptors:", when);
    for (int fd = 0; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            printf(" %d", fd);
    int next = dup(0);
    printf(", next %d\n", next);
    close(next);
}

static void show_threads(const char *when) {
    int n = 0;
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        n += e->d_name[0] != '.';
    closedir(dir);
    printf("%s threads: %d\n", when, n);
}

static void show_signals(const char *when) {
    sigset_t mask;
    struct sigaction action;
    printf("%s dispositions:", when);
    for (int number = 1; number < NSIG; number++) {
        if (sigaction(number, NULL, &action) != 0)
            continue;
        if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL)
            printf(" %d", number);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    printf(" blocked:");
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&mask, number) == 1)
            printf(" %d", number);
    printf("\n");
}

static void block_all(void) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    show_signals("all blocked");
    burn_ms(30);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    show_signals("restored");
}

static void *in_thread(void *arg) {
    burn_ms(30);
    show_signals("thread");
    return arg;
}

static void run_thread(void) {
    pthread_t id;
    void *result;
    if (pthread_create(&id, NULL, in_thread, (void *)&own_signals) != 0)
        return;
    pthread_join(id, &result);
    printf("thread result: %d\n", result == (void *)&own_signals);
}

static void run_child(void) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        burn_ms(50);
        show_descriptors("child");
        show_threads("child");
        fflush(stdout);
        _exit(7);
    }
    waitpid(child, &status, 0);
    printf("child status: %d\n", WEXITSTATUS(status));
}

/* A default action stays a default action. */
static void kill_child(int number) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        burn_ms(20);
        kill(getpid(), number);
        sleep(5);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("child ended by signal: %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void count_own(int number) {
    (void)number;
    own_signals++;
}

/* The application takes the signal that the agent may have chosen, by each road. */
static void use_signal(int number) {
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_own;
    own_signals = 0;
    sigaction(number, &action, &old);
    printf("signal %d before: %d", number, old.sa_handler != SIG_DFL);
    burn_ms(30);
    raise(number);
    printf(", own signals: %d", (int)own_signals);
    void (*before)(int) = signal(number, SIG_DFL);
    printf(", handler was ours: %d\n", before == count_own);
}

static void keep_errno(void) {
    errno = 4711;
    burn_ms(30);
    printf("errno: %d\n", errno);
}

int main(void) {
    show_descriptors("start");
    show_threads("start");
    show_signals("start");
    keep_errno();
    block_all();
    run_thread();
    run_child();
    kill_child(SIGPROF);
    kill_child(SIGVTALRM);
    use_signal(SIGPROF);
    use_signal(SIGVTALRM);
    burn_ms(50);
    show_descriptors("end");
    show_threads("end");
    show_signals("end");
    return 0;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * left_calls.c - calls that sleep are left by ways that nobody hears of: by a jump that the
 * compiler makes, by contexts, by coroutines that change places in a handler, and by the death of a
 * child of vfork. What the program has on its stack afterwards is its own.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define QUICK     20 /* calls that do not sleep */
#define TIMES     48
#define WORK_MS   25
#define SOON_US   3000
#define CHANGE_MS 1
#define PATTERN   0xa5
#define STACK     65536
#define COMPARED  64

static int ends[2];
static volatile sig_atomic_t armed;
static unsigned turn;

static long ms_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A system call by an instruction of the program's own: a tick meets it when it has just ended. */
static long make_one(void) {
#if defined(__x86_64__)
    long result = SYS_getpid;
    __asm__ volatile("syscall" : "+a"(result)::"rcx", "r11", "memory");
    return result;
#else
    return syscall(SYS_getpid);
#endif
}

/* Has memory of all sizes on the stack, where the call was that was left. */
static __attribute__((noinline)) void work(long ms) {
    size_t size = COMPARED * (2 + turn++ % 16);
    unsigned char *own = __builtin_alloca(size);
    memset(own, PATTERN, size);
    __asm__ volatile("" ::"r"(own) : "memory");
    for (long end = ms_now() + ms; ms_now() < end;)
        for (int i = 0; i < 200; i++)
            make_one();
    __asm__ volatile("" ::"r"(own) : "memory");
    for (size_t i = 0; i < size; i++)
        if (own[i] != PATTERN) {
            printf("byte %zu of %zu is %d\n", i, size, own[i]);
            break;
        }
}

static void be_quick(void) {
    char c;
    for (int i = 0; i < QUICK; i++)
        if (write(ends[0], "x", 1) != 1 || read(ends[1], &c, 1) != 1)
            printf("a byte has not come\n");
}

static void alarm_soon(void) {
    const struct itimerval soon = {{0, 0}, {0, SOON_US}};
    armed = 1;
    setitimer(ITIMER_REAL, &soon, NULL);
}

/* ---- jumps, and contexts ---- */

static void *mark[5];
static ucontext_t before;
static volatile sig_atomic_t left;

static void by_jump(int number) {
    sigset_t one;
    if (!armed)
        return;
    armed = 0;
    sigemptyset(&one);
    sigaddset(&one, number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    __builtin_longjmp(mark, 1);
}

static __attribute__((noinline)) void leave_by_jump(void) {
    char c[COMPARED];
    be_quick();
    if (__builtin_setjmp(mark) != 0)
        return;
    alarm_soon();
    (void)!read(ends[1], c, 1);
}

static void by_context(int number) {
    (void)number;
    if (!armed)
        return;
    armed = 0;
    left = 1;
    setcontext(&before);
}

static __attribute__((noinline)) void leave_by_context(void) {
    char c[COMPARED];
    be_quick();
    left = 0;
    getcontext(&before);
    if (left)
        return;
    alarm_soon();
    (void)!read(ends[1], c, 1);
}

static void leave(void (*handler)(int), void (*once)(void)) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < TIMES; i++) {
        once();
        work(WORK_MS);
    }
}

/* ---- coroutines ---- */

static ucontext_t coroutine[2];
static char stack[2][STACK];
static volatile int running;

static void change(int number) {
    (void)number;
    int from = running;
    running = 1 - from;
    swapcontext(&coroutine[from], &coroutine[1 - from]);
}

/* Calls that do not sleep for long, one of which is interrupted now and then, and goes on after the
 * other's have come and gone. Coroutines change with the signal blocked: it would come in the midst
 * of a change otherwise. */
static void run(void) {
    sigset_t often;
    sigemptyset(&often);
    sigaddset(&often, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &often, NULL);
    for (long end = ms_now() + TIMES * WORK_MS; ms_now() < end;) {
        for (int i = 0; i < QUICK; i++)
            be_quick();
        work(CHANGE_MS);
    }
    exit(0);
}

static void change_places(void) {
    const struct sigaction action = {.sa_handler = change, .sa_flags = SA_RESTART};
    const struct itimerval often = {{0, CHANGE_MS * 1000}, {0, CHANGE_MS * 1000}};
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 2; i++) {
        getcontext(&coroutine[i]);
        coroutine[i].uc_stack.ss_sp = stack[i];
        coroutine[i].uc_stack.ss_size = STACK;
        sigaddset(&coroutine[i].uc_sigmask, SIGALRM);
        makecontext(&coroutine[i], run, 0);
    }
    setitimer(ITIMER_REAL, &often, NULL);
    setcontext(&coroutine[0]);
}

/* ---- a child of vfork ---- */

/* The one that is not this process. */
static pid_t other_child_of(pid_t parent) {
    char path[64], text[64] = "", *next = text;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    if (fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    fclose(file);
    for (long pid; (pid = strtol(next, &next, 10)) > 0;)
        if (pid != getpid())
            return (pid_t)pid;
    return 0;
}

static void kill_other_child(pid_t parent) {
    pid_t child;
    while ((child = other_child_of(parent)) == 0 && getppid() == parent)
        usleep(500);
    usleep(SOON_US);
    if (child > 0)
        kill(child, SIGKILL);
    _exit(0);
}

static void lose_children(void) {
    for (int i = 0; i < TIMES; i++) {
        pid_t killer, child, self = getpid();
        int status;
        char c[COMPARED];
        be_quick();
        if ((killer = fork()) == 0)
            kill_other_child(self);
        if ((child = vfork()) == 0) {
            (void)!read(ends[1], c, 1);
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
            printf("a child was not killed\n");
        waitpid(killer, &status, 0);
        work(WORK_MS);
    }
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "jump";
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (strcmp(way, "jump") == 0)
        leave(by_jump, leave_by_jump);
    else if (strcmp(way, "context") == 0)
        leave(by_context, leave_by_context);
    else if (strcmp(way, "coroutines") == 0)
        change_places();
    else
        lose_children();
    return 0;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * confined.c - a program forbids itself all system calls but a few, and goes on. Whoever makes
 * another is killed.
 *
 *   strict            the mode that allows read, write, exit and the return from a signal
 *   filter, libc      a filter of this thread, by prctl and by syscall()
 *   all               a filter of all threads, which sleep, wait and compute meanwhile
 *   one               a filter of one thread of several, which end afterwards
 *   child             a filter of a child of fork, that goes on to fork and to start threads
 *   refused           a filter that the kernel does not take
 *   born              another program is executed under the filter
 *   off               the same with the agent switched off, under one that kills for fork, too
 *   container         the same, under a filter that refuses some calls with an error
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUN_MS 60

static _Atomic unsigned long sink;

static void __attribute__((noinline)) step(void) {
    for (unsigned long i = 0; i < 1000; i++)
        sink += i;
}

/* No system call: the clocks of a strict program may not be mapped memory everywhere. */
static void compute(int ms) {
    for (long i = 0; i < 200l * ms; i++)
        step();
}

static void say(const char *text) {
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        syscall(SYS_exit, 3);
}

/* ---- filters ---- */

#define CALLS_MAX 48
#define ALLOW     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* By what libc makes them. */
#ifdef SYS_poll
#define POLL       SYS_poll
#define ACCESS     SYS_access
#define READLINK   SYS_readlink
#define TLS_IS_SET SYS_arch_prctl
#else
#define POLL       SYS_ppoll
#define ACCESS     SYS_faccessat
#define READLINK   SYS_readlinkat
#define TLS_IS_SET SYS_prctl
#endif

/* What this program uses after it is confined, libc's own start and end of threads included;
 * and what the kernel makes for a thread that goes on with its sleep. */
static const int
    few[] = {SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn},
    threads[] = {SYS_read,           SYS_write, SYS_exit,    SYS_exit_group, SYS_rt_sigreturn,
                 SYS_futex,          POLL,      SYS_madvise, SYS_munmap,     SYS_rt_sigprocmask,
                 SYS_restart_syscall},
    family[] = {SYS_read,         SYS_write,           SYS_exit,      SYS_exit_group,
                SYS_rt_sigreturn, SYS_futex,           SYS_clone,     SYS_clone3,
                SYS_wait4,        SYS_set_robust_list, SYS_mmap,      SYS_mprotect,
                SYS_munmap,       SYS_madvise,         SYS_rseq,      SYS_rt_sigprocmask,
                SYS_gettid,       SYS_rt_sigaction,    SYS_getrandom, SYS_brk},
    loader[] = {SYS_read,         SYS_write,     SYS_exit,      SYS_exit_group,
                SYS_openat,       SYS_close,     SYS_mmap,      SYS_mprotect,
                SYS_munmap,       SYS_brk,       TLS_IS_SET,    SYS_set_tid_address,
                SYS_fstat,        SYS_pread64,   SYS_prlimit64, SYS_set_robust_list,
                SYS_rseq,         SYS_getrandom, ACCESS,        SYS_newfstatat,
                SYS_rt_sigreturn, SYS_execve,    READLINK,      SYS_clone,
                SYS_wait4},
    refused[] = {SYS_ptrace, SYS_perf_event_open, SYS_timer_delete, SYS_mremap};

static struct sock_filter code[2 * CALLS_MAX + 4];
static struct sock_fprog filter = {.filter = code};

#define ARRAY(list) list, sizeof(list) / sizeof(list)[0]

/* `these` get one answer, all others the other. */
static void make_filter(const int *list, size_t n, struct sock_filter these,
                        struct sock_filter others) {
    struct sock_filter *at = code;
    *at++ =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < n && i < CALLS_MAX; i++) {
        *at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)list[i], 0, 1);
        *at++ = these;
    }
    *at++ = others;
    filter.len = (unsigned short)(at - code);
}

static void allow(const int *list, size_t n) {
    make_filter(list, n, (struct sock_filter)ALLOW, (struct sock_filter)KILL);
}

static void confine(unsigned flags) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        say("no_new_privs was refused\n");
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter) != 0)
        say("seccomp was refused\n");
}

/* ---- alone ---- */

static void go_on(void) {
    for (int i = 0; i < 4; i++) {
        compute(RUN_MS / 4);
        say(".");
    }
    say(" done\n");
}

static void strict(void) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        say("strict mode was refused\n");
    go_on();
    syscall(SYS_exit, 0);
}

static void by_prctl(void) {
    allow(ARRAY(few));
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        say("the filter was refused\n");
    go_on();
}

static void by_syscall(void) {
    allow(ARRAY(few));
    confine(0);
    go_on();
}

/* ---- threads ---- */

static _Atomic int ready, finish;

static void *works(void *arg) {
    ready++;
    while (!finish)
        compute(1);
    return arg;
}

static void *naps(void *arg) {
    ready++;
    while (!finish)
        poll(NULL, 0, 1);
    return arg;
}

static void *confines_itself(void *arg) {
    compute(RUN_MS / 2);
    allow(ARRAY(threads));
    confine(0);
    go_on();
    return arg;
}

static void *(*const kinds[])(void *) = {works, naps, naps};
#define KINDS (sizeof kinds / sizeof kinds[0])

static pthread_t started[KINDS];

static void start_threads(void) {
    for (size_t i = 0; i < KINDS; i++)
        if (pthread_create(&started[i], NULL, kinds[i], NULL) != 0)
            say("no thread\n");
    while (ready < (int)KINDS)
        compute(1);
}

static void end_threads(void) {
    finish = 1;
    for (size_t i = 0; i < KINDS; i++)
        pthread_join(started[i], NULL);
}

static void all_threads(void) {
    start_threads();
    compute(RUN_MS / 2);
    allow(ARRAY(threads));
    confine(SECCOMP_FILTER_FLAG_TSYNC);
    go_on();
    end_threads();
}

static void one_thread(void) {
    pthread_t thread;
    start_threads();
    if (pthread_create(&thread, NULL, confines_itself, NULL) != 0)
        say("no thread\n");
    pthread_join(thread, NULL);
    compute(RUN_MS);
    end_threads();
}

/* ---- children ---- */

static void wait_for(pid_t child) {
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child)
        say("no child\n");
    else if (status != 0)
        say("the child was killed\n");
}

static void *little(void *arg) {
    compute(5);
    return arg;
}

static void confined_child(void) {
    pthread_t thread;
    allow(ARRAY(family));
    confine(0);
    go_on();
    for (int i = 0; i < 3; i++) {
        if (pthread_create(&thread, NULL, little, NULL) != 0)
            say("no thread\n");
        pthread_join(thread, NULL);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            compute(5);
            exit(0);
        }
        wait_for(grandchild);
    }
}

static void in_child(void) {
    compute(RUN_MS);
    pid_t child = fork();
    if (child == 0) {
        confined_child();
        exit(0);
    }
    wait_for(child);
}

/* ---- others ---- */

static void is_refused(void) {
    static const struct sock_filter senseless = BPF_STMT(BPF_RET | BPF_MISC, 0);
    pthread_t thread;
    start_threads();
    code[0] = senseless;
    filter.len = 1;
    for (int i = 0; i < 10; i++) {
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0)
            say("a senseless filter was taken\n");
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0)
            say("a senseless filter was taken for all\n");
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == 0 || errno != EFAULT)
            say("no filter was taken for one\n");
        if (pthread_create(&thread, NULL, little, NULL) != 0)
            say("no thread\n");
        pthread_join(thread, NULL);
        compute(5);
    }
    end_threads();
    say("refused\n");
}

static void execute(const char *self) {
    confine(0);
    execl(self, self, "rest", (char *)NULL);
    say("no program\n");
    exit(1);
}

static void born(const char *self) {
    allow(ARRAY(loader));
    execute(self);
}

/* The filter kills for a fork, too: with the agent switched off there is none. */
static void switched_off(const char *self) {
    allow(loader, sizeof loader / sizeof loader[0] - 2);
    setenv("HCCT_ENABLE", "0", 1);
    execute(self);
}

static void container(const char *self) {
    make_filter(ARRAY(refused),
                (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                (struct sock_filter)ALLOW);
    execute(self);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "rest") != 0)
        compute(RUN_MS);
    if (strcmp(how, "strict") == 0)
        strict();
    else if (strcmp(how, "filter") == 0)
        by_prctl();
    else if (strcmp(how, "libc") == 0)
        by_syscall();
    else if (strcmp(how, "all") == 0)
        all_threads();
    else if (strcmp(how, "one") == 0)
        one_thread();
    else if (strcmp(how, "child") == 0)
        in_child();
    else if (strcmp(how, "refused") == 0)
        is_refused();
    else if (strcmp(how, "born") == 0)
        born(argv[0]);
    else if (strcmp(how, "off") == 0)
        switched_off(argv[0]);
    else if (strcmp(how, "container") == 0)
        container(argv[0]);
    else
        go_on();
    return 0;
}

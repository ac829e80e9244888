/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * wrap_sleep_test.c - the stubs before the calls that can sleep: the real functions get their
 * arguments and give their results, and are announced when that is asked for.
 *
 * The stubs are part of this program, so its own calls go through them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "preload/wrap/sleep.h"
#include "tests/agent/sleep_stubs.h"
#include "tests/check.h"

/* How many of the calls of masked_of_fragile are masked, without flags and with them: all but read
 * where none can be made again; and there read and accept are, if they have a time. */
#if defined(__x86_64__)
#define MASKED_OF_PLAIN 2u
#define MASKED_OF_FLAGS 4u
#define MASKED_OF_ALL   (CALLS - 1)
#define MASKED_OF_TIMED 0u
#else
#define MASKED_OF_PLAIN 5u
#define MASKED_OF_FLAGS 5u
#define MASKED_OF_ALL   CALLS
#define MASKED_OF_TIMED 1u
#endif
#define CALLS_OF_FRAGILE 7u

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/* Calls of few and of many arguments, by their results. */
static void check_calls(void) {
    int pair[2];
    char text[8] = "";
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    struct timespec short_time = {0, 1000};
    sem_t semaphore;
    errno = 0;
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    CHECK(write(pair[0], "one", 3) == 3);
    CHECK(read(pair[1], text, sizeof text) == 3 && memcmp(text, "one", 3) == 0);
    CHECK(sendto(pair[0], "two", 3, 0, NULL, 0) == 3);
    CHECK(recvfrom(pair[1], text, sizeof text, MSG_DONTWAIT, (struct sockaddr *)&from, &length) ==
          3);
    CHECK(memcmp(text, "two", 3) == 0);
    CHECK(errno == 0);
    CHECK(recv(pair[1], text, sizeof text, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    struct pollfd descriptor = {.fd = pair[1], .events = POLLIN | POLLOUT};
    CHECK(poll(&descriptor, 1, 0) == 1 && descriptor.revents == POLLOUT);
    CHECK(pselect(0, NULL, NULL, NULL, &short_time, NULL) == 0);
    CHECK(nanosleep(&short_time, NULL) == 0);
    CHECK(sem_init(&semaphore, 0, 1) == 0 && sem_wait(&semaphore) == 0);
    CHECK(syscall(SYS_getpid) == getpid());
    CHECK(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &short_time, NULL) == 0);
    close(pair[0]);
    close(pair[1]);
}

#define CALLS 10u /* of those above: read is none */

static void *in_thread(void *unused) {
    CHECK_UINT(sleep_burst, 0);
    check_calls();
    return unused;
}

static void test_announced(void) {
    pthread_t thread;
    announced = 0;
    check_calls();
    CHECK_UINT(announced, 0);
    sleep_burst = SLEEP_NEXT;
    check_calls();
    CHECK_UINT(announced, CALLS + 1); /* read is, too */
    announced = 0;
    pthread_create(&thread, NULL, in_thread, NULL);
    sleep_burst = 0;
    pthread_join(thread, NULL);
    CHECK_UINT(announced, 0);
}

static unsigned masked_of_fragile(int flags) {
    int pair[2];
    char byte;
    struct timespec time = {0, 1};
    masked = 0;
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    sleep_burst |= SLEEP_FRAGILE;
    poll(NULL, 0, 0);
    nanosleep(&time, NULL);
    nanosleep(&time, flags != 0 ? &time : NULL);
    recv(pair[0], &byte, 1, MSG_DONTWAIT | flags);
    CHECK(read(-1, &byte, 1) == -1);
    syscall(SYS_getpid);
    syscall(flags != 0 ? SYS_write : SYS_read, -1, "", 0);
    sleep_burst = 0;
    close(pair[0]);
    close(pair[1]);
    return masked;
}

static void test_fragile(void) {
    announced = 0;
    CHECK_UINT(masked_of_fragile(0), MASKED_OF_PLAIN);
    CHECK_UINT(masked_of_fragile(MSG_WAITALL), MASKED_OF_FLAGS);
    CHECK_UINT(announced, 0);
    masked = 0;
    sleep_burst = SLEEP_FRAGILE;
    CHECK(write(STDOUT_FILENO, "", 0) == 0);
    sleep_burst = 0;
    CHECK_UINT(masked, 1);
}

/* What is not masked is announced, read as well. */
static void test_next(void) {
    announced = 0;
    sleep_burst = SLEEP_NEXT;
    CHECK_UINT(masked_of_fragile(0), MASKED_OF_PLAIN);
    CHECK_UINT(announced, CALLS_OF_FRAGILE - MASKED_OF_PLAIN);
    announced = 0;
    sleep_burst = SLEEP_NEXT;
    CHECK_UINT(masked_of_fragile(MSG_WAITALL), MASKED_OF_FLAGS);
    CHECK_UINT(announced, CALLS_OF_FRAGILE - MASKED_OF_FLAGS);
}

/* At the end of those, too, that have a frame of ours: not of syscall(). */
#define WATCHED (CALLS + 1 - 2)

static void test_watched(void) {
    announced = masked = watched = 0;
    sleep_burst = SLEEP_WATCHED;
    check_calls();
    CHECK_UINT(announced + masked + watched, 0);
    sleep_burst = SLEEP_WATCHED | SLEEP_NEXT;
    check_calls();
    sleep_burst = 0;
    CHECK_UINT(announced, CALLS + 1);
    CHECK_UINT(watched, WATCHED);
    CHECK_UINT(masked, 0);
}

static unsigned masked_after(long answer) {
    (void)answer;
    return masked;
}

/* What a call that ends at once adds. */
#define MASKED_BY(call) (masked = 0, masked_after(call))

static void check_timed(int fd, unsigned expected) {
    char byte;
    struct iovec part = {&byte, 1};
    sleep_burst = SLEEP_FRAGILE;
    CHECK_UINT(MASKED_BY(read(fd, &byte, 1)), expected);
    CHECK_UINT(MASKED_BY(readv(fd, &part, 1)), expected);
    CHECK_UINT(MASKED_BY(accept(fd, NULL, NULL)), expected);
    CHECK_UINT(MASKED_BY(accept4(fd, NULL, NULL, 0)), expected);
    sleep_burst = 0;
}

static void set_terminal_time(int fd, unsigned char tenths) {
    struct termios t;
    CHECK(tcgetattr(fd, &t) == 0);
    cfmakeraw(&t);
    t.c_cc[VMIN] = 0;
    t.c_cc[VTIME] = tenths;
    CHECK(tcsetattr(fd, TCSANOW, &t) == 0);
}

/* A time that is the descriptor's. */
static void test_timed(void) {
    int pair[2];
    const struct timeval time = {0, 1000};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    check_timed(pair[0], 0);
    CHECK(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0);
    check_timed(pair[0], MASKED_OF_TIMED);
    check_timed(pair[1], 0);
    close(pair[0]);
    close(pair[1]);
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_NONBLOCK);
    CHECK(slave >= 0);
    set_terminal_time(slave, 0);
    check_timed(slave, 0);
    set_terminal_time(slave, 1);
    check_timed(slave, MASKED_OF_TIMED);
    close(slave);
    close(master);
}

#if defined(__x86_64__)

/* Of the calls of which nobody knows how much of their time is left those are masked that take a
 * second at most; what says so is read where it can be. */
static void test_short(void) {
    int pair[2];
    struct epoll_event event = {.events = EPOLLOUT};
    struct timespec now = {0, 1}, never = {0, 2000000000}, later = {1, 2000000000}, past = {0, 0};
    char odd[1 + sizeof now];
    memcpy(odd + 1, &now, sizeof now);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    struct pollfd ready = {.fd = pair[0], .events = POLLOUT};
    int events = epoll_create1(0);
    CHECK(epoll_ctl(events, EPOLL_CTL_ADD, pair[0], &event) == 0);
    sleep_burst = SLEEP_FRAGILE;
    CHECK_UINT(MASKED_BY(poll(&ready, 1, 1)), 1);
    CHECK_UINT(MASKED_BY(poll(&ready, 1, 1000)), 1);
    CHECK_UINT(MASKED_BY(poll(&ready, 1, 1001)), 0);
    CHECK_UINT(MASKED_BY(poll(&ready, 1, -1)), 0);
    CHECK_UINT(MASKED_BY(poll(&ready, 1, 0)), 0);
    CHECK_UINT(MASKED_BY(epoll_wait(events, &event, 1, 1000)), 1);
    CHECK_UINT(MASKED_BY(epoll_wait(events, &event, 1, 1001)), 0);
    CHECK_UINT(MASKED_BY(epoll_pwait(events, &event, 1, -1, NULL)), 0);
    CHECK_UINT(MASKED_BY(epoll_pwait(events, &event, 1, 10, NULL)), 1);
    CHECK_UINT(MASKED_BY(epoll_pwait2(events, &event, 1, &now, NULL)), 1);
    CHECK_UINT(MASKED_BY(epoll_pwait2(events, &event, 1, NULL, NULL)), 0);
    CHECK_UINT(MASKED_BY(nanosleep(&now, NULL)), 1);
    CHECK_UINT(MASKED_BY(nanosleep(&never, NULL)), 1);
    CHECK_UINT(MASKED_BY(nanosleep(&later, NULL)), 0);
    CHECK_UINT(MASKED_BY(nanosleep((struct timespec *)4096, NULL)), 0);
    CHECK_UINT(MASKED_BY(nanosleep((struct timespec *)(odd + 1), NULL)), 0);
    CHECK_UINT(MASKED_BY(clock_nanosleep(CLOCK_MONOTONIC, 0, &now, NULL)), 1);
    CHECK_UINT(MASKED_BY(clock_nanosleep(CLOCK_MONOTONIC, 0, &later, NULL)), 0);
    CHECK_UINT(MASKED_BY(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &past, NULL)), 0);
    CHECK_UINT(MASKED_BY(thrd_sleep(&now, NULL)), 1);
    CHECK_UINT(MASKED_BY(usleep(1)), 1);
    CHECK_UINT(MASKED_BY(sleep(0)), 1);
    CHECK_UINT(MASKED_BY(semtimedop(-1, NULL, 0, &now)), 1);
    CHECK_UINT(MASKED_BY(semtimedop(-1, NULL, 0, &later)), 0);
    CHECK(nanosleep((struct timespec *)4096, NULL) == -1 && errno == EFAULT);
    CHECK(nanosleep(&never, NULL) == -1 && errno == EINVAL);
    sleep_burst = 0;
    close(events);
    close(pair[0]);
    close(pair[1]);
}

#else

static void test_short(void) {} /* all are masked */

#endif

static void *write_later(void *pipe_end) {
    usleep(20000);
    CHECK(write(*(int *)pipe_end, "x", 1) == 1);
    return NULL;
}

static unsigned ticks;

static void on_tick(int number) {
    (void)number;
    ticks++;
}

/* A signal that the program itself has blocked stays so, and wakes nobody. */
static void check_blocked_before(void) {
    int ends[2];
    pthread_t writer;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    struct itimerspec often = {{0, 1000000}, {0, 1000000}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_tick};
    sigaction(SIGPROF, &action, NULL);
    CHECK(pipe(ends) == 0);
    sleep_burst = 0;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    pthread_create(&writer, NULL, write_later, &ends[1]);
    sigset_t other;
    sigemptyset(&other);
    sigaddset(&other, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &other, NULL);
    timer_settime(timer, 0, &often, NULL);
    sleep_burst = SLEEP_MASKED;
    struct pollfd ready = {.fd = ends[0], .events = POLLIN};
    CHECK(poll(&ready, 1, 5000) == 1); /* blocked by the program: stays so */
    sleep_burst = 0;
    CHECK((signals_blocked() & 1ull << (SIGPROF - 1)) != 0);
    timer_settime(timer, 0, &never, NULL);
    timer_delete(timer);
    pthread_join(writer, NULL);
    pthread_sigmask(SIG_UNBLOCK, &other, NULL);
    close(ends[0]);
    close(ends[1]);
}

/* In a call, ours is blocked in the kernel's mask and in one that is passed on; and is never among
 * the signals that are waited for. */
static void check_sets(void) {
    struct timespec short_time = {0, 3000000};
    struct sigaction action = {.sa_handler = on_tick};
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigaction(SIGPROF, &action, NULL);
    for (unsigned i = 0; i < 3; i++) {
        ticks = 0;
        sleep_burst = SLEEP_MASKED;
        CHECK(syscall(SYS_getpid) == getpid());
        timer_t timer;
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
        struct itimerspec soon = {{0, 0}, {0, 1000000}};
        CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
        timer_settime(timer, 0, &soon, NULL);
        errno = 0;
        if (i == 0)
            CHECK(ppoll(NULL, 0, &short_time, &none) == 0);
        else if (i == 1)
            CHECK(pselect(0, NULL, NULL, NULL, &short_time, &none) == 0);
        else
            CHECK(sigtimedwait(&all, NULL, &short_time) == -1 && errno == EAGAIN);
        CHECK_UINT(ticks, 1);
        CHECK_UINT(sleep_masked, 0);
        CHECK_UINT(signals_blocked(), 0);
        timer_delete(timer);
    }
    sleep_burst = 0;
}

static void test_masked(void) {
    masked = dozed = announced = 0;
    sleep_burst = SLEEP_MASKED | SLEEP_NEXT;
    check_calls();
    sleep_burst = 0;
    CHECK_UINT(announced, 0);
    CHECK_UINT(dozed, masked);
    CHECK_UINT(masked, MASKED_OF_ALL); /* read, too; but of syscall() what is known to sleep only */
    CHECK_UINT(signals_blocked(), 0);
    check_sets();
    check_blocked_before();
}

#if defined(__x86_64__)

/* Those of check_calls that may be: of the ones that ask for a mask only. */
#define OPEN_OF_CALLS 8u

static void test_open(void) {
    masked = dozed = announced = left = 0;
    sleep_burst = SLEEP_MASKED;
    opens = true;
    check_calls();
    CHECK_UINT(left, OPEN_OF_CALLS);
    CHECK_UINT(masked + left, MASKED_OF_ALL);
    CHECK_UINT(dozed, masked);
    CHECK_UINT(announced, 0);
    CHECK_UINT(context.open_call.call, 0);
    opens = false;
    sleep_burst = 0;
}

#else

static void test_open(void) {} /* none is */

#endif

#define STARTS 4u

static void start_some(void) {
    char name[] = "true", *argv[] = {name, NULL}, *environment[] = {NULL};
    int status;
    pid_t pid;
    errno = 0;
    CHECK(execl("/nobody/at/all", "a", "b", "c", "d", "e", "f", "g", (char *)NULL) == -1);
    CHECK(errno == ENOENT);
    CHECK(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environment) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    pid = vfork();
    if (pid == 0)
        _exit(3);
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
    CHECK(syscall(SYS_execve, "/nobody/at/all", argv, environment) == -1 && errno == ENOENT);
    CHECK(syscall(SYS_getpid) == getpid());
}

/* What begins a process or a program asks for our signal, if a call has it blocked. */
static void test_starters(void) {
    opened = 0;
    start_some();
    CHECK_UINT(opened, 0);
    sleep_masked = 1;
    start_some();
    CHECK_UINT(opened, STARTS);
    sleep_masked = 0;
}

/* ---- locks ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t of_c11;
static sem_t is_taken, may_leave;

static void *hold_for_writing(void *unused) {
    pthread_mutex_lock(&mutex);
    mtx_lock(&of_c11);
    pthread_rwlock_wrlock(&shared);
    sem_post(&is_taken);
    sem_wait(&may_leave);
    pthread_rwlock_unlock(&shared);
    mtx_unlock(&of_c11);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *hold_for_reading(void *unused) {
    pthread_rwlock_rdlock(&shared);
    sem_post(&is_taken);
    sem_wait(&may_leave);
    pthread_rwlock_unlock(&shared);
    return unused;
}

static const struct timespec past = {1, 0};

static int timed_mutex(void) {
    return pthread_mutex_timedlock(&mutex, &past);
}
static int clock_mutex(void) {
    return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past);
}
static int leave_mutex(void) {
    return pthread_mutex_unlock(&mutex);
}
static int timed_c11(void) {
    return mtx_timedlock(&of_c11, &past) == thrd_success ? 0 : ETIMEDOUT;
}
static int leave_c11(void) {
    return mtx_unlock(&of_c11);
}
static int timed_read(void) {
    return pthread_rwlock_timedrdlock(&shared, &past);
}
static int clock_read(void) {
    return pthread_rwlock_clockrdlock(&shared, CLOCK_MONOTONIC, &past);
}
static int timed_write(void) {
    return pthread_rwlock_timedwrlock(&shared, &past);
}
static int clock_write(void) {
    return pthread_rwlock_clockwrlock(&shared, CLOCK_MONOTONIC, &past);
}
static int leave_shared(void) {
    return pthread_rwlock_unlock(&shared);
}

enum { MUTEXES, READS, WRITES, WAYS };

static const struct {
    int way;
    int (*take)(void), (*leave)(void);
} timed[] = {
    {MUTEXES, timed_mutex, leave_mutex}, {MUTEXES, clock_mutex, leave_mutex},
    {MUTEXES, timed_c11, leave_c11},     {READS, timed_read, leave_shared},
    {READS, clock_read, leave_shared},   {WRITES, timed_write, leave_shared},
    {WRITES, clock_write, leave_shared},
};

/* Of each way in, its answer: whoever has to wait is masked. */
static void check_answers(const int answers[WAYS]) {
    for (size_t i = 0; i < sizeof timed / sizeof *timed; i++) {
        masked = 0;
        int answer = timed[i].take();
        CHECK_UINT(masked, answers[timed[i].way] != 0);
        CHECK(answer == answers[timed[i].way]);
        if (answer == 0)
            timed[i].leave();
    }
}

static void check_held(void *(*hold)(void *), const int answers[WAYS]) {
    pthread_t holder;
    sleep_burst = 0;
    CHECK(sem_init(&is_taken, 0, 0) == 0 && sem_init(&may_leave, 0, 0) == 0);
    pthread_create(&holder, NULL, hold, NULL);
    sem_wait(&is_taken);
    sleep_burst = SLEEP_MASKED;
    check_answers(answers);
    sleep_burst = 0;
    sem_post(&may_leave);
    pthread_join(holder, NULL);
}

/* Locks that nobody has, and those that the thread has itself, are not looked at. */
static void test_locks(void) {
    pthread_mutexattr_t how;
    pthread_mutex_t own;
    CHECK(mtx_init(&of_c11, mtx_timed) == thrd_success);
    context.tid = gettid();
    sleep_burst = SLEEP_MASKED;
    check_answers((const int[WAYS]){0, 0, 0});
    masked = 0;
    CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_rwlock_rdlock(&shared) == 0 && pthread_rwlock_unlock(&shared) == 0);
    CHECK(pthread_rwlock_wrlock(&shared) == 0 && pthread_rwlock_unlock(&shared) == 0);
    CHECK(mtx_lock(&of_c11) == thrd_success && mtx_unlock(&of_c11) == thrd_success);
    CHECK_UINT(masked, 0);
    check_held(hold_for_writing, (const int[WAYS]){ETIMEDOUT, ETIMEDOUT, ETIMEDOUT});
    check_held(hold_for_reading, (const int[WAYS]){0, 0, ETIMEDOUT});
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&own, &how);
    masked = 0;
    sleep_burst = SLEEP_MASKED;
    CHECK(pthread_mutex_lock(&own) == 0 && pthread_mutex_lock(&own) == 0);
    CHECK(pthread_mutex_unlock(&own) == 0 && pthread_mutex_unlock(&own) == 0);
    sleep_burst = 0;
    CHECK_UINT(masked, 0);
}

/* A call of a handler that has interrupted another one knows that. */
static void test_nested(void) {
    sleep_burst = SLEEP_MASKED;
    sleep_masked = 1;
    poll(NULL, 0, 1);
    CHECK_UINT(sleep_masked, 1);
    sleep_masked = 0;
    poll(NULL, 0, 1);
    CHECK_UINT(sleep_masked, 0);
    sleep_burst = 0;
}

int main(void) {
    test_announced(); /* the first calls of all find no function looked up yet */
    CHECK(!sleep_is_sleeper((uintptr_t)main));
    sleep_start();
    test_announced();
    test_fragile();
    test_next();
    test_watched();
    test_timed();
    test_short();
    test_masked();
    test_open();
    test_locks();
    test_nested();
    test_starters();
    CHECK(!sleep_is_sleeper((uintptr_t)main));
    CHECK(!sleep_is_sleeper((uintptr_t)poll)); /* the stub */
    CHECK(!sleep_is_sleeper(0));
    void *libc = dlopen("libc.so.6", RTLD_LAZY);
    CHECK(libc != NULL && sleep_is_sleeper((uintptr_t)dlsym(libc, "poll")));
    CHECK(sleep_is_sleeper((uintptr_t)dlsym(libc, "recvmsg")));
    CHECK(!sleep_is_sleeper((uintptr_t)dlsym(libc, "read"))); /* no signal does harm to it */
    return check_report();
}

#else

int main(void) {
    return 77;
}

#endif

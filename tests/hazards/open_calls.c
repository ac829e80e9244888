/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * open_calls.c - functions that have been quick for long, whose next call sleeps: transfers that
 * wait for their other end, waits for a time, and calls that a handler of the program's own ends,
 * leaves, or works in. What each gives is as without anybody.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define QUICK    40
#define TIMES    12
#define BYTES    (1 << 20) /* more than a socket takes at once */
#define WAIT_MS  30
#define PAUSE_NS 6000000

static char *given, *taken;
static int ends[2];

static void fail(const char *what, long got, long wanted) {
    printf("%s: %ld for %ld (%s)\n", what, got, wanted, strerror(errno));
}

static long ms_since(const struct timespec *then) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - then->tv_sec) * 1000 + (now.tv_nsec - then->tv_nsec) / 1000000;
}

/* ---- transfers ---- */

static void *take_slowly(void *arg) {
    const struct timespec pause = {0, PAUSE_NS};
    long bytes = 0, n = 1;
    (void)arg;
    nanosleep(&pause, NULL);
    while (bytes < BYTES && (n = recv(ends[1], taken + bytes, BYTES / 3, 0)) > 0) {
        bytes += n;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static long by_write(long bytes) {
    return write(ends[0], given, (size_t)bytes);
}
static long by_send(long bytes) {
    return send(ends[0], given, (size_t)bytes, 0);
}
static long by_sendto(long bytes) {
    return sendto(ends[0], given, (size_t)bytes, 0, NULL, 0);
}
static struct iovec parts[3];
static int cut_up(long bytes) {
    long first = bytes / 5, second = bytes / 7;
    parts[0] = (struct iovec){given, (size_t)first};
    parts[1] = (struct iovec){given + first, (size_t)second};
    parts[2] = (struct iovec){given + first + second, (size_t)(bytes - first - second)};
    return 3;
}
static long by_writev(long bytes) {
    return writev(ends[0], parts, cut_up(bytes));
}
static long by_sendmsg(long bytes) {
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)cut_up(bytes)};
    return sendmsg(ends[0], &message, 0);
}

static void transfer(const char *name, long (*make)(long)) {
    pthread_t taker;
    for (int i = 0; i < QUICK; i++) {
        errno = 0;
        if (make(8) != 8 || recv(ends[1], taken, 8, MSG_WAITALL) != 8)
            fail(name, -1, 8);
    }
    memset(taken, 0, BYTES);
    pthread_create(&taker, NULL, take_slowly, NULL);
    errno = 77;
    long made = make(BYTES);
    if (made != BYTES || errno != 77)
        fail(name, made, BYTES);
    if (made < BYTES)
        shutdown(ends[0], SHUT_WR);
    pthread_join(taker, NULL);
    if (memcmp(given, taken, BYTES) != 0)
        printf("%s: the other end has other bytes\n", name);
}

static void transfers(void) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return;
    for (int i = 0; i < BYTES; i++)
        given[i] = (char)(i * 7 + i / 251);
    for (int i = 0; i < TIMES; i++) {
        transfer("write", by_write);
        transfer("send", by_send);
        transfer("sendto", by_sendto);
        transfer("writev", by_writev);
        transfer("sendmsg", by_sendmsg);
    }
}

/* ---- several messages ---- */

#define MESSAGES 4

static void *send_slowly(void *arg) {
    const struct timespec pause = {0, PAUSE_NS};
    (void)arg;
    for (int i = 0; i < MESSAGES + 1; i++) {
        nanosleep(&pause, NULL);
        if (send(ends[0], "m", 1, 0) != 1)
            fail("send of a message", -1, 1);
    }
    return NULL;
}

/* All of them are waited for. */
static void messages(void) {
    struct mmsghdr message[MESSAGES];
    struct iovec one = {taken, 8};
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0)
        return;
    for (int i = 0; i < MESSAGES; i++)
        message[i].msg_hdr = (struct msghdr){.msg_iov = &one, .msg_iovlen = 1};
    for (int i = 0; i < TIMES; i++) {
        pthread_t sender;
        for (int j = 0; j < QUICK; j++)
            if (send(ends[0], "q", 1, 0) != 1 || recvmmsg(ends[1], message, 1, 0, NULL) != 1)
                fail("recvmmsg", -1, 1);
        pthread_create(&sender, NULL, send_slowly, NULL);
        int got = recvmmsg(ends[1], message, MESSAGES, 0, NULL);
        if (got != MESSAGES)
            fail("recvmmsg", got, MESSAGES);
        if (recv(ends[1], taken, 8, 0) != 1)
            fail("recv behind it", -1, 1);
        pthread_join(sender, NULL);
        while (recv(ends[1], taken, 8, MSG_DONTWAIT) == 1)
            continue;
    }
    close(ends[0]);
    close(ends[1]);
}

static void memory(void) {
    int fd = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < QUICK; i++)
        if (read(fd, taken, 8) != 8)
            fail("read", -1, 8);
    for (int i = 0; i < 4 * TIMES; i++) {
        memset(taken, 1, BYTES);
        long got = read(fd, taken, BYTES);
        if (got != BYTES || taken[BYTES - 1] != 0)
            fail("read of memory", got, BYTES);
    }
    close(fd);
}

/* ---- waits for a time ---- */

static sem_t semaphore;
static int epoll;

static int wait_poll(int ms) {
    struct pollfd p = {ends[1], POLLIN, 0};
    return poll(&p, 1, ms);
}
static int wait_ppoll(int ms) {
    struct pollfd p = {ends[1], POLLIN, 0};
    struct timespec t = {0, ms * 1000000l};
    return ppoll(&p, 1, &t, NULL);
}
static int wait_select(int ms) {
    struct timeval t = {0, ms * 1000};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[1], &set);
    return select(ends[1] + 1, &set, NULL, NULL, &t);
}
static int wait_pselect(int ms) {
    struct timespec t = {0, ms * 1000000l};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[1], &set);
    return pselect(ends[1] + 1, &set, NULL, NULL, &t, NULL);
}
static int wait_epoll(int ms) {
    struct epoll_event event;
    return epoll_wait(epoll, &event, 1, ms);
}
static int wait_semaphore(int ms) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ms * 1000000l;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return sem_timedwait(&semaphore, &until) == 0 || errno != ETIMEDOUT ? -1 : 0;
}
static int wait_receive(int ms) {
    char c;
    return recv(ends[1], &c, 1, ms == 0 ? MSG_DONTWAIT : 0) != -1 || errno != EAGAIN ? -1 : 0;
}

static void wait_for(const char *name, int (*make)(int)) {
    struct timespec began;
    for (int i = 0; i < QUICK; i++)
        if (make(0) != 0)
            fail(name, -1, 0);
    clock_gettime(CLOCK_MONOTONIC, &began);
    int got = make(WAIT_MS);
    long took = ms_since(&began);
    if (got != 0)
        fail(name, got, 0);
    if (took < WAIT_MS - 1)
        fail(name, took, WAIT_MS);
}

static void waits(void) {
    struct timeval limit = {0, WAIT_MS * 1000};
    struct epoll_event event = {.events = EPOLLIN};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || sem_init(&semaphore, 0, 0) != 0)
        return;
    setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &event);
    for (int i = 0; i < TIMES; i++) {
        wait_for("poll", wait_poll);
        wait_for("ppoll", wait_ppoll);
        wait_for("select", wait_select);
        wait_for("pselect", wait_pselect);
        wait_for("epoll_wait", wait_epoll);
        wait_for("sem_timedwait", wait_semaphore);
        wait_for("recv with a limit", wait_receive);
    }
}

/* A terminal has a timeout of its own. */
static void terminal(void) {
    int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
    struct termios mode;
    struct timespec began;
    char c;
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
        (slave = open(ptsname(master), O_RDWR | O_NOCTTY)) < 0 || tcgetattr(slave, &mode) != 0)
        return;
    cfmakeraw(&mode);
    mode.c_cc[VMIN] = 0;
    mode.c_cc[VTIME] = 1; /* tenths of a second */
    tcsetattr(slave, TCSANOW, &mode);
    for (int i = 0; i < TIMES; i++) {
        for (int j = 0; j < QUICK; j++)
            if (write(master, "t", 1) != 1 || read(slave, &c, 1) != 1)
                fail("read of a terminal", -1, 1);
        clock_gettime(CLOCK_MONOTONIC, &began);
        long got = read(slave, &c, 1), took = ms_since(&began);
        if (got != 0 || took < 90 || took > 5000)
            fail("read of a terminal without a byte", got, took);
    }
    close(slave);
    close(master);
}

/* ---- handlers of the program's own ---- */

static sigjmp_buf back;
static volatile sig_atomic_t handled;
static volatile int leaves, works;

static void work_for(long ms) {
    struct timespec now, until;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &until);
    until.tv_nsec += ms * 1000000;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec < until.tv_sec + until.tv_nsec / 1000000000 &&
           (now.tv_sec - until.tv_sec) * 1000000000 + now.tv_nsec < until.tv_nsec);
}

static void handle(int number) {
    char c = 'x';
    (void)number;
    handled = 1;
    if (works) {
        work_for(10);
        if (write(ends[0], &c, 1) != 1)
            handled = 2;
    }
    if (leaves)
        siglongjmp(back, 1);
}

static void read_with_alarm(int flags, int leave, int work) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
    struct itimerval alarm = {{0, 0}, {0, WAIT_MS * 1000}};
    char c;
    for (int i = 0; i < QUICK; i++)
        if (write(ends[0], "y", 1) != 1 || read(ends[1], &c, 1) != 1)
            fail("read", -1, 1);
    sigaction(SIGALRM, &action, NULL);
    handled = 0, leaves = leave, works = work;
    if (sigsetjmp(back, 1) == 0) {
        setitimer(ITIMER_REAL, &alarm, NULL);
        errno = 0;
        long got = read(ends[1], &c, 1), wanted = (flags & SA_RESTART) != 0 ? 1 : -1;
        if (got != wanted || (wanted < 0 && errno != EINTR) || leave)
            fail("read with an alarm", got, wanted);
    }
    if (handled != 1)
        fail("alarms", handled, 1);
}

/* One that has written something is not made again, even by SA_RESTART. */
static void write_with_alarm(void) {
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    const struct itimerval alarm = {{0, 5000}, {0, WAIT_MS * 1000}}, never = {{0, 0}, {0, 0}};
    int pipe_ends[2];
    char c;
    if (pipe(pipe_ends) != 0)
        return;
    for (int i = 0; i < QUICK; i++)
        if (write(pipe_ends[1], "w", 1) != 1 || read(pipe_ends[0], &c, 1) != 1)
            fail("write", -1, 1);
    leaves = works = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &alarm, NULL);
    long made = write(pipe_ends[1], given, BYTES);
    setitimer(ITIMER_REAL, &never, NULL);
    if (made <= 0 || made >= BYTES)
        fail("write with an alarm", made, 65536);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static void handlers(void) {
    struct timeval none = {0, 0};
    char c;
    setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
    for (int i = 0; i < TIMES; i++) {
        read_with_alarm(0, 0, 0);
        read_with_alarm(SA_RESTART, 0, 1);
        read_with_alarm(SA_RESTART, 1, 0);
        read_with_alarm(0, 1, 1);
        write_with_alarm();
        while (recv(ends[1], &c, 1, MSG_DONTWAIT) == 1)
            continue;
    }
}

/* ---- threads that are cancelled ---- */

static void note_end(void *arg) {
    *(int *)arg = 1;
    work_for(2);
}

static void *read_for_ever(void *arg) {
    char c;
    pthread_cleanup_push(note_end, arg);
    for (int i = 0; i < QUICK; i++)
        if (write(ends[0], "z", 1) != 1 || read(ends[1], &c, 1) != 1)
            fail("read", -1, 1);
    (void)!read(ends[1], &c, 1);
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancel(void) {
    const struct timespec pause = {0, 2 * PAUSE_NS};
    for (int i = 0; i < TIMES; i++) {
        pthread_t reader;
        void *result;
        int ended = 0;
        char c;
        while (recv(ends[1], &c, 1, MSG_DONTWAIT) == 1) /* the last one was cancelled before that */
            continue;
        pthread_create(&reader, NULL, read_for_ever, &ended);
        nanosleep(&pause, NULL);
        pthread_cancel(reader);
        pthread_join(reader, &result);
        if (result != PTHREAD_CANCELED || !ended)
            printf("a thread was not cancelled in a read\n");
    }
}

int main(void) {
    given = malloc(BYTES);
    taken = malloc(BYTES);
    if (given == NULL || taken == NULL)
        return 1;
    transfers();
    messages();
    memory();
    waits();
    terminal();
    handlers();
    cancel();
    printf("done\n");
    return 0;
}

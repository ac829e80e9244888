/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * transfer_test.c - writes that a signal has cut short: the rest is made at their end, as the
 * kernel would have gone on.
 *
 * The stubs are part of this program, and its own calls go through them.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/agent/sleep_stubs.h"
#include "tests/check.h"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

static char whole[1 << 20];

static struct iovec parts[3] = {{whole, 1000}, {whole + 1000, 400001}, {whole + 401001, 0}};

static ssize_t by_send(int fd) {
    return send(fd, whole, sizeof whole, 0);
}

static ssize_t by_write(int fd) {
    return write(fd, whole, sizeof whole);
}

static ssize_t by_writev(int fd) {
    return writev(fd, parts, 3);
}

static ssize_t by_sendmsg(int fd) {
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
    return sendmsg(fd, &message, 0);
}

static char sent[sizeof whole];

struct taker {
    int fd;
    size_t bytes; /* that it takes */
    bool closes;  /* the connection is reset then */
};

static void *take(void *arg) {
    const struct taker *taker = arg;
    size_t bytes = 0;
    while (sem_wait(&was_cut) != 0)
        continue;
    while (bytes < taker->bytes)
        bytes += (size_t)read(taker->fd, sent + bytes, taker->bytes - bytes);
    const struct linger reset = {1, 0};
    if (taker->closes) {
        setsockopt(taker->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        close(taker->fd);
    }
    return NULL;
}

static bool connect_to(int pair[2]) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), room = 100000;
    pair[0] = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    bool connects = bind(listener, (struct sockaddr *)&address, length) == 0 &&
                    listen(listener, 1) == 0 &&
                    getsockname(listener, (struct sockaddr *)&address, &length) == 0 &&
                    connect(pair[0], (struct sockaddr *)&address, length) == 0;
    pair[1] = accept(listener, NULL, NULL);
    close(listener);
    return connects && pair[1] >= 0;
}

/* The call writes a part, as if a signal had cut it, and is finished while others take it. */
static ssize_t cut(int pair[2], ssize_t (*make)(int), size_t bytes, bool closes) {
    struct taker taker = {pair[1], bytes, closes};
    pthread_t thread;
    masked = left = 0;
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    waits_from_now = pair[0];
    pthread_create(&thread, NULL, take, &taker);
    errno = 77;
    cuts = true;
    ssize_t made = make(pair[0]);
    CHECK_UINT(errno, 77);
    CHECK_UINT(left, 1);
    CHECK_UINT(masked, 1);
    cuts = false;
    waits_from_now = -1;
    pthread_join(thread, NULL);
    CHECK_UINT(signals_blocked(), 0);
    return made;
}

static void check_cut(ssize_t (*make)(int), bool tcp) {
    int pair[2];
    CHECK(tcp ? connect_to(pair) : socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    memset(sent, 0, sizeof sent);
    CHECK_UINT(cut(pair, make, sizeof whole, false), sizeof whole);
    CHECK(memcmp(sent, whole, sizeof sent) == 0);
    close(pair[0]);
    close(pair[1]);
}

/* What was done is the result, and the next call has the error. (Nothing is taken before: there is
 * never room, so that the rest is not under way when the reset comes.) */
static void check_reset(ssize_t (*make)(int)) {
    int pair[2];
    CHECK(connect_to(pair));
    ssize_t made = cut(pair, make, 0, true);
    CHECK(made > 0 && made < (ssize_t)sizeof whole);
    opens = false;
    CHECK(send(pair[0], "", 1, MSG_NOSIGNAL) == -1 && errno == ECONNRESET);
    opens = true;
    close(pair[0]);
}

static volatile sig_atomic_t alarms;

static void count_alarm(int number) {
    (void)number;
    alarms++;
}

/* A handler of the program's ends it, though the call would be made again if nothing were done. */
static void check_ended(int pair[2], ssize_t (*make)(int)) {
    const struct sigaction action = {.sa_handler = count_alarm, .sa_flags = SA_RESTART};
    const struct itimerval soon = {{0, 50000}, {0, 50000}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    alarms = 0;
    setitimer(ITIMER_REAL, &soon, NULL);
    ssize_t made = cut(pair, make, 0, false);
    setitimer(ITIMER_REAL, &never, NULL);
    CHECK(made > 0 && made < (ssize_t)sizeof whole);
    CHECK(alarms > 0);
    signal(SIGALRM, SIG_DFL);
    close(pair[0]);
    close(pair[1]);
}

static void check_handlers(void) {
    int pair[2];
    ssize_t (*const ways[])(int) = {by_send, by_write, by_writev, by_sendmsg};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        check_ended(pair, ways[i]);
    }
    for (size_t i = 1; i < 3; i++) {
        int ends[2];
        CHECK(pipe(ends) == 0);
        pair[0] = ends[1], pair[1] = ends[0];
        check_ended(pair, ways[i]);
        CHECK(pipe(ends) == 0);
        pair[0] = ends[1], pair[1] = ends[0];
        CHECK_UINT(cut(pair, ways[i], sizeof whole, false), sizeof whole);
        close(pair[0]);
        close(pair[1]);
    }
}

/* One that does not wait is short by itself. */
static void check_not_waiting(void) {
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    masked = 0;
    cuts = true;
    ssize_t made = by_send(pair[0]);
    cuts = false;
    CHECK(made > 0 && made < (ssize_t)sizeof whole);
    CHECK_UINT(masked, 0);
    close(pair[0]);
    close(pair[1]);
}

/* A file ends short at its limit, whatever signal comes. */
static void check_limit(void) {
    const struct rlimit limit = {4096, RLIM_INFINITY};
    struct rlimit before;
    FILE *file = tmpfile();
    CHECK(file != NULL && getrlimit(RLIMIT_FSIZE, &before) == 0);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    masked = 0;
    cuts = true;
    CHECK(write(fileno(file), whole, 8192) == 4096);
    cuts = false;
    CHECK_UINT(masked, 0);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    fclose(file);
}

int main(void) {
    sleep_start();
    sleep_burst = SLEEP_MASKED;
    opens = true;
    parts[2].iov_len = sizeof whole - 401001;
    for (size_t i = 0; i < sizeof whole; i++)
        whole[i] = (char)(i * 7 + i / 251);
    CHECK(sem_init(&was_cut, 0, 0) == 0);
    for (int tcp = 0; tcp < 2; tcp++) {
        check_cut(by_send, tcp);
        check_cut(by_write, tcp);
        check_cut(by_writev, tcp);
        check_cut(by_sendmsg, tcp);
    }
    check_reset(by_send);
    check_reset(by_write);
    check_reset(by_sendmsg);
    check_handlers();
    check_not_waiting();
    check_limit();
    return check_report();
}

#else

int main(void) {
    return 77; /* no call is open elsewhere; the sanitizers have functions of their own */
}

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleeper_event.c - calls that end because of something that another thread, another process or a
 * signal does.
 */
#include "tests/targets/sleeper.h"
#include "tests/targets/sleeper_later.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG 10000 /* ms, more than any of these takes */

static int ends[2]; /* of a pipe or a socket pair: [0] is waited for */
static pthread_t main_thread;

static void feed(void) {
    if (write(ends[1], "x", 1) != 1)
        abort();
}

static void send_signal(void) {
    pthread_kill(main_thread, SIGUSR1);
}

static void on_signal(int number) {
    (void)number;
}

static void expect_signal(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    main_thread = pthread_self();
    sigaction(SIGUSR1, &action, NULL);
    begin_later(send_signal, true);
}

static void open_pipe(void) {
    if (pipe(ends) != 0)
        abort();
}

static void open_sockets(void) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        abort();
}

static void close_ends(void) {
    int saved = errno;
    close(ends[0]);
    close(ends[1]);
    errno = saved;
}

/* ---- ended by somebody else ---- */

static long poll_data(void) {
    open_pipe();
    struct pollfd fd = {.fd = ends[0], .events = POLLIN};
    begin_later(feed, false);
    long result = poll(&fd, 1, LONG);
    end_later(false);
    close_ends();
    return fd.revents == POLLIN ? result : 1000;
}

static long epoll_data(void) {
    open_pipe();
    struct epoll_event event = {.events = EPOLLIN};
    int fd = epoll_create1(0);
    epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &event);
    begin_later(feed, false);
    long result = epoll_wait(fd, &event, 1, -1);
    end_later(false);
    close_ends();
    close(fd);
    return result;
}

static long select_data(void) {
    fd_set set;
    open_pipe();
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    begin_later(feed, false);
    long result = select(ends[0] + 1, &set, NULL, NULL, NULL);
    end_later(false);
    close_ends();
    return result;
}

static long read_data(void) {
    char byte;
    open_pipe();
    begin_later(feed, false);
    long result = read(ends[0], &byte, 1);
    end_later(false);
    close_ends();
    return result;
}

static long readv_data(void) {
    char byte;
    struct iovec part = {&byte, 1};
    open_pipe();
    begin_later(feed, false);
    long result = readv(ends[0], &part, 1);
    end_later(false);
    close_ends();
    return result;
}

static long recv_data(void) {
    char byte;
    struct timeval time = {LONG / 1000, 0};
    open_sockets();
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    begin_later(feed, false);
    long result = recv(ends[0], &byte, 1, 0);
    end_later(false);
    close_ends();
    return result;
}

/* Four bytes, one at a time: all of them, or none. */
static void feed_four(void) {
    struct timespec pause_between = sleeper_ms(20);
    for (int i = 0; i < 4; i++) {
        feed();
        nanosleep(&pause_between, NULL);
    }
}

static long recv_all(void) {
    char bytes[4];
    open_sockets();
    begin_later(feed_four, false);
    long result = recv(ends[0], bytes, sizeof bytes, MSG_WAITALL);
    end_later(false);
    close_ends();
    return result;
}

#define MEGABYTE (1 << 20)

static void drain_slowly(void) {
    static char part[MEGABYTE / 16];
    struct timespec pause_between = sleeper_ms(5);
    for (size_t got = 0; got < MEGABYTE;) {
        ssize_t n = read(ends[0], part, sizeof part);
        if (n <= 0)
            return;
        got += (size_t)n;
        nanosleep(&pause_between, NULL);
    }
}

static long write_much(void (*open_ends)(void)) {
    static char text[MEGABYTE];
    open_ends();
    begin_later(drain_slowly, false);
    long result = write(ends[1], text, sizeof text);
    close(ends[1]); /* the reader sees the end, should less have come */
    end_later(false);
    close(ends[0]);
    return result;
}

static long write_pipe(void) {
    return write_much(open_pipe);
}

static long write_socket(void) {
    return write_much(open_sockets);
}

static struct sockaddr_un listener = {.sun_family = AF_UNIX};

static void connect_to_it(void) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    socklen_t length = sizeof listener;
    getsockname(ends[0], (struct sockaddr *)&listener, &length);
    if (connect(fd, (struct sockaddr *)&listener, length) != 0)
        abort();
    close(fd);
}

static long accept_one(void) {
    ends[0] = socket(AF_UNIX, SOCK_STREAM, 0);
    ends[1] = -1;
    bind(ends[0], (struct sockaddr *)&listener, sizeof(sa_family_t)); /* a name of its own */
    listen(ends[0], 1);
    begin_later(connect_to_it, false);
    int fd = accept(ends[0], NULL, NULL);
    end_later(false);
    close(fd);
    close(ends[0]);
    return fd >= 0 ? 0 : -1;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;

static void *hold_mutex(void *unused) {
    struct timespec event = sleeper_ms(2 * SLEEPER_EVENT);
    pthread_mutex_lock(&mutex);
    sem_post(&semaphore);
    nanosleep(&event, NULL);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static long mutex_lock(void) {
    pthread_t thread;
    sem_init(&semaphore, 0, 0);
    pthread_create(&thread, NULL, hold_mutex, NULL);
    sem_wait(&semaphore);
    long result = pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return result;
}

static void post(void) {
    sem_post(&semaphore);
}

static long sem_wait_post(void) {
    sem_init(&semaphore, 0, 0);
    begin_later(post, false);
    long result = sem_wait(&semaphore);
    end_later(false);
    return result;
}

static int ipc;

static void up(void) {
    struct sembuf up = {0, 1, 0};
    semop(ipc, &up, 1);
}

static long semop_up(void) {
    struct sembuf down = {0, -1, 0};
    ipc = semget(IPC_PRIVATE, 1, 0600);
    begin_later(up, false);
    long result = semop(ipc, &down, 1);
    end_later(false);
    semctl(ipc, 0, IPC_RMID);
    return result;
}

struct message {
    long type;
    char text[8];
};

static void send_message(void) {
    struct message message = {1, "hello"};
    msgsnd(ipc, &message, sizeof message.text, 0);
}

static long msgrcv_one(void) {
    struct message message;
    ipc = msgget(IPC_PRIVATE, 0600);
    begin_later(send_message, false);
    long result = msgrcv(ipc, &message, sizeof message.text, 0, 0);
    end_later(false);
    msgctl(ipc, IPC_RMID, NULL);
    return result;
}

static long wait_child(void) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        struct timespec event = sleeper_ms(SLEEPER_EVENT);
        nanosleep(&event, NULL);
        _exit(7);
    }
    long result = wait4(child, &status, 0, NULL);
    return result == child ? WEXITSTATUS(status) : -1;
}

static void unlock_file(void) {
    flock(ends[1], LOCK_UN);
}

static long flock_file(void) {
    ends[0] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ends[1] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    flock(ends[1], LOCK_EX);
    begin_later(unlock_file, false);
    long result = flock(ends[0], LOCK_EX);
    end_later(false);
    close_ends();
    return result;
}

/* ---- ended by a signal of this program ---- */

static long pause_signal(void) {
    expect_signal();
    long result = pause();
    end_later(true);
    return result;
}

static long sigsuspend_signal(void) {
    sigset_t none;
    sigemptyset(&none);
    expect_signal();
    long result = sigsuspend(&none);
    end_later(true);
    return result;
}

static long poll_signal(void) {
    expect_signal();
    long result = poll(NULL, 0, LONG);
    end_later(true);
    return result;
}

static long nanosleep_signal(void) {
    struct timespec time = sleeper_ms(LONG), rest = {0, 0};
    expect_signal();
    long result = nanosleep(&time, &rest);
    end_later(true);
    return rest.tv_sec == LONG / 1000 - 1 ? result : 1000;
}

static long sigtimedwait_signal(void) {
    struct timespec time = sleeper_ms(LONG);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    main_thread = pthread_self();
    begin_later(send_signal, false);
    long result = sigtimedwait(&set, NULL, &time) == SIGUSR1 ? 0 : -1;
    end_later(false);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return result;
}

const struct sleeper_test sleeper_by_event[] = {
    {"poll: data", SLEEPER_EVENT, poll_data},
    {"epoll_wait: data", SLEEPER_EVENT, epoll_data},
    {"select: data", SLEEPER_EVENT, select_data},
    {"read: data", SLEEPER_EVENT, read_data},
    {"readv: data", SLEEPER_EVENT, readv_data},
    {"recv: data", SLEEPER_EVENT, recv_data},
    {"recv: all of the data", SLEEPER_EVENT + 60, recv_all},
    {"write to a pipe: all of the data", SLEEPER_EVENT, write_pipe},
    {"write to a socket: all of the data", SLEEPER_EVENT, write_socket},
    {"accept: a connection", SLEEPER_EVENT, accept_one},
    {"pthread_mutex_lock: unlocked", SLEEPER_EVENT, mutex_lock},
    {"sem_wait: posted", SLEEPER_EVENT, sem_wait_post},
    {"semop: raised", SLEEPER_EVENT, semop_up},
    {"msgrcv: a message", SLEEPER_EVENT, msgrcv_one},
    {"wait4: a child", SLEEPER_EVENT, wait_child},
    {"flock: unlocked", SLEEPER_EVENT, flock_file},
    {"pause: signal", SLEEPER_EVENT, pause_signal},
    {"sigsuspend: signal", SLEEPER_EVENT, sigsuspend_signal},
    {"poll: signal", SLEEPER_EVENT, poll_signal},
    {"nanosleep: signal", SLEEPER_EVENT, nanosleep_signal},
    {"sigtimedwait: signal", SLEEPER_EVENT, sigtimedwait_signal},
    {NULL, 0, NULL},
};

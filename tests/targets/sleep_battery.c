/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep_battery.c - every call that sleeps, each the only one of two threads: one that does nothing
 * else, and one that writes to /dev/null in between.
 *
 * Prints the elapsed time of each thread but for forks, as "NANOSECONDS FUNCTION", and that of the
 * sleeps of its children. The functions are alone_... and beside_... with the name of the call.
 *
 *   usage: sleep_battery SECONDS [NAME]
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAP_MS 90
#define NAP_NS (NAP_MS * 1000000l)

static double seconds;
static int null_fd;
static volatile unsigned sink;
static _Atomic uint64_t *children_ns; /* shared with children */

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void must(bool so) {
    if (!so)
        abort();
}

/* What one thread waits with, and the thread that ends its waits. */
struct waiter {
    void (*nap)(struct waiter *waiter);
    void (*wake)(struct waiter *waiter); /* every NAP_MS; NULL: time ends the nap */
    void (*open)(struct waiter *waiter);
    bool writes;
    _Atomic bool over;
    pthread_t thread, waker;
    int fd, other; /* which of them is waited for */
    int ipc;
    uint32_t word;
    mqd_t queue;
    sem_t semaphore, taken;
    pthread_mutex_t mutex;
    struct sockaddr_un address;
    char path[64];
    aio_context_t events;
    uint64_t ns, forks_ns; /* forks are no part of the other */
    const char *name;
    void *(*function)(void *);
};

/* ---- ended by time ---- */

static void nap_nanosleep(struct waiter *w) {
    struct timespec time = {0, NAP_NS};
    (void)w;
    must(nanosleep(&time, NULL) == 0);
}

static void nap_nanosleep_own_rest(struct waiter *w) {
    struct timespec time = {0, NAP_NS};
    (void)w;
    must(nanosleep(&time, &time) == 0 && time.tv_nsec == NAP_NS);
}

static void nap_clock_nanosleep(struct waiter *w) {
    struct timespec time = {0, NAP_NS};
    (void)w;
    must(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == 0);
}

static struct timespec later(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += NAP_NS;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

static void nap_clock_nanosleep_until(struct waiter *w) {
    struct timespec time = later(CLOCK_MONOTONIC);
    (void)w;
    must(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == 0);
}

static void nap_usleep(struct waiter *w) {
    (void)w;
    must(usleep(NAP_NS / 1000) == 0);
}

static void nap_sleep(struct waiter *w) {
    (void)w;
    must(sleep(1) == 0);
}

static void nap_poll(struct waiter *w) {
    (void)w;
    must(poll(NULL, 0, NAP_MS) == 0);
}

static void nap_ppoll(struct waiter *w) {
    struct timespec time = {0, NAP_NS};
    sigset_t none;
    (void)w;
    sigemptyset(&none);
    must(ppoll(NULL, 0, &time, &none) == 0);
}

static void nap_select(struct waiter *w) {
    struct timeval time = {0, NAP_NS / 1000};
    (void)w;
    must(select(0, NULL, NULL, NULL, &time) == 0);
}

static void nap_pselect(struct waiter *w) {
    struct timespec time = {0, NAP_NS};
    sigset_t none;
    (void)w;
    sigemptyset(&none);
    must(pselect(0, NULL, NULL, NULL, &time, &none) == 0);
}

static void nap_sigtimedwait(struct waiter *w) {
    struct timespec time = {0, NAP_NS};
    sigset_t set;
    (void)w;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    must(sigtimedwait(&set, NULL, &time) == -1 && errno == EAGAIN);
}

static void open_mutex(struct waiter *w) {
    pthread_mutex_init(&w->mutex, NULL);
    sem_init(&w->semaphore, 0, 0);
    sem_init(&w->taken, 0, 0);
}

static void nap_cond_timedwait(struct waiter *w) {
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec time = later(CLOCK_REALTIME);
    pthread_mutex_lock(&w->mutex);
    while (pthread_cond_timedwait(&never, &w->mutex, &time) == 0)
        ;
    pthread_mutex_unlock(&w->mutex);
}

static void nap_futex(struct waiter *w) {
    struct timespec time = {0, NAP_NS};
    must(syscall(SYS_futex, &w->word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0) == -1 &&
         errno == ETIMEDOUT);
}

static void open_events(struct waiter *w) {
    if (syscall(SYS_io_setup, 1, &w->events) != 0)
        w->events = 0; /* not in this kernel */
}

static void nap_io_getevents(struct waiter *w) {
    struct timespec time = {0, NAP_NS};
    struct io_event event;
    if (w->events == 0)
        nap_nanosleep(w);
    else
        must(syscall(SYS_io_getevents, w->events, 1, 1, &event, &time) == 0);
}

/* ---- ended by data ---- */

static void open_pipe(struct waiter *w) {
    int ends[2];
    must(pipe(ends) == 0);
    w->fd = ends[0];
    w->other = ends[1];
}

static void open_sockets(struct waiter *w) {
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    w->fd = ends[0];
    w->other = ends[1];
}

static void feed(struct waiter *w) {
    must(write(w->other, "x", 1) == 1 || w->over);
}

static void nap_read(struct waiter *w) {
    char byte;
    must(read(w->fd, &byte, 1) == 1);
}

static void nap_recv(struct waiter *w) {
    char byte;
    must(recv(w->fd, &byte, 1, 0) == 1);
}

static void nap_recv_all(struct waiter *w) {
    char bytes[2];
    must(recv(w->fd, bytes, sizeof bytes, MSG_WAITALL) == sizeof bytes);
}

static void open_epoll(struct waiter *w) {
    struct epoll_event event = {.events = EPOLLIN};
    int ends[2];
    must(pipe(ends) == 0);
    w->ipc = ends[0];
    w->other = ends[1];
    w->fd = epoll_create1(0);
    must(epoll_ctl(w->fd, EPOLL_CTL_ADD, w->ipc, &event) == 0);
}

static void take_byte(struct waiter *w) {
    char byte;
    must(read(w->ipc, &byte, 1) == 1);
}

static void nap_epoll_wait(struct waiter *w) {
    struct epoll_event event;
    must(epoll_wait(w->fd, &event, 1, -1) == 1);
    take_byte(w);
}

static void nap_epoll_pwait(struct waiter *w) {
    struct epoll_event event;
    sigset_t none;
    sigemptyset(&none);
    must(epoll_pwait(w->fd, &event, 1, -1, &none) == 1);
    take_byte(w);
}

/* Ends that are full: more than a page is wanted, less is taken at a time. */
static char much[1 << 18];

static void drain(struct waiter *w) {
    static char part[1 << 16];
    must(read(w->other, part, sizeof part) >= 0);
}

static void open_full_pipe(struct waiter *w) {
    open_pipe(w);
    int end = w->fd;
    w->fd = w->other;
    w->other = end;
}

static void nap_write(struct waiter *w) {
    must(write(w->fd, much, sizeof much) == sizeof much);
}

static void nap_send(struct waiter *w) {
    must(send(w->fd, much, sizeof much, 0) == sizeof much);
}

static void open_listener(struct waiter *w) {
    socklen_t length = sizeof w->address;
    w->address.sun_family = AF_UNIX;
    w->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    must(bind(w->fd, (struct sockaddr *)&w->address, sizeof(sa_family_t)) == 0);
    must(getsockname(w->fd, (struct sockaddr *)&w->address, &length) == 0 && listen(w->fd, 0) == 0);
    w->ipc = (int)length;
}

static void connect_once(struct waiter *w) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&w->address, (socklen_t)w->ipc) != 0 && !w->over)
        abort();
    close(fd);
}

static void accept_once(struct waiter *w) {
    close(accept(w->fd, NULL, NULL));
}

/* ---- ended by another thread ---- */

static void post(struct waiter *w) {
    sem_post(&w->semaphore);
}

static void nap_sem_wait(struct waiter *w) {
    must(sem_wait(&w->semaphore) == 0);
}

/* The waker has the mutex most of the time. */
static void hold(struct waiter *w) {
    struct timespec time = {0, NAP_NS};
    pthread_mutex_lock(&w->mutex);
    sem_post(&w->taken);
    nanosleep(&time, NULL);
    pthread_mutex_unlock(&w->mutex);
    sem_wait(&w->semaphore);
}

static void *hold_once(void *arg) {
    hold(arg);
    return NULL;
}

static void nap_mutex(struct waiter *w) {
    pthread_t holder;
    pthread_create(&holder, NULL, hold_once, w);
    sem_wait(&w->taken);
    pthread_mutex_lock(&w->mutex);
    pthread_mutex_unlock(&w->mutex);
    sem_post(&w->semaphore);
    pthread_join(holder, NULL);
}

static void *be_joined(void *unused) {
    struct timespec time = {0, NAP_NS};
    nanosleep(&time, NULL);
    return unused;
}

static void nap_join(struct waiter *w) {
    pthread_t joined;
    (void)w;
    pthread_create(&joined, NULL, be_joined, NULL);
    pthread_join(joined, NULL);
}

static void open_messages(struct waiter *w) {
    w->ipc = msgget(IPC_PRIVATE, 0600);
    must(w->ipc != -1);
}

static void send_message(struct waiter *w) {
    struct {
        long type;
        char text[4];
    } message = {1, "abc"};
    must(msgsnd(w->ipc, &message, sizeof message.text, 0) == 0);
}

static void nap_msgrcv(struct waiter *w) {
    struct {
        long type;
        char text[4];
    } message;
    must(msgrcv(w->ipc, &message, sizeof message.text, 0, 0) == 4);
}

static void open_semaphore(struct waiter *w) {
    w->ipc = semget(IPC_PRIVATE, 1, 0600);
    must(w->ipc != -1);
}

static void up(struct waiter *w) {
    struct sembuf one = {0, 1, 0};
    must(semop(w->ipc, &one, 1) == 0);
}

static void nap_semop(struct waiter *w) {
    struct sembuf one = {0, -1, 0};
    must(semop(w->ipc, &one, 1) == 0);
}

static void open_queue(struct waiter *w) {
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 1};
    snprintf(w->path, sizeof w->path, "/sleep_battery.%d.%d", getpid(), (int)w->writes);
    w->queue = mq_open(w->path, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    mq_unlink(w->path);
}

static void nap_mq_timedreceive(struct waiter *w) {
    struct timespec time = later(CLOCK_REALTIME);
    char byte;
    if (w->queue == (mqd_t)-1)
        nap_nanosleep(w); /* no message queues here */
    else
        must(mq_timedreceive(w->queue, &byte, 1, NULL, &time) == -1 && errno == ETIMEDOUT);
}

static void open_lock(struct waiter *w) {
    FILE *file = tmpfile();
    must(file != NULL);
    snprintf(w->path, sizeof w->path, "/proc/self/fd/%d", fileno(file));
    w->fd = open(w->path, O_RDWR | O_CLOEXEC);
    w->other = open(w->path, O_RDWR | O_CLOEXEC);
    sem_init(&w->semaphore, 0, 0);
    sem_init(&w->taken, 0, 0);
}

static void *lock_once(void *arg) {
    struct waiter *w = arg;
    struct timespec time = {0, NAP_NS};
    must(flock(w->other, LOCK_EX) == 0);
    sem_post(&w->taken);
    nanosleep(&time, NULL);
    flock(w->other, LOCK_UN);
    return NULL;
}

static void nap_flock(struct waiter *w) {
    pthread_t holder;
    pthread_create(&holder, NULL, lock_once, w);
    sem_wait(&w->taken);
    must(flock(w->fd, LOCK_EX) == 0);
    flock(w->fd, LOCK_UN);
    pthread_join(holder, NULL);
}

static void *lock_range_once(void *arg) {
    struct waiter *w = arg;
    struct timespec time = {0, NAP_NS};
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    must(fcntl(w->other, F_OFD_SETLKW, &lock) == 0);
    sem_post(&w->taken);
    nanosleep(&time, NULL);
    lock.l_type = F_UNLCK;
    fcntl(w->other, F_OFD_SETLK, &lock);
    return NULL;
}

static void nap_fcntl(struct waiter *w) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    pthread_t holder;
    pthread_create(&holder, NULL, lock_range_once, w);
    sem_wait(&w->taken);
    must(fcntl(w->fd, F_OFD_SETLKW, &lock) == 0);
    lock.l_type = F_UNLCK;
    fcntl(w->fd, F_OFD_SETLK, &lock);
    pthread_join(holder, NULL);
}

/* ---- ended by another process ---- */

__attribute__((noinline)) static void child_sleeps(void) {
    struct timespec time = {0, NAP_NS};
    nanosleep(&time, NULL);
    sink++;
}

static void nap_waitpid(struct waiter *w) {
    int status;
    uint64_t began = now_ns();
    pid_t child = fork();
    if (child == 0) {
        began = now_ns();
        child_sleeps();
        atomic_fetch_add(children_ns, now_ns() - began);
        _exit(7);
    }
    w->forks_ns += now_ns() - began;
    must(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
}

/* ---- ended by a signal ---- */

static void on_signal(int number) {
    (void)number;
}

static void send_signal(struct waiter *w) {
    pthread_kill(w->thread, SIGUSR1);
}

static void block_signal(struct waiter *w) {
    sigset_t set;
    (void)w;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void nap_sigwait(struct waiter *w) {
    sigset_t set;
    int number;
    block_signal(w);
    sigfillset(&set);
    must(sigwait(&set, &number) == 0 && number == SIGUSR1);
}

static void nap_sigwaitinfo(struct waiter *w) {
    sigset_t set;
    block_signal(w);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    must(sigwaitinfo(&set, NULL) == SIGUSR1);
}

static void nap_sigsuspend(struct waiter *w) {
    sigset_t none;
    block_signal(w);
    sigemptyset(&none);
    must(sigsuspend(&none) == -1 && errno == EINTR);
}

static void nap_pause(struct waiter *w) {
    (void)w;
    must(pause() == -1 && errno == EINTR);
}

static void *wake_often(void *arg) {
    struct waiter *w = arg;
    struct timespec time = {0, NAP_NS};
    for (nanosleep(&time, NULL); !w->over; nanosleep(&time, NULL))
        w->wake(w);
    return NULL;
}

static inline void waits(struct waiter *w) {
    uint64_t began = now_ns(), end = began + (uint64_t)(seconds * 1e9);
    while (now_ns() < end) {
        w->nap(w);
        if (w->writes)
            must(write(null_fd, "x", 1) == 1);
    }
    w->ns = now_ns() - began - w->forks_ns;
    w->over = true;
}

#define CALLS(F)                                                                                   \
    F(nanosleep, nap_nanosleep, NULL, NULL)                                                        \
    F(nanosleep_own_rest, nap_nanosleep_own_rest, NULL, NULL)                                      \
    F(clock_nanosleep, nap_clock_nanosleep, NULL, NULL)                                            \
    F(clock_nanosleep_until, nap_clock_nanosleep_until, NULL, NULL)                                \
    F(usleep, nap_usleep, NULL, NULL)                                                              \
    F(sleep, nap_sleep, NULL, NULL)                                                                \
    F(poll, nap_poll, NULL, NULL)                                                                  \
    F(ppoll, nap_ppoll, NULL, NULL)                                                                \
    F(select, nap_select, NULL, NULL)                                                              \
    F(pselect, nap_pselect, NULL, NULL)                                                            \
    F(sigtimedwait, nap_sigtimedwait, NULL, NULL)                                                  \
    F(cond_timedwait, nap_cond_timedwait, NULL, open_mutex)                                        \
    F(futex, nap_futex, NULL, NULL)                                                                \
    F(io_getevents, nap_io_getevents, NULL, open_events)                                           \
    F(read, nap_read, feed, open_pipe)                                                             \
    F(recv, nap_recv, feed, open_sockets)                                                          \
    F(recv_all, nap_recv_all, feed, open_sockets)                                                  \
    F(epoll_wait, nap_epoll_wait, feed, open_epoll)                                                \
    F(epoll_pwait, nap_epoll_pwait, feed, open_epoll)                                              \
    F(write, nap_write, drain, open_full_pipe)                                                     \
    F(send, nap_send, drain, open_sockets)                                                         \
    F(accept, accept_once, connect_once, open_listener)                                            \
    F(connect, connect_once, accept_once, open_listener)                                           \
    F(sem_wait, nap_sem_wait, post, open_mutex)                                                    \
    F(mutex_lock, nap_mutex, NULL, open_mutex)                                                     \
    F(join, nap_join, NULL, NULL)                                                                  \
    F(msgrcv, nap_msgrcv, send_message, open_messages)                                             \
    F(semop, nap_semop, up, open_semaphore)                                                        \
    F(mq_timedreceive, nap_mq_timedreceive, NULL, open_queue)                                      \
    F(flock, nap_flock, NULL, open_lock)                                                           \
    F(fcntl, nap_fcntl, NULL, open_lock)                                                           \
    F(waitpid, nap_waitpid, NULL, NULL)                                                            \
    F(sigwait, nap_sigwait, send_signal, NULL)                                                     \
    F(sigwaitinfo, nap_sigwaitinfo, send_signal, NULL)                                             \
    F(sigsuspend, nap_sigsuspend, send_signal, NULL)                                               \
    F(pause, nap_pause, send_signal, NULL)

/* A name of its own for each thread's outermost function. */
#define THREADS(name, nap, wake, open)                                                             \
    __attribute__((noinline)) static void *alone_##name(void *w) {                                 \
        waits(w);                                                                                  \
        sink++;                                                                                    \
        return NULL;                                                                               \
    }                                                                                              \
    __attribute__((noinline)) static void *beside_##name(void *w) {                                \
        waits(w);                                                                                  \
        sink += 2;                                                                                 \
        return NULL;                                                                               \
    }
CALLS(THREADS)

static const struct {
    const char *name;
    void *(*function)(void *);
    void (*nap)(struct waiter *);
    void (*wake)(struct waiter *);
    void (*open)(struct waiter *);
    bool writes;
} threads[] = {
#define ROWS(name, nap, wake, open)                                                                \
    {"alone_" #name, alone_##name, nap, wake, open, false},                                        \
        {"beside_" #name, beside_##name, nap, wake, open, true},
    CALLS(ROWS)};
#define COUNT (sizeof threads / sizeof threads[0])

/* The thread that is signalled goes last; a waker may wait itself. */
static void end(struct waiter *w) {
    while (!w->over)
        usleep(NAP_MS * 1000);
    if (w->open == open_sockets || w->open == open_listener)
        shutdown(w->fd, SHUT_RDWR);
    if (w->open == open_full_pipe)
        close(w->fd);
    if (w->wake != NULL)
        pthread_join(w->waker, NULL);
    pthread_join(w->thread, NULL);
    if (w->open == open_messages)
        msgctl(w->ipc, IPC_RMID, NULL);
    if (w->open == open_semaphore)
        semctl(w->ipc, 0, IPC_RMID);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *pass_gate(void *arg) {
    struct waiter *w = arg;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    void *result = w->function(w);
    sink++;
    return result;
}

/* "2/8": the second of eight parts of all; else those that have it in their names. */
static bool is_asked(unsigned i, const char *asked) {
    unsigned part, parts;
    if (sscanf(asked, "%u/%u", &part, &parts) == 2)
        return i % parts == part - 1;
    return strstr(threads[i].name, asked) != NULL;
}

int main(int argc, char **argv) {
    static struct waiter waiters[COUNT];
    struct sigaction action = {.sa_handler = on_signal};
    if (argc < 2) {
        fprintf(stderr, "usage: sleep_battery SECONDS [NAME|PART/PARTS]\n");
        return 2;
    }
    seconds = atof(argv[1]);
    null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    children_ns =
        mmap(NULL, sizeof *children_ns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(children_ns != MAP_FAILED);
    sigaction(SIGUSR1, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    pthread_mutex_lock(&gate);
    for (unsigned i = 0; i < COUNT; i++) {
        struct waiter *w = &waiters[i];
        if (argc > 2 && !is_asked(i, argv[2]))
            continue;
        *w = (struct waiter){.nap = threads[i].nap,
                             .wake = threads[i].wake,
                             .open = threads[i].open,
                             .writes = threads[i].writes,
                             .name = threads[i].name,
                             .function = threads[i].function};
        if (w->open != NULL)
            w->open(w);
        must(pthread_create(&w->thread, NULL, pass_gate, w) == 0);
        if (w->wake != NULL)
            must(pthread_create(&w->waker, NULL, wake_often, w) == 0);
    }
    sleep(1); /* hcctd makes room for the threads */
    pthread_mutex_unlock(&gate);
    for (unsigned i = 0; i < COUNT; i++)
        if (waiters[i].name != NULL)
            end(&waiters[i]);
    for (unsigned i = 0; i < COUNT; i++)
        if (waiters[i].name != NULL)
            printf("%llu %s\n", (unsigned long long)waiters[i].ns, waiters[i].name);
    printf("%llu child_sleeps\n", (unsigned long long)*children_ns);
    return 0;
}

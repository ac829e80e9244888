/*
 * wrap_sleep_test.c - the stubs before the calls that can sleep: the real functions get their
 * arguments and give their results, and are announced when that is asked for.
 *
 * The stubs are part of this program, so its own calls go through them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/wrap_sleep.h"
#include "tests/check.h"

static unsigned announced;

void trigger_before_sleep(void) {
    char room[256];
    announced++;
    /* what a function may do to registers and stack */
    memset(room, (int)announced, sizeof room);
    __asm__ volatile("" ::"r"(room) : "memory");
#if defined(__x86_64__)
    __asm__ volatile("xor %%eax, %%eax\n mov %%rax, %%rdi\n mov %%rax, %%rsi\n mov %%rax, %%rdx\n"
                     "mov %%rax, %%rcx\n mov %%rax, %%r8\n mov %%rax, %%r9\n mov %%rax, %%r10\n"
                     "mov %%rax, %%r11" ::
                         : "rax", "rdi", "rsi", "rdx", "rcx", "r8", "r9", "r10", "r11");
#endif
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

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

static void test_any(void) {
    pthread_t thread;
    announced = 0;
    check_calls();
    CHECK_UINT(announced, 0);
    sleep_burst = SLEEP_ANY;
    check_calls();
    CHECK_UINT(announced, CALLS);
    announced = 0;
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
    CHECK_UINT(announced, 0);
    sleep_burst = 0;
}

static unsigned announcements_of_fragile(int flags) {
    int pair[2];
    char byte;
    struct timespec time = {0, 1};
    announced = 0;
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    sleep_burst = SLEEP_FRAGILE;
    poll(NULL, 0, 0);
    nanosleep(&time, NULL);
    nanosleep(&time, flags != 0 ? &time : NULL);
    recv(pair[0], &byte, 1, MSG_DONTWAIT | flags);
    sleep_burst = 0;
    close(pair[0]);
    close(pair[1]);
    return announced;
}

static void test_fragile(void) {
    CHECK_UINT(announcements_of_fragile(0), 0);
    CHECK_UINT(announcements_of_fragile(MSG_WAITALL), 2);
    announced = 0;
    sleep_burst = SLEEP_FRAGILE;
    CHECK(write(STDOUT_FILENO, "", 0) == 0);
    sleep_burst = 0;
    CHECK_UINT(announced, 1);
}

int main(void) {
    test_any(); /* the first calls of all find no function looked up yet */
    CHECK(!sleep_is_sleeper((uintptr_t)main));
    sleep_start();
    test_any();
    test_fragile();
    CHECK(!sleep_is_sleeper((uintptr_t)main));
    CHECK(!sleep_is_sleeper((uintptr_t)poll)); /* the stub */
    CHECK(!sleep_is_sleeper(0));
    void *libc = dlopen("libc.so.6", RTLD_LAZY);
    CHECK(libc != NULL && sleep_is_sleeper((uintptr_t)dlsym(libc, "poll")));
    CHECK(sleep_is_sleeper((uintptr_t)dlsym(libc, "recvmsg")));
    return check_report();
}

#else

int main(void) {
    return 77;
}

#endif

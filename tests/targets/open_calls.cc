/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * open_calls.cc - calls that end in all ways that there are: returns, exceptions, longjmp, of
 * threads and of signal handlers, in functions that recurse. Prints sums that must come out the
 * same whatever interrupts it.
 *
 *   usage: open_calls ROUNDS
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <thread>
#include <vector>

#define OWN_FRAME __attribute__((noinline))

static const int THREADS = 3, TURNS = 6000;

struct guard {
    int *count;
    explicit guard(int *n) : count(n) { ++*count; }
    ~guard() { --*count; }
};

OWN_FRAME static int work(int n) {
    volatile unsigned sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum + static_cast<unsigned>(i) * static_cast<unsigned>(n);
    return static_cast<int>(sum & 0xffff);
}

OWN_FRAME static int thrower(int depth, int kind, int *open) {
    guard here(open);
    if (depth > 0)
        return thrower(depth - 1, kind, open) + work(3);
    if (kind % 3 == 0)
        throw std::runtime_error(std::to_string(kind));
    if (kind % 3 == 1)
        throw kind;
    return work(50);
}

OWN_FRAME static int thrower_again(int depth, int kind, int *open) {
    try {
        return thrower(depth, kind, open);
    } catch (const std::exception &) {
        guard here(open);
        work(20);
        throw;
    }
}

OWN_FRAME static int catcher(int kind) {
    int open = 0, sum;
    try {
        sum = thrower_again(kind % 13, kind, &open);
    } catch (const std::exception &e) {
        sum = atoi(e.what());
    } catch (int thrown) {
        sum = thrown + 1;
    }
    return sum + open;
}

static thread_local jmp_buf place;
static volatile bool always = true; // which the compiler does not know

OWN_FRAME static void jumper(int depth) {
    if (depth == 0 && always)
        longjmp(place, 1);
    if (always)
        jumper(depth - 1);
    work(1);
}

OWN_FRAME static int jump(int turn) {
    if (setjmp(place) == 0)
        jumper(turn % 9);
    return work(30);
}

OWN_FRAME static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

OWN_FRAME static int deep(int depth) {
    return depth == 0 ? work(2000000) : deep(depth - 1) + 1;
}

OWN_FRAME static int in_handler(int depth) {
    return depth == 0 ? work(2000) : in_handler(depth - 1) + 1;
}

static void on_alarm(int) {
    in_handler(4);
}

static int by_size(const void *a, const void *b) {
    return work(2) * 0 + *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

OWN_FRAME static long sort(void) {
    std::vector<int> numbers(20000);
    unsigned x = 1;
    for (int &n : numbers)
        n = static_cast<int>((x = x * 1103515245 + 12345) >> 8);
    qsort(numbers.data(), numbers.size(), sizeof(int), by_size);
    return numbers[777];
}

static long turns(int n) {
    long sum = 0;
    for (int i = 0; i < n; i++) {
        sum += catcher(i) + jump(i);
        raise(SIGALRM);
    }
    return sum + fib(22) + deep(3000) + sort();
}

static void every(int us) {
    const struct itimerval timer = {{0, us}, {0, us}};
    setitimer(ITIMER_REAL, &timer, nullptr);
}

static void in_threads(void) {
    std::vector<std::thread> threads;
    std::vector<long> sums(THREADS);
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back([&sums, i] { sums[static_cast<size_t>(i)] = turns(TURNS + i); });
    for (std::thread &thread : threads)
        thread.join();
    for (long sum : sums)
        printf("%ld\n", sum);
}

int main(int argc, char **argv) {
    struct sigaction action = {};
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    every(300);
    for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
        in_threads();
    every(0);
    return 7;
}

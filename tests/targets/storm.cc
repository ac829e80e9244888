/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * storm.cc - does all at once what has broken profilers: exceptions, dlopen and dlclose, fork,
 * short threads, signal handlers that throw the stack away, coroutines on small stacks. Prints sums
 * that must come out the same whatever interrupts it.
 *
 *   usage: storm ROUNDS
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <csetjmp>
#include <csignal>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

static std::atomic<long> thrown, forked, opened, threads, jumped, switched;
static volatile unsigned long sink;

static void burn(int n) {
    for (int i = 0; i < n; i++)
        sink += static_cast<unsigned long>(i);
}

static void thrower(int depth) {
    std::string guard(static_cast<size_t>(depth) * 10, 'x');
    burn(200);
    if (depth == 0)
        throw std::runtime_error(guard);
    thrower(depth - 1);
}

static void throw_many(int n) {
    for (int i = 0; i < n; i++) {
        try {
            thrower(i % 20);
        } catch (const std::exception &) {
            thrown++;
        }
    }
}

static void open_many(int n) {
    for (int i = 0; i < n; i++) {
        void *library = dlopen(i % 2 ? "libz.so.1" : "liblzma.so.5", RTLD_NOW);
        burn(2000);
        if (library != nullptr && dlclose(library) == 0)
            opened++;
        else if (library == nullptr)
            opened++; /* not installed: as good */
    }
}

static void fork_many(int n) {
    for (int i = 0; i < n; i++) {
        pid_t child = fork();
        if (child == 0) {
            burn(500000);
            _exit(i % 100);
        }
        int status = 0;
        if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
            WEXITSTATUS(status) == i % 100)
            forked++;
    }
}

static void thread_many(int n) {
    for (int i = 0; i < n; i++) {
        std::thread short_lived([] {
            burn(20000);
            threads++;
        });
        short_lived.join();
    }
}

static thread_local sigjmp_buf back;

static void jump(int) {
    siglongjmp(back, 1);
}

static void jump_many(int n) {
    for (volatile int i = 0; i < n; i = i + 1) {
        if (sigsetjmp(back, 1) == 0)
            raise(SIGUSR2);
        else
            jumped++;
        burn(2000);
    }
}

static thread_local ucontext_t main_context, coroutine;

static void in_coroutine() {
    for (;;) {
        burn(5000);
        swapcontext(&coroutine, &main_context);
    }
}

static void switch_many(int n) {
    std::vector<char> stack(64 * 1024);
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack.data();
    coroutine.uc_stack.ss_size = stack.size();
    coroutine.uc_link = nullptr;
    makecontext(&coroutine, in_coroutine, 0);
    for (int i = 0; i < n; i++) {
        swapcontext(&main_context, &coroutine);
        switched++;
    }
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    signal(SIGUSR2, jump);
    std::vector<std::thread> all;
    for (int i = 0; i < 2; i++)
        all.emplace_back(throw_many, rounds * 50);
    all.emplace_back(open_many, rounds * 5);
    all.emplace_back(fork_many, rounds);
    all.emplace_back(thread_many, rounds * 5);
    all.emplace_back(jump_many, rounds * 50);
    all.emplace_back(switch_many, rounds * 50);
    for (std::thread &thread : all)
        thread.join();
    std::printf("%ld %ld %ld %ld %ld %ld\n", thrown.load(), forked.load(), opened.load(),
                threads.load(), jumped.load(), switched.load());
    return 0;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * target.cc - the program that is walked at each instruction: exceptions, jumps, signals, threads,
 * contexts, loaded code, the vdso, and the shapes of shapes.h. Argument: the plugin's path.
 */
#include <algorithm>
#include <clocale>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#define NOINLINE __attribute__((noinline, noclone))

extern "C" {
void fault_at_once(volatile int *at);
void fault_after_push(volatile int *at);
void bare_shapes(void);
void shapes_fast(void);
void shapes_plain(void);
void shapes_small(void);
void shapes_framed(void);
}

static volatile unsigned sink;

/* ---- exceptions ---- */

namespace {

struct Guard {
    NOINLINE ~Guard() {
        sink = sink + 1;
    }
};

struct Odd : std::runtime_error {
    using std::runtime_error::runtime_error;
};

NOINLINE void thrower(int n) {
    Guard guard;
    if (n % 2 != 0)
        throw Odd("odd");
    if (n >= 0)
        throw n;
}

NOINLINE void aligned_frame(int n) {
    alignas(64) volatile char room[64];
    room[n] = 1;
    Guard guard;
    thrower(n);
    sink = sink + static_cast<unsigned>(room[n]);
}

NOINLINE void deep(int n, int levels) {
    Guard guard;
    std::string text(static_cast<size_t>(levels), 'x');
    if (levels > 0)
        deep(n, levels - 1);
    else
        aligned_frame(n);
    sink = sink + static_cast<unsigned>(text.size());
}

NOINLINE void rethrow(int n) {
    try {
        deep(n, 1);
    } catch (const Odd &odd) {
        sink = sink + static_cast<unsigned>(std::strlen(odd.what()));
        throw;
    }
}

NOINLINE int caught(int n) {
    try {
        thrower(n);
    } catch (...) {
        n++;
    }
    return n;
}

NOINLINE void exceptions() {
    for (int n = 0; n < 2; n++) {
        try {
            rethrow(n);
        } catch (int number) {
            sink = sink + static_cast<unsigned>(number);
        } catch (const std::exception &) {
            sink = sink + 2;
        }
    }
}

/* ---- signals ---- */

volatile std::sig_atomic_t handled;
sigjmp_buf out;

NOINLINE void in_handler(int number) {
    handled = handled + number;
}

void on_signal(int number) {
    in_handler(number);
}

void on_outer(int number) {
    raise(SIGUSR2);
    in_handler(number);
}

void on_fault(int, siginfo_t *, void *) {
    in_handler(1);
    siglongjmp(out, 1);
}

void install(int number, void (*handler)(int), int flags) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(number, &action, nullptr);
}

void *new_stack(size_t bytes) {
    size_t guard = 4096;
    char *at = static_cast<char *>(
        mmap(nullptr, bytes + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (at == MAP_FAILED || mprotect(at + guard, bytes, PROT_READ | PROT_WRITE) != 0)
        abort();
    return at + guard;
}

NOINLINE void fault(volatile int *at) {
    volatile char room[200];
    room[3] = 1;
    *at = room[3];
}

NOINLINE void signals() {
    stack_t other = {};
    other.ss_size = 65536;
    other.ss_sp = new_stack(other.ss_size);
    sigaltstack(&other, nullptr);
    install(SIGUSR2, on_signal, 0);
    install(SIGUSR1, on_outer, 0);
    raise(SIGUSR1);
    install(SIGUSR1, on_outer, SA_ONSTACK);
    raise(SIGUSR1);
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    for (auto faulty : {fault, fault_at_once, fault_after_push})
        if (sigsetjmp(out, 1) == 0)
            faulty(nullptr);
    raise(SIGUSR1);
}

/* ---- contexts ---- */

ucontext_t main_context, other_context;

NOINLINE void yield_once() {
    volatile char room[100];
    room[1] = 1;
    swapcontext(&other_context, &main_context);
    sink = sink + static_cast<unsigned>(room[1]);
}

void coroutine(int n) {
    for (int i = 0; i < n; i++)
        yield_once();
    caught(n);
}

NOINLINE void contexts() {
    size_t bytes = 65536;
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = new_stack(bytes);
    other_context.uc_stack.ss_size = bytes;
    other_context.uc_link = &main_context;
    makecontext(&other_context, reinterpret_cast<void (*)()>(coroutine), 1, 2);
    for (int i = 0; i < 3; i++)
        swapcontext(&main_context, &other_context);
}

/* ---- threads ---- */

NOINLINE void leave_thread(int levels) {
    Guard guard;
    if (levels > 0)
        leave_thread(levels - 1);
    else if (sink > 0)
        pthread_exit(nullptr);
    sink = sink + 1;
}

void *thread_start(void *) {
    thread_local std::vector<int> numbers;
    numbers.assign(5, 3);
    caught(1);
    leave_thread(2);
    return nullptr;
}

void *thread_waits(void *) {
    Guard guard;
    for (;;)
        pause();
    return nullptr;
}

NOINLINE void threads() {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, thread_start, nullptr) == 0)
        pthread_join(thread, nullptr);
    if (pthread_create(&thread, nullptr, thread_waits, nullptr) == 0) {
        pthread_cancel(thread);
        pthread_join(thread, nullptr);
    }
}

/* ---- others ---- */

NOINLINE void loaded(const char *path) {
    for (int round = 0; round < 2; round++) {
        void *plugin = dlopen(path, round == 0 ? RTLD_LAZY : RTLD_NOW);
        if (plugin == nullptr)
            abort();
        auto work = reinterpret_cast<int (*)(int (*)(int), int)>(dlsym(plugin, "plugin_work"));
        sink = sink + static_cast<unsigned>(work(caught, round));
        dlclose(plugin);
    }
}

NOINLINE void clocks() {
    struct timespec now;
    struct timeval today;
    for (clockid_t clock : {CLOCK_MONOTONIC, CLOCK_REALTIME_COARSE, CLOCK_THREAD_CPUTIME_ID})
        clock_gettime(clock, &now);
    gettimeofday(&today, nullptr);
    sink = sink + static_cast<unsigned>(time(nullptr));
}

NOINLINE void library() {
    std::vector<std::string> words = {"some", "words", "to", "be", "put", "in", "order"};
    std::sort(words.begin(), words.end(),
              [](const std::string &a, const std::string &b) { return a.size() < b.size(); });
    std::map<std::string, int> count;
    std::function<void(const std::string &)> add = [&](const std::string &s) { count[s]++; };
    std::for_each(words.begin(), words.end(), add);
    sink = sink + static_cast<unsigned>(count.size());
}

void at_exit() {
    caught(2);
}

Guard destroyed_at_exit;

} // namespace

int main(int argc, char **argv) {
    std::atexit(at_exit);
    bare_shapes();
    shapes_fast();
    shapes_plain();
    shapes_small();
    shapes_framed();
    exceptions();
    signals();
    contexts();
    threads();
    if (argc > 1)
        loaded(argv[1]);
    clocks();
    library();
    return 0;
}

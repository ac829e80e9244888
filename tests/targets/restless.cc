/* SPDX-License-Identifier: LGPL-3.0-or-later */
// restless.cc - all that programs do to their stacks and threads, side by side, until SIGTERM: what
// happens to hcctd meanwhile must not show.
//
// Usage: restless [SECONDS] [KIND]...     SECONDS 0, the default: until SIGTERM; KIND: as in the
// table at the end, all by default
//
// Prints "work UNITS", the least that any kind has done, and "pause WALL_US CPU_US WAIT_US", as
// latency.c does: the longest step of a thread that only calls functions, of the wall clock, of its
// own CPU time, and the longest in which it gave the processor away, which it does not by itself.
// What goes wrong is said on stderr, and the status is 1.

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ctime>
#include <ucontext.h>
#include <unistd.h>

static std::atomic<bool> stop, failed;
static volatile bool always = true; // which the compiler does not know

static void wrong(const char *what) {
    failed = true;
    fprintf(stderr, "restless: %s\n", what);
}

static void on_term(int) {
    stop = true;
}

static void nap(long us) {
    timespec time = {0, us * 1000};
    nanosleep(&time, nullptr);
}

static uint64_t read_clock(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

// ---- what there is to do ----

static unsigned fibonacci(unsigned n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void compute(unsigned n) {
    if (fibonacci(n) != (n == 12 ? 144 : n == 10 ? 55 : n == 8 ? 21 : 5))
        wrong("a sum is wrong");
}

// ---- only calls, and how long they take ----

static uint64_t longest_wall, longest_cpu, longest_wait;

static long read_waits() {
    rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static void calls(std::atomic<unsigned long> *units) {
    const uint64_t worth_reading = 100000;
    uint64_t wall = read_clock(CLOCK_MONOTONIC), cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
    long waits = read_waits();
    while (!stop) {
        compute(10);
        uint64_t wall_now = read_clock(CLOCK_MONOTONIC);
        uint64_t cpu_now = read_clock(CLOCK_THREAD_CPUTIME_ID), step = wall_now - wall;
        longest_wall = std::max(longest_wall, step);
        longest_cpu = std::max(longest_cpu, cpu_now - cpu);
        if (step > worth_reading && read_waits() != waits) {
            waits = read_waits();
            longest_wait = std::max(longest_wait, step);
        }
        wall = wall_now;
        cpu = cpu_now;
        ++*units;
    }
}

// ---- several stacks in one thread ----

enum { COROUTINES = 6 };

struct Coroutines {
    ucontext_t scheduler, context[COROUTINES];
    unsigned current = 0, steps[COROUTINES] = {};
    char *stack[COROUTINES];
};

static thread_local Coroutines *coroutines;

static void give_way(unsigned depth) {
    Coroutines *c = coroutines;
    if (depth > 0) {
        give_way(depth - 1);
        return;
    }
    if (swapcontext(&c->context[c->current], &c->scheduler) != 0)
        wrong("swapcontext");
}

static void coroutine() {
    for (unsigned i = 0;; i++) {
        compute(8);
        give_way(i % 5);
        coroutines->steps[coroutines->current]++;
    }
}

static void prepare(Coroutines *c, unsigned i) {
    const size_t bytes = i % 2 == 0 ? 65536 : 262144;
    c->stack[i] = static_cast<char *>(malloc(bytes));
    getcontext(&c->context[i]);
    c->context[i].uc_stack.ss_sp = c->stack[i];
    c->context[i].uc_stack.ss_size = bytes;
    c->context[i].uc_link = nullptr;
    makecontext(&c->context[i], coroutine, 0);
}

static void one_after_the_other(std::atomic<unsigned long> *units) {
    for (unsigned i = 0; i < 50; i++)
        for (coroutines->current = 0; coroutines->current < COROUTINES; coroutines->current++) {
            swapcontext(&coroutines->scheduler, &coroutines->context[coroutines->current]);
            ++*units;
        }
}

// A stack is given up in the middle of its calls, and memory for the next one is where it was.
static void switching(std::atomic<unsigned long> *units) {
    Coroutines all;
    coroutines = &all;
    for (unsigned i = 0; i < COROUTINES; i++)
        prepare(&all, i);
    for (unsigned round = 0; !stop; round++) {
        one_after_the_other(units);
        free(all.stack[round % COROUTINES]);
        prepare(&all, round % COROUTINES);
    }
    for (unsigned i = 0; i < COROUTINES; i++)
        free(all.stack[i]);
}

// ---- functions that are left without a return ----

static void thrower(unsigned depth) {
    if (depth == 0)
        throw 42;
    thrower(depth - 1);
    compute(5);
}

static void jumper(jmp_buf place, unsigned depth) {
    if (depth == 0 && always)
        longjmp(place, 7);
    if (always)
        jumper(place, depth - 1);
    compute(5);
}

static void leaving(std::atomic<unsigned long> *units) {
    while (!stop) {
        jmp_buf place;
        try {
            thrower(6);
            wrong("nothing was thrown");
        } catch (int what) {
            if (what != 42)
                wrong("something else was thrown");
        }
        int how = setjmp(place);
        if (how == 0)
            jumper(place, 6);
        if (how != 7)
            wrong("a jump came otherwise");
        compute(8);
        ++*units;
    }
}

// ---- signal handlers, in the middle of anything ----

static thread_local std::atomic<unsigned long> *handled;
static thread_local unsigned handlers;
static thread_local sigjmp_buf out_of_handler;
static thread_local volatile bool may_jump;

static void fork_and_return();

static void on_alarm(int) {
    compute(5);
    ++*handled;
    handlers++;
    if (handlers % 64 == 1)
        fork_and_return();
    else if (handlers % 8 == 3 && may_jump)
        siglongjmp(out_of_handler, 1);
}

static void make_timer(timer_t *timer, int number, long us) {
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = number;
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    const itimerspec often = {{0, us * 1000}, {0, us * 1000}};
    if (timer_create(CLOCK_MONOTONIC, &event, timer) != 0 ||
        timer_settime(*timer, 0, &often, nullptr) != 0)
        wrong("no timer");
}

static void interrupted(std::atomic<unsigned long> *units) {
    timer_t timer;
    handled = units;
    make_timer(&timer, SIGUSR1, 700);
    while (!stop) {
        if (sigsetjmp(out_of_handler, 1) == 0) {
            may_jump = true;
            compute(12);
        }
        may_jump = false;
        compute(8);
    }
    timer_delete(timer);
}

// ---- children ----

static void wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) {
            wrong("waitpid");
            return;
        }
    if (status != 0)
        fprintf(stderr, "restless: a child's status is %x\n", static_cast<unsigned>(status));
    failed = failed || status != 0;
}

static thread_local bool is_child;

// The child goes on with what was interrupted, and then ends.
static void fork_and_return() {
    pid_t pid = fork();
    if (pid > 0)
        wait_for(pid);
    else if (pid < 0)
        wrong("fork");
    else
        alarm(20); // it hangs
    is_child = pid == 0;
    if (is_child)
        stop = true;
}

static void forking(std::atomic<unsigned long> *units) {
    while (!stop) {
        pid_t pid = fork();
        if (pid == 0) {
            alarm(20);
            for (unsigned i = 0; i < 20; i++)
                compute(10);
            _exit(failed ? 1 : 0);
        }
        if (pid < 0)
            wrong("fork");
        else
            wait_for(pid);
        ++*units;
        nap(2000);
    }
}

static void executing(std::atomic<unsigned long> *units) {
    while (!stop) {
        pid_t pid = vfork();
        if (pid == 0) {
            close(STDOUT_FILENO); // what it has to say is said on stderr
            execl("/proc/self/exe", "restless", "0.002", "calls", static_cast<char *>(nullptr));
            _exit(1);
        }
        wait_for(pid);
        ++*units;
        nap(5000);
    }
}

// ---- code that comes and goes ----

static const char *directory;

static void loading(std::atomic<unsigned long> *units) {
    for (unsigned i = 0; !stop; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/calls_plugin_%c", directory, i % 2 == 0 ? 'a' : 'b');
        void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (object == nullptr) {
            wrong(dlerror());
            return;
        }
        reinterpret_cast<void (*)(unsigned)>(dlsym(object, "plugin_run"))(100);
        dlclose(object);
        ++*units;
        nap(300);
    }
}

// ---- threads that come and go, and that hardly run ----

static void *short_thread(void *arg) {
    compute(8);
    return arg;
}

static void beginning(std::atomic<unsigned long> *units) {
    while (!stop) {
        pthread_t id[3];
        for (pthread_t &one : id)
            if (pthread_create(&one, nullptr, short_thread, units) != 0)
                wrong("no thread");
        for (pthread_t &one : id) {
            void *returned;
            pthread_join(one, &returned);
            if (returned != units)
                wrong("a thread returned something else");
        }
        ++*units;
        nap(500);
    }
}

static void napping(std::atomic<unsigned long> *units) {
    while (!stop) {
        nap(1000);
        compute(5);
        ++*units;
    }
}

// ---- all of them ----

struct Kind {
    const char *name;
    void (*run)(std::atomic<unsigned long> *units);
    std::atomic<unsigned long> units;
    pthread_t id;
    bool wanted;
};

static Kind kinds[] = {
    {"calls", calls, {}, {}, false},     {"switching", switching, {}, {}, false},
    {"leaving", leaving, {}, {}, false}, {"interrupted", interrupted, {}, {}, false},
    {"forking", forking, {}, {}, false}, {"executing", executing, {}, {}, false},
    {"loading", loading, {}, {}, false}, {"beginning", beginning, {}, {}, false},
    {"napping", napping, {}, {}, false}};

static void *run(void *arg) {
    Kind *kind = static_cast<Kind *>(arg);
    kind->run(&kind->units);
    if (is_child) // of a handler: its main thread is the parent's
        _exit(failed ? 1 : 0);
    return nullptr;
}

static void choose(int n, char **names) {
    for (Kind &kind : kinds)
        kind.wanted = n == 0;
    for (int i = 0; i < n; i++)
        for (Kind &kind : kinds)
            kind.wanted |= strcmp(kind.name, names[i]) == 0;
}

static void wait_for_the_end(double seconds) {
    const uint64_t until = read_clock(CLOCK_MONOTONIC) + static_cast<uint64_t>(seconds * 1e9);
    while (!stop) {
        nap(seconds > 0 ? 500 : 20000);
        if (seconds > 0 && read_clock(CLOCK_MONOTONIC) >= until)
            stop = true;
    }
}

static unsigned long least_work() {
    unsigned long least = ~0ul;
    for (Kind &kind : kinds)
        if (kind.wanted)
            least = std::min(least, kind.units.load());
    return least;
}

int main(int argc, char **argv) {
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    *strrchr(path, '/') = '\0';
    directory = path;
    struct sigaction action = {};
    action.sa_handler = on_term;
    sigaction(SIGTERM, &action, nullptr);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);
    choose(argc > 2 ? argc - 2 : 0, argv + 2);
    for (Kind &kind : kinds)
        if (kind.wanted && pthread_create(&kind.id, nullptr, run, &kind) != 0)
            wrong("no thread");
    wait_for_the_end(argc > 1 ? atof(argv[1]) : 0);
    for (Kind &kind : kinds)
        if (kind.wanted)
            pthread_join(kind.id, nullptr);
    printf("work %lu\npause %lu %lu %lu\n", least_work(), longest_wall / 1000, longest_cpu / 1000,
           longest_wait / 1000);
    return failed ? 1 : 0;
}

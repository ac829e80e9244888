/* SPDX-License-Identifier: LGPL-3.0-or-later */
// calls_torture.cc - all that makes it hard to follow calls and returns, in a program that counts
// the calls of each of its functions itself (calls_count.h).
//
//   usage: calls_torture PART ARGUMENT...       the parts are in the table at the end

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/targets/calls_count.h"
#include "tests/targets/calls_shared.h"

#define OWN_FRAME __attribute__((noinline))

static volatile unsigned sink;
static volatile bool always = true; // which the compiler does not know

extern "C" {

OWN_FRAME static void leaf(unsigned x) {
    COUNT_CALL();
    sink += x;
}

// ---- longjmp ----

static jmp_buf place;

OWN_FRAME static void jumper(unsigned depth) {
    COUNT_CALL();
    leaf(depth);
    if (depth == 0 && always)
        longjmp(place, 1);
    if (always)
        jumper(depth - 1);
    leaf(depth);
}

OWN_FRAME static void jump_once(void) {
    COUNT_CALL();
    if (setjmp(place) == 0)
        jumper(5);
    leaf(1);
}

// The same function, called from the same place of the same frame, left each time by longjmp.
OWN_FRAME static void jump_again(unsigned times) {
    COUNT_CALL();
    volatile unsigned left = times;
    setjmp(place);
    if (left-- > 0)
        jumper(3);
    leaf(2);
}

OWN_FRAME static void jump_from_handler(int) {
    COUNT_CALL();
    leaf(3);
    siglongjmp(place, 1);
}

OWN_FRAME static void signalled(void) {
    COUNT_CALL();
    leaf(4);
    raise(SIGUSR2);
    leaf(5);
}

OWN_FRAME static void jump_out(unsigned times) {
    COUNT_CALL();
    signal(SIGUSR2, jump_from_handler);
    for (volatile unsigned i = 0; i < times; i = i + 1)
        if (sigsetjmp(place, 1) == 0)
            signalled();
}

OWN_FRAME static void part_jumps(unsigned times) {
    COUNT_CALL();
    for (unsigned i = 0; i < times; i++)
        jump_once();
    jump_again(times);
    jump_out(times);
}

// ---- exceptions ----

OWN_FRAME static void thrower(unsigned depth) {
    COUNT_CALL();
    leaf(depth);
    if (depth == 0)
        throw 42;
    thrower(depth - 1);
    leaf(depth);
}

NOT_REPORTED OWN_FRAME static void silent(unsigned depth) {
    thrower(depth);
    sink = sink + 1;
}

OWN_FRAME static void again_thrower(unsigned depth) {
    COUNT_CALL();
    try {
        silent(depth);
    } catch (int) {
        leaf(6);
        throw;
    }
}

OWN_FRAME static void catcher(unsigned depth) {
    COUNT_CALL();
    try {
        again_thrower(depth);
    } catch (int) {
        leaf(7);
    }
}

OWN_FRAME static void part_exceptions(unsigned times) {
    COUNT_CALL();
    for (unsigned i = 0; i < times; i++)
        catcher(4);
}

// ---- deep recursion ----

OWN_FRAME static unsigned deep(unsigned depth) {
    COUNT_CALL();
    leaf(depth);
    return depth == 0 ? 0 : deep(depth - 1) + 1;
}

static unsigned deepest;

OWN_FRAME static void *deep_thread(void *arg) {
    COUNT_CALL();
    deep(deepest);
    return arg;
}

OWN_FRAME static void part_deep(unsigned depth) {
    COUNT_CALL();
    pthread_t id;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 512u * depth + (1u << 20));
    deepest = depth;
    if (pthread_create(&id, &attr, deep_thread, nullptr) != 0)
        abort();
    pthread_join(id, nullptr);
}

// ---- threads ----

struct Ending {
    bool used = false;
    OWN_FRAME ~Ending() {
        COUNT_CALL_AS("Ending::~Ending");
        leaf(8);
    }
};

static thread_local Ending ending;
static pthread_key_t key;

OWN_FRAME static void key_gone(void *) {
    COUNT_CALL();
    leaf(9);
}

OWN_FRAME static void returning(unsigned n) {
    COUNT_CALL();
    for (unsigned i = 0; i < n; i++)
        leaf(i);
}

OWN_FRAME static void exiting(unsigned n) {
    COUNT_CALL();
    if (n == 0 && always)
        pthread_exit(nullptr);
    if (always)
        exiting(n - 1);
}

OWN_FRAME static void waiting(unsigned n) {
    COUNT_CALL();
    if (n > 0)
        waiting(n - 1);
    while (always)
        pause(); // until the thread is cancelled
}

static void (*const ways_to_end[])(unsigned) = {returning, exiting, waiting};

OWN_FRAME static void *thread(void *arg) {
    COUNT_CALL();
    unsigned way = *static_cast<unsigned *>(arg);
    ending.used = true;
    pthread_setspecific(key, arg);
    ways_to_end[way](way + 2);
    return arg;
}

OWN_FRAME static void part_threads(unsigned n) {
    COUNT_CALL();
    static unsigned ways[] = {0, 1, 2};
    pthread_key_create(&key, key_gone);
    for (unsigned i = 0; i < n; i += 4) {
        pthread_t id[4];
        for (unsigned k = 0; k < 4; k++)
            if (pthread_create(&id[k], nullptr, thread, &ways[(i + k) % 3]) != 0)
                abort();
        for (unsigned k = 0; k < 4; k++) {
            if ((i + k) % 3 == 2)
                pthread_cancel(id[k]);
            pthread_join(id[k], nullptr);
        }
    }
}

// ---- several stacks in one thread ----

enum { COROUTINES = 100, SMALL_STACK = 16384, LARGE_STACK = 262144 };

static ucontext_t main_context, context[COROUTINES];
static char static_stack[LARGE_STACK];
static char small_stacks[COROUTINES][SMALL_STACK];

OWN_FRAME static void ping(unsigned self, unsigned other) {
    COUNT_CALL();
    leaf(self);
    swapcontext(&context[self], &context[other]);
    leaf(self);
}

OWN_FRAME static void pong(unsigned self, unsigned other) {
    COUNT_CALL();
    swapcontext(&context[self], &context[other]);
    leaf(self);
}

OWN_FRAME static void coroutine_a(void) {
    COUNT_CALL();
    for (unsigned i = 0; i < 50; i++)
        ping(0, 1);
}

OWN_FRAME static void coroutine_b(void) {
    COUNT_CALL();
    for (unsigned i = 0; i < 100; i++)
        pong(1, 0);
}

OWN_FRAME static void round_step(unsigned self) {
    COUNT_CALL();
    swapcontext(&context[self], &main_context);
    leaf(self);
}

static unsigned current;

OWN_FRAME static void coroutine_round(void) {
    COUNT_CALL();
    for (unsigned i = 0; i < 5; i++)
        round_step(current);
}

NOT_REPORTED static void prepare(unsigned i, void *stack, size_t bytes, void (*run)(void)) {
    getcontext(&context[i]);
    context[i].uc_stack.ss_sp = stack;
    context[i].uc_stack.ss_size = bytes;
    context[i].uc_link = &main_context;
    makecontext(&context[i], run, 0);
}

OWN_FRAME static void two_coroutines(void) {
    COUNT_CALL();
    void *stack = malloc(LARGE_STACK);
    prepare(0, static_stack, LARGE_STACK, coroutine_a);
    prepare(1, stack, LARGE_STACK, coroutine_b);
    swapcontext(&main_context, &context[0]);
    leaf(10);
    free(stack);
}

OWN_FRAME static void many_coroutines(unsigned n) {
    COUNT_CALL();
    for (unsigned i = 0; i < n; i++)
        prepare(i, small_stacks[i], SMALL_STACK, coroutine_round);
    for (unsigned round = 0; round < 6; round++)
        for (current = 0; current < n; current++)
            swapcontext(&main_context, &context[current]);
}

OWN_FRAME static void part_coroutines(unsigned times) {
    COUNT_CALL();
    for (unsigned i = 0; i < times; i++) {
        two_coroutines();
        many_coroutines(i == 0 ? COROUTINES : 5);
    }
}

// ---- before and after main ----

OWN_FRAME __attribute__((constructor)) static void before_main(void) {
    COUNT_CALL();
    leaf(11);
}

OWN_FRAME __attribute__((destructor)) static void after_main(void) {
    COUNT_CALL();
    leaf(12);
}

OWN_FRAME static void at_exit(void) {
    COUNT_CALL();
    leaf(13);
}

struct Global {
    OWN_FRAME Global() {
        COUNT_CALL_AS("Global::Global");
        leaf(14);
    }
    OWN_FRAME ~Global() {
        COUNT_CALL_AS("Global::~Global");
        leaf(15);
    }
};

static Global global;

OWN_FRAME static void called_back(void *, uint64_t) {
    COUNT_CALL();
    leaf(16);
}

OWN_FRAME static void part_edges(unsigned times) {
    COUNT_CALL();
    atexit(at_exit);
    shared_each(times, called_back, nullptr);
}

// ---- dlopen ----

NOT_REPORTED static void use_plugin(const char *directory, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr)
        abort();
    auto run = reinterpret_cast<void (*)(unsigned)>(dlsym(object, "plugin_run"));
    run(3);
    leaf(17);
    dlclose(object);
}

static const char *directory;

OWN_FRAME static void part_plugins(unsigned times) {
    COUNT_CALL();
    for (unsigned i = 0; i < times; i++)
        use_plugin(directory, i % 2 == 0 ? "calls_plugin_a" : "calls_plugin_b");
}

// ---- children ----

static pid_t child;

OWN_FRAME static void forker(unsigned depth) {
    COUNT_CALL();
    if (depth == 0)
        child = fork();
    else
        forker(depth - 1);
    leaf(depth);
}

NOT_REPORTED static void wait_for(pid_t pid) {
    int status;
    if (waitpid(pid, &status, 0) != pid || status != 0)
        abort();
}

OWN_FRAME static void fork_and_go_on(void) {
    COUNT_CALL();
    forker(4);
    leaf(18);
    if (child == 0)
        exit(0);
    wait_for(child);
}

OWN_FRAME static void *forking_thread(void *arg) {
    COUNT_CALL();
    pid_t pid = fork();
    leaf(19);
    if (pid == 0)
        _exit(0);
    wait_for(pid);
    leaf(20);
    return arg;
}

OWN_FRAME static void run_other(void) {
    COUNT_CALL();
    pid_t pid = vfork();
    if (pid == 0) {
        execl("/bin/true", "true", static_cast<char *>(nullptr));
        _exit(1);
    }
    wait_for(pid);
    leaf(21);
}

OWN_FRAME static void part_children(unsigned times) {
    COUNT_CALL();
    for (unsigned i = 0; i < times; i++) {
        pthread_t id;
        fork_and_go_on();
        run_other();
        if (pthread_create(&id, nullptr, forking_thread, nullptr) != 0)
            abort();
        pthread_join(id, nullptr);
    }
}

// ---- signal handlers that report, in the middle of reports ----

static volatile unsigned handled;

OWN_FRAME static void handler_inner(unsigned x) {
    COUNT_CALL();
    leaf(x);
}

OWN_FRAME static void handler(int) {
    COUNT_CALL();
    handler_inner(22);
    handled = handled + 1;
}

OWN_FRAME static unsigned fibonacci(unsigned n) {
    COUNT_CALL();
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

NOT_REPORTED static void handle_alarms(unsigned times, long us) {
    signal(SIGALRM, handler);
    const struct itimerval often = {{0, us}, {0, us}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, nullptr);
    while (handled < times)
        fibonacci(12);
    setitimer(ITIMER_REAL, &never, nullptr);
}

// So seldom that a stalled reader of the reports does not matter.
OWN_FRAME static void part_ticks(unsigned times) {
    COUNT_CALL();
    handle_alarms(times, 5000);
}

// From a thread that sends without a pause.
static pthread_t target_thread;
static volatile bool enough;

NOT_REPORTED static void *send_signals(void *arg) {
    while (!enough)
        pthread_kill(target_thread, SIGUSR1);
    return arg;
}

// Alarms are for this thread only: what handlers do in one that is only just beginning, or has
// ended, is in no report.
OWN_FRAME static void part_handlers(unsigned times) {
    COUNT_CALL();
    pthread_t sender;
    sigset_t alarms, before;
    signal(SIGUSR1, handler);
    target_thread = pthread_self();
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, &before);
    if (pthread_create(&sender, nullptr, send_signals, nullptr) != 0)
        abort();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    handle_alarms(times, 500);
    enough = true;
    pthread_join(sender, nullptr);
}

// ---- jumps in the place of calls ----

OWN_FRAME static void void_last(unsigned n) {
    COUNT_CALL();
    leaf(n);
}

NOT_REPORTED OWN_FRAME static void relay(unsigned n) {
    void_last(n + 1);
}

OWN_FRAME static void void_first(unsigned n) {
    COUNT_CALL();
    relay(n);
}

OWN_FRAME static unsigned tail_a(unsigned n);

OWN_FRAME static unsigned tail_b(unsigned n) {
    COUNT_CALL();
    return n == 0 ? 0 : tail_a(n - 1);
}

OWN_FRAME static unsigned tail_a(unsigned n) {
    COUNT_CALL();
    return n == 0 ? 0 : tail_b(n - 1);
}

static inline void inner(unsigned n) {
    COUNT_CALL();
    if (n % 2 == 0)
        leaf(n);
}

static inline void inlined_jump(unsigned n) {
    COUNT_CALL();
    inner(n);
    if (n % 3 == 0)
        longjmp(place, 1);
}

OWN_FRAME static void part_tails(unsigned times) {
    COUNT_CALL();
    for (volatile unsigned i = 0; i < times; i = i + 1) {
        void_first(i);
        relay(i);
        tail_a(7);
        inner(i);
        if (setjmp(place) == 0)
            inlined_jump(i);
        inner(i);
    }
}
} // extern "C"

struct Part {
    const char *name;
    void (*run)(unsigned);
};

static const Part parts[] = {
    {"jumps", part_jumps},     {"exceptions", part_exceptions}, {"deep", part_deep},
    {"threads", part_threads}, {"coroutines", part_coroutines}, {"edges", part_edges},
    {"plugins", part_plugins}, {"children", part_children},     {"handlers", part_handlers},
    {"tails", part_tails},     {"ticks", part_ticks},
};

int main(int argc, char **argv) {
    COUNT_CALL();
    char *slash = strrchr(argv[0], '/');
    if (argc != 3 || slash == nullptr)
        return 2;
    *slash = '\0';
    directory = argv[0];
    for (const Part &part : parts)
        if (strcmp(part.name, argv[1]) == 0)
            part.run(static_cast<unsigned>(atoi(argv[2])));
    puts("done");
    return 0;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * contexts.c - a program that asks in which context it is (hcct.h), and keeps a record of its own.
 *
 *   contexts PART [THREADS [CALLS [SEED]]]
 *
 *   random   threads call each other's functions at random, also through pointers and themselves,
 *            and ask in all of them so often; jumps leave some by longjmp
 *   forks    the same in a child of fork, and in its parent before and after
 *   signals  handlers ask, on the thread's stack and on one of their own, while functions that ask
 *            are interrupted by a timer, and in the middle of calls that sleep
 *   stacks   coroutines ask
 *   early    asks in a constructor, in a handler of exit and in the destructor of a thread's key
 *   price    the nanoseconds of a call, where the path is the same each time and where it is not
 *   waits    random, then until its input ends
 *
 * Each path that was asked for is printed once: its number, and FUNCTION:LINE of each call. The
 * numbers of all calls on one path have to be one; "wrong" counts the others, "none" those that
 * gave 0.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "preload/labels/hcct.h"

#define OWN_FRAME  __attribute__((noinline, noclone))
#define NODES_MOST 400000
#define DEPTH_MOST 7
#define SIDE_BYTES 65536

/* What the program itself knows of a path. */
struct node {
    uint32_t parent, child, next;
    int line;
    const char *function;
    uint64_t number;
};

struct walker {
    struct node *node;
    uint32_t n, at, base; /* of node; where it is now; where longjmp leads to */
    uint64_t random, left, wrong, none, asked;
    jmp_buf out;
};

static __thread struct walker *self;
static volatile int sink;
static const char *part;
static struct walker main_walker;

static uint32_t next_random(struct walker *w) {
    w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(w->random >> 33);
}

static uint32_t below(struct walker *w, uint32_t parent, const char *function, int line) {
    for (uint32_t i = w->node[parent].child; i != 0; i = w->node[i].next)
        if (w->node[i].line == line && w->node[i].function == function)
            return i;
    if (w->n == NODES_MOST)
        abort();
    uint32_t made = w->n++;
    w->node[made] = (struct node){
        .parent = parent, .next = w->node[parent].child, .line = line, .function = function};
    w->node[parent].child = made;
    return made;
}

static void note(struct walker *w, uint32_t node, uint64_t number) {
    w->asked++;
    if (number == 0)
        w->none++;
    else if (w->node[node].number == 0)
        w->node[node].number = number;
    else if (w->node[node].number != number)
        w->wrong++;
}

#define CALL(call)                                                                                 \
    do {                                                                                           \
        uint32_t before_ = self->at;                                                               \
        self->at = below(self, before_, __func__, __LINE__);                                       \
        call;                                                                                      \
        self->at = before_;                                                                        \
        sink++;                                                                                    \
    } while (0)
#define ASK() note(self, below(self, self->at, __func__, __LINE__), hcct_context())

static void walker_begin(struct walker *w, uint64_t seed, uint64_t calls) {
    *w = (struct walker){.node = calloc(NODES_MOST, sizeof(struct node)),
                         .n = 1,
                         .random = seed * 7919 + 1,
                         .left = calls};
    if (w->node == NULL)
        abort();
}

static void print_path(const struct walker *w, uint32_t i) {
    if (w->node[i].parent != 0) {
        print_path(w, w->node[i].parent);
        putchar(';');
    }
    printf("%s:%d", w->node[i].function, w->node[i].line);
}

static void print_all(const struct walker *w) {
    for (uint32_t i = 1; i < w->n; i++)
        if (w->node[i].number != 0) {
            printf("0x%016lx ", (unsigned long)w->node[i].number);
            print_path(w, i);
            putchar('\n');
        }
    printf("asked %lu none %lu wrong %lu\n", (unsigned long)w->asked, (unsigned long)w->none,
           (unsigned long)w->wrong);
}

/* ---- random ---- */

typedef void step(int depth);
static step alder, birch, cedar, elm, hazel;
static step *volatile steps[] = {alder, birch, cedar, elm, hazel};

static bool goes_on(int depth) {
    return depth < DEPTH_MOST && self->left > 0;
}

OWN_FRAME static void alder(int depth) {
    self->left -= self->left > 0;
    ASK();
    if (goes_on(depth) && next_random(self) % 2 == 0)
        CALL(birch(depth + 1));
    if (goes_on(depth) && next_random(self) % 3 == 0)
        CALL(cedar(depth + 1));
    sink++;
}

OWN_FRAME static void birch(int depth) {
    char room[200];
    self->left -= self->left > 0;
    memset(room, depth, sizeof room);
    if (goes_on(depth) && next_random(self) % 2 == 0)
        CALL(alder(depth + 1));
    ASK();
    if (goes_on(depth) && next_random(self) % 2 == 0)
        CALL(birch(depth + 1)); /* itself */
    sink += room[depth];
}

OWN_FRAME static void cedar(int depth) {
    if (goes_on(depth))
        CALL(steps[next_random(self) % 5](depth + 1)); /* anything */
    if (goes_on(depth))
        CALL(elm(depth + 1));
    if (next_random(self) % 7 == 0)
        ASK();
    sink++;
}

OWN_FRAME static void elm(int depth) {
    volatile char room[16 + (next_random(self) & 127)]; /* a frame pointer */
    room[0] = (char)depth;
    self->left -= self->left > 0;
    ASK();
    if (goes_on(depth) && next_random(self) % 2 == 0)
        CALL(hazel(depth + 1));
    sink += room[0];
}

OWN_FRAME static void hazel(int depth) {
    self->left -= self->left > 0;
    if (next_random(self) % 50 == 0)
        longjmp(self->out, 1);
    for (int i = 0; i < 2; i++)
        if (goes_on(depth))
            CALL(alder(depth + 1));
    ASK();
    sink++;
}

OWN_FRAME static void grow(void) {
    self->base = self->at;
    if (setjmp(self->out) != 0)
        self->at = self->base;
    while (self->left > 0) {
        CALL(alder(0));
        CALL(cedar(0));
        CALL(steps[next_random(self) % 5](0));
    }
    ASK();
}

OWN_FRAME static void *work(void *arg) {
    self = arg;
    ASK();
    CALL(grow());
    return NULL;
}

/* A thread's own record begins with where it was created. */
static void begin_below(struct walker *w, const struct walker *creator) {
    uint32_t path[64], n = 0;
    for (uint32_t i = creator->at; i != 0; i = creator->node[i].parent)
        path[n++] = i;
    while (n > 0) {
        const struct node *at = &creator->node[path[--n]];
        w->at = below(w, w->at, at->function, at->line);
    }
}

OWN_FRAME static void plant(unsigned threads, struct walker *walkers) {
    pthread_t id[threads];
    for (unsigned i = 0; i < threads; i++)
        CALL((begin_below(&walkers[i], self), pthread_create(&id[i], NULL, work, &walkers[i])));
    for (unsigned i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
}

static void random_part(unsigned threads, uint64_t calls, uint64_t seed) {
    struct walker *walkers = calloc(threads, sizeof *walkers);
    for (unsigned i = 0; i < threads; i++)
        walker_begin(&walkers[i], seed + i, calls);
    ASK(); /* contexts of threads are below those that were asked for before */
    CALL(plant(threads, walkers));
    for (unsigned i = 0; i < threads; i++)
        print_all(&walkers[i]);
    ASK();
    print_all(self);
}

/* ---- forks ---- */

OWN_FRAME static void fork_once(uint64_t calls) {
    ASK();
    fflush(stdout);
    pid_t pid = fork();
    self->left = calls;
    for (uint32_t i = 0; pid == 0 && i < self->n; i++)
        self->node[i].number = 0; /* those of the parent */
    if (pid == 0)
        self->asked = self->none = self->wrong = 0;
    CALL(grow());
    if (pid == 0) {
        printf("child\n");
        print_all(self);
        fflush(stdout);
        exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void forks_part(uint64_t calls) {
    self->left = calls;
    CALL(grow());
    CALL(fork_once(calls));
    printf("parent\n");
    print_all(self);
}

/* ---- signals ---- */

static void on_usr1(int number) {
    (void)number;
    ASK();
}

static void on_alarm(int number) {
    uint32_t at = self->at;
    (void)number;
    (void)hcct_context(); /* wherever that is: it must not harm what is interrupted */
    self->at = at;
}

OWN_FRAME static void interrupted(void) {
    ASK();
    CALL(raise(SIGUSR1));
    ASK();
}

/* What the handler was given, and the path on which it has asked. */
static volatile uint64_t asleep_number;
static volatile uint32_t asleep_at;

static void on_asleep(int number) {
    (void)number;
    asleep_at = below(self, self->at, __func__, __LINE__ + 1);
    asleep_number = hcct_context();
}

/* Where in the call the signal comes is not known, so each time is a path by itself. */
static void print_asleep(void) {
    self->asked++;
    self->none += asleep_number == 0;
    if (asleep_number == 0)
        return;
    printf("0x%016lx ", (unsigned long)asleep_number);
    print_path(self, asleep_at);
    putchar('\n');
}

OWN_FRAME static void sleeps(timer_t timer) {
    const struct itimerspec soon = {{0, 0}, {0, 20000000}};
    const struct timespec long_time = {0, 200000000};
    struct pollfd nothing = {.fd = -1};
    struct timespec until;
    sem_t never;
    sem_init(&never, 0, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    timer_settime(timer, 0, &soon, NULL);
    CALL(nanosleep(&long_time, NULL));
    print_asleep();
    timer_settime(timer, 0, &soon, NULL);
    CALL(poll(&nothing, 1, 200));
    print_asleep();
    timer_settime(timer, 0, &soon, NULL);
    CALL(sem_timedwait(&never, &until));
    print_asleep();
}

OWN_FRAME static void asleep(void) {
    struct sigaction action = {.sa_handler = on_asleep};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    timer_t timer;
    sigaction(SIGUSR2, &action, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    for (int i = 0; i < 3; i++)
        CALL(sleeps(timer));
    timer_delete(timer);
}

/* Of CPU time. */
static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Of two alarms: a slow processor gets on between them, too. */
static long apart_ns(void) {
    double least = 1e9;
    for (int i = 0; i < 20; i++) {
        double began = now_ns();
        raise(SIGALRM);
        double took = now_ns() - began;
        least = took < least ? took : least;
    }
    return 5 * least > 50000 ? (long)(5 * least) : 50000;
}

static void signals_part(uint64_t calls) {
    static char side[SIDE_BYTES];
    stack_t stack = {.ss_sp = side, .ss_size = sizeof side};
    struct sigaction action = {.sa_handler = on_usr1};
    struct itimerspec often = {{0, 0}, {0, 0}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 100; i++)
        CALL(interrupted());
    CALL(asleep());
    sigaltstack(&stack, NULL);
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 100; i++)
        CALL(interrupted());
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    often.it_value.tv_nsec = often.it_interval.tv_nsec = apart_ns();
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &often, NULL);
    self->left = calls;
    CALL(grow());
    timer_delete(timer);
    print_all(self);
}

/* ---- stacks ---- */

static ucontext_t home, away[2];

OWN_FRAME static void roam(void) {
    for (int i = 0; i < 50; i++) {
        CALL(alder(DEPTH_MOST - 2));
        CALL(swapcontext(&away[0], &home));
        ASK();
    }
}

static void coroutine(void) {
    uint32_t at = self->at;
    self->at = 0; /* it has no caller */
    CALL(roam());
    self->at = at;
}

static void stacks_part(void) {
    static char side[SIDE_BYTES * 4];
    uint32_t mine = self->at, its = 0;
    getcontext(&away[0]);
    away[0].uc_stack.ss_sp = side;
    away[0].uc_stack.ss_size = sizeof side;
    away[0].uc_link = &home;
    makecontext(&away[0], coroutine, 0);
    self->left = UINT32_MAX;
    for (int i = 0; i < 40; i++) {
        if (i > 0)
            self->at = its;
        swapcontext(&home, &away[0]);
        its = self->at;
        self->at = mine;
        ASK();
        CALL(alder(DEPTH_MOST - 2));
    }
    print_all(self);
}

/* ---- early and late ---- */

static uint64_t first_number, key_number, exit_number;

__attribute__((constructor)) static void first_of_all(void) {
    first_number = hcct_context();
}

static void on_key(void *arg) {
    (void)arg;
    key_number = hcct_context();
}

static void at_the_end(void) {
    exit_number = hcct_context();
    printf("constructor 0x%016lx key 0x%016lx exit 0x%016lx\n", (unsigned long)first_number,
           (unsigned long)key_number, (unsigned long)exit_number);
}

static void *has_key(void *arg) {
    pthread_setspecific(*(pthread_key_t *)arg, arg);
    return NULL;
}

static void early_part(void) {
    static pthread_key_t key;
    pthread_t id;
    pthread_key_create(&key, on_key);
    pthread_create(&id, NULL, has_key, &key);
    pthread_join(id, NULL);
    atexit(at_the_end);
}

/* ---- price ---- */

#define PRICE_TIMES 2000000

static volatile uint64_t number_sink;

OWN_FRAME static void ask_again(void) {
    double before = now_ns();
    for (int i = 0; i < PRICE_TIMES; i++)
        number_sink = hcct_context();
    printf("the same path: %.1f ns\n", (now_ns() - before) / PRICE_TIMES);
}

OWN_FRAME static void asks(int i) {
    number_sink = hcct_context();
    sink += i;
}

OWN_FRAME static void asks_not(int i) {
    number_sink = (uint64_t)i;
    sink += i;
}

OWN_FRAME static void ask_in_calls(void (*volatile how)(int), const char *what) {
    double before = now_ns();
    for (int i = 0; i < PRICE_TIMES; i++) {
        if (how != NULL)
            how(i);
        else
            asks(i);
        sink++;
    }
    printf("%s: %.1f ns\n", what, (now_ns() - before) / PRICE_TIMES);
}

OWN_FRAME static void deeper(int levels) {
    if (levels > 0) {
        deeper(levels - 1);
    } else {
        for (int i = 0; i < 2000; i++)
            asks(i); /* calls become slots, and unwind tables are there */
        ask_again();
        ask_in_calls(NULL, "another call each time");
        ask_in_calls(asks, "the same through a pointer");
        ask_in_calls(asks_not, "a call that does not ask");
    }
    sink++;
}

static void price_part(int levels) {
    uint64_t end = (uint64_t)now_ns() + 300000000u;
    while ((uint64_t)now_ns() < end)
        asks(1); /* until calls are led through slots */
    deeper(levels);
}

int main(int argc, char **argv) {
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    uint64_t calls = argc > 3 ? strtoull(argv[3], NULL, 10) : 10000;
    uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    part = argc > 1 ? argv[1] : "";
    walker_begin(&main_walker, seed + 1000, calls);
    self = &main_walker;
    if (strcmp(part, "random") == 0 || strcmp(part, "waits") == 0)
        CALL(random_part(threads, calls, seed));
    else if (strcmp(part, "forks") == 0)
        CALL(forks_part(calls));
    else if (strcmp(part, "signals") == 0)
        CALL(signals_part(calls));
    else if (strcmp(part, "stacks") == 0)
        CALL(stacks_part());
    else if (strcmp(part, "early") == 0)
        early_part();
    else if (strcmp(part, "price") == 0)
        price_part((int)threads);
    else
        return 2;
    fflush(stdout);
    while (strcmp(part, "waits") == 0 && getchar() != EOF)
        ;
    return 0;
}

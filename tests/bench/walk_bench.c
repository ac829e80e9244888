/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * walk_bench.c - what a walk costs, in nanoseconds, next to other walkers on the same stack.
 *
 * A thread recurses through functions with different frames (walk_levels.h), and walks from a leaf.
 * The program runs between the walks as it does between samples: it comes back to the same leaf, or
 * by other frames, or through another recursion altogether; what that costs by itself is taken off.
 * Figures are medians of repetitions in which both take turns.
 */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <unwind.h>

#include "preload/sample/memo.h"
#include "tests/agent/own_tables.h"
#include "tests/bench/walk_levels.h"

static uint64_t scratch[UNWIND_SCRATCH_WORDS];

#define ROOM        2048u
#define REPETITIONS 15u
#define LEAST_NS    1000000u /* of one repetition */
#define INNER       1u /* levels - 1 that differ when 3 frames are new, the leaf is the third */
#define FRAMED      __attribute__((noinline, noclone, optimize("no-omit-frame-pointer")))

typedef uint32_t walk_function(const struct unwind_registers *regs);

static _Alignas(64) struct unwind_cached rules[1u << UNWIND_CACHE_BITS];
static struct unwind_frame frames[ROOM];
static void *addresses[ROOM];
static struct unwind_env env = {.find = own_tables_find, .scratch = scratch};

/* ---- walkers ---- */

static uint32_t walk_nothing(const struct unwind_registers *regs) {
    (void)regs;
    return 0;
}

static uint32_t walk_full(const struct unwind_registers *regs) {
    struct unwind_registers copy = *regs;
    uint32_t n;
    env.low = copy.reg[ARCH_SP];
    unwind_walk(&env, &copy, frames, ROOM, &n);
    return n;
}

static uint32_t walk_cached(const struct unwind_registers *regs) {
    env.cache = rules;
    uint32_t n = walk_full(regs);
    env.cache = NULL;
    return n;
}

static uint32_t walk_memoized(const struct unwind_registers *regs) {
    static struct memo_frame frame[ROOM];
    static struct memo_step step[ROOM];
    static struct memo_word word[2 * ROOM];
    static struct memo memo = {.frame = frame,
                               .step = step,
                               .word = word,
                               .room = ROOM,
                               .words_room = 2 * ROOM,
                               .cache = rules};
    struct memo_result result;
    env.low = regs->reg[ARCH_SP];
    memo_walk(&memo, &env, regs, ROOM, &result);
    return memo.depth;
}

static uint32_t walk_frame_pointers(const struct unwind_registers *regs) {
    uint64_t fp = regs->reg[ARCH_FP], low = regs->reg[ARCH_SP];
    uint32_t n = 0;
    for (; fp >= low && fp < env.high - 15 && (fp & 7) == 0 && n < ROOM; n++) {
        const uint64_t *pair = (const uint64_t *)(uintptr_t)fp;
        frames[n].site = pair[1];
        low = fp + 16;
        fp = pair[0];
    }
    return n;
}

static uint32_t walk_unw_backtrace(const struct unwind_registers *regs) {
    (void)regs;
    return (uint32_t)unw_backtrace(addresses, (int)ROOM);
}

static uint32_t walk_unw_step(const struct unwind_registers *regs) {
    unw_context_t context;
    unw_cursor_t cursor;
    unw_word_t pc;
    uint32_t n = 0;
    (void)regs;
    unw_getcontext(&context);
    unw_init_local(&cursor, &context);
    do {
        unw_get_reg(&cursor, UNW_REG_IP, &pc);
        frames[n++].site = pc;
    } while (n < ROOM && unw_step(&cursor) > 0);
    return n;
}

/* libunwind has functions of the same names as libgcc and libc. */
static struct {
    __typeof__(_Unwind_Backtrace) *unwind;
    __typeof__(_Unwind_GetIP) *ip;
    int (*backtrace)(void **addresses, int room);
} theirs;

static void find_theirs(void) {
    void *libgcc = dlopen("libgcc_s.so.1", RTLD_NOW), *libc = dlopen("libc.so.6", RTLD_NOW);
    if (libgcc == NULL || libc == NULL)
        return;
    *(void **)&theirs.unwind = dlsym(libgcc, "_Unwind_Backtrace");
    *(void **)&theirs.ip = dlsym(libgcc, "_Unwind_GetIP");
    *(void **)&theirs.backtrace = dlsym(libc, "backtrace");
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg) {
    uint32_t *n = arg;
    frames[*n].site = theirs.ip(context);
    return ++*n < ROOM ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static uint32_t walk_libgcc(const struct unwind_registers *regs) {
    uint32_t n = 0;
    (void)regs;
    theirs.unwind(on_frame, &n);
    return n;
}

static uint32_t walk_backtrace(const struct unwind_registers *regs) {
    (void)regs;
    return (uint32_t)theirs.backtrace(addresses, (int)ROOM);
}

static const struct {
    const char *name;
    walk_function *walk;
    bool framed;
} walkers[] = {
    {"hcct, memoized", walk_memoized, false},     {"hcct, rules cached", walk_cached, false},
    {"hcct, no cache", walk_full, false},         {"frame pointers", walk_frame_pointers, true},
    {"unw_backtrace", walk_unw_backtrace, false}, {"unw_step", walk_unw_step, false},
    {"libgcc's walk", walk_libgcc, false},        {"glibc's backtrace", walk_backtrace, false},
};

/* ---- the program that is walked ---- */

enum scenario { SAME_LEAF, NEW_LEAF, ALL_NEW, SCENARIOS };

struct program {
    enum scenario scenario;
    bool framed;
    uint32_t levels; /* of the outer recursion */
    uint32_t times;  /* leaves visited in one run */
    walk_function *walk;
    bool known[2]; /* the leaf's registers are the same each time it is reached by one way */
    struct unwind_registers regs[2];
    unsigned way; /* to the leaf */
    uint64_t ns;
    uint32_t depth; /* frames that the last walk found */
};

static uint32_t turns[2][ROOM];

static uint64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

FRAMED static void leaf(void *arg) {
    struct program *p = arg;
    if (!p->known[p->way]) {
        ucontext_t uc;
        getcontext(&uc);
        unwind_registers_of(&p->regs[p->way], &uc);
        p->known[p->way] = true;
    }
    p->depth = p->walk(&p->regs[p->way]);
}

/* Again and again to leaves above one and the same outer stack. */
FRAMED static void visit_leaves(void *arg) {
    struct program *p = arg;
    uint64_t start = cpu_ns();
    for (uint32_t i = 0; i < p->times; i++) {
        p->way = p->scenario == NEW_LEAF ? i & 1 : 0;
        struct route inner = {
            .turn = turns[p->way], .framed = p->framed, .bottom = leaf, .arg = arg};
        walk_levels(&inner, INNER);
    }
    p->ns = cpu_ns() - start;
}

FRAMED static void visit_stacks(struct program *p) {
    uint64_t start = cpu_ns();
    for (uint32_t i = 0; i < p->times; i++) {
        p->way = i & 1;
        struct route whole = {.turn = turns[p->way], .framed = p->framed, .bottom = leaf, .arg = p};
        walk_levels(&whole, p->levels + INNER + 2);
    }
    p->ns = cpu_ns() - start;
}

/* CPU time of visiting p->times leaves with a walk at each. */
static uint64_t run(struct program *p, walk_function *walk, uint32_t times) {
    struct route outer = {.turn = turns[0], .framed = p->framed, .bottom = visit_leaves, .arg = p};
    p->walk = walk;
    p->times = times;
    if (p->scenario == ALL_NEW)
        visit_stacks(p);
    else
        walk_levels(&outer, p->levels);
    return p->ns;
}

/* ---- measuring ---- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median of what one walk costs, in ns. */
static double measure(struct program *p, walk_function *walk) {
    double cost[REPETITIONS];
    uint32_t times = 4, frames_found;
    while (run(p, walk, times) < LEAST_NS)
        times *= 2;
    frames_found = p->depth;
    for (unsigned i = 0; i < REPETITIONS; i++) {
        double with = (double)run(p, walk, times), without = (double)run(p, walk_nothing, times);
        cost[i] = (with - without) / times;
    }
    p->depth = frames_found;
    qsort(cost, REPETITIONS, sizeof cost[0], by_value);
    return cost[REPETITIONS / 2];
}

/* So many levels that the full walk finds `depth` frames. */
static uint32_t levels_for(uint32_t depth) {
    struct program p = {.scenario = SAME_LEAF, .levels = 1};
    run(&p, walk_full, 1);
    return depth > p.depth ? 1 + depth - p.depth : 1;
}

static void measure_depth(uint32_t depth) {
    uint32_t levels = levels_for(depth);
    printf("\ndepth %-14u %22s %22s %22s\n%-20s %13s %8s %13s %8s %13s %8s\n", depth, "same leaf",
           "3 new frames", "all new", "", "ns/walk", "/frame", "ns/walk", "/frame", "ns/walk",
           "/frame");
    for (unsigned w = 0; w < sizeof walkers / sizeof walkers[0]; w++) {
        printf("%-20s", walkers[w].name);
        for (unsigned s = 0; s < SCENARIOS; s++) {
            struct program p = {
                .scenario = (enum scenario)s, .framed = walkers[w].framed, .levels = levels};
            double ns = measure(&p, walkers[w].walk);
            printf(" %13.0f %8.2f", ns, ns / (p.depth > 0 ? p.depth : 1));
        }
        printf("\n");
        fflush(stdout);
    }
}

static void *bench(void *arg) {
    static const uint32_t depths[] = {10, 30, 100, 1000};
    uint64_t low, state = 88172645463325252ull;
    for (unsigned i = 0; i < 2 * ROOM; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        turns[i / ROOM][i % ROOM] = (uint32_t)(state >> 33);
    }
    own_stack(&low, &env.high);
    for (unsigned i = 0; i < sizeof depths / sizeof depths[0]; i++)
        measure_depth(depths[i]);
    return arg;
}

int main(void) {
    pthread_t thread;
    find_theirs();
    if (theirs.unwind == NULL || theirs.ip == NULL || theirs.backtrace == NULL) {
        fprintf(stderr, "libgcc_s.so.1 or libc.so.6 lacks what is compared with\n");
        return 1;
    }
    if (pthread_create(&thread, NULL, bench, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    own_tables_free();
    return 0;
}

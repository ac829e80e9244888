/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_test.c - the walk as a pure function: against glibc's backtrace() at interrupted places,
 * and on registers and stacks that are random.
 */
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/sample/unwind.h"
#include "tests/agent/own_tables.h"
#include "tests/check.h"

static uint64_t scratch[UNWIND_SCRATCH_WORDS];

#define DEPTH_MAX 512

/* ---- against backtrace() ---- */

static struct unwind_frame frames[DEPTH_MAX];
static uint32_t n_frames;
static enum unwind_end end;
static void *oracle[DEPTH_MAX + 8];
static int n_oracle;
static uint64_t interrupted;

static void on_signal(int number, siginfo_t *info, void *context) {
    struct unwind_env env = {.find = own_tables_find, .read = own_read, .scratch = scratch};
    struct unwind_registers regs;
    (void)number, (void)info;
    unwind_registers_of(&regs, context);
    interrupted = regs.pc;
    env.low = regs.reg[ARCH_SP];
    env.high = UINT64_MAX; /* the whole stack above is this thread's */
    end = unwind_walk(&env, &regs, frames, DEPTH_MAX, &n_frames);
    n_oracle = backtrace(oracle, DEPTH_MAX + 8);
}

static void compare(const char *where) {
    int at = 0;
    while (at < n_oracle && (uint64_t)(uintptr_t)oracle[at] != interrupted)
        at++;
    printf("%s: %u frames\n", where, n_frames);
    CHECK_UINT(end, UNWIND_COMPLETE);
    CHECK(at < n_oracle);
    CHECK_UINT(n_frames, n_oracle - at);
    for (uint32_t i = 0; i + 1 < n_frames && at + 1 + (int)i < n_oracle; i++)
        CHECK_UINT(frames[i].site, (uintptr_t)oracle[at + 1 + (int)i]);
    CHECK_UINT(frames[n_frames - 1].site, 0);
}

static volatile unsigned sink;

__attribute__((noinline)) static void leaf(void) {
    raise(SIGUSR1);
    sink++;
}

__attribute__((noinline)) static void recurse(unsigned depth) {
    char room[64];
    memset(room, (int)depth, sizeof room);
    if (depth == 0)
        leaf();
    else
        recurse(depth - 1);
    sink += (unsigned)room[depth % 64];
}

/* A frame whose size is known at run time only. */
__attribute__((noinline)) static void with_alloca(unsigned n) {
    char *room = __builtin_alloca(n);
    memset(room, 1, n);
    leaf();
    sink += (unsigned)room[n / 2];
}

/* A frame that is realigned. */
__attribute__((noinline)) static void aligned(void) {
    _Alignas(64) char room[64];
    memset(room, 2, sizeof room);
    leaf();
    sink += (unsigned)room[5];
}

static int by_value(const void *a, const void *b) {
    if (sink++ == 3)
        leaf();
    return *(const int *)a - *(const int *)b;
}

static void through_libc(void) {
    int numbers[] = {5, 3, 9, 1, 7, 2};
    sink = 0;
    qsort(numbers, 6, sizeof numbers[0], by_value);
}

/* A handler on top of a handler's signal frame. */
static void on_outer(int number) {
    (void)number;
    leaf();
}

static void test_against_backtrace(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    void *warm[4];
    backtrace(warm, 4); /* loads what it needs before it runs in a handler */
    action.sa_sigaction = on_signal;
    sigaction(SIGUSR1, &action, NULL);
    leaf();
    compare("leaf");
    recurse(100);
    compare("recursion");
    with_alloca(3333);
    compare("alloca");
    aligned();
    compare("realigned");
    through_libc();
    compare("callback of libc");
    signal(SIGUSR2, on_outer);
    raise(SIGUSR2);
    compare("signal frame");
}

static void test_limits(void) {
    struct unwind_env env = {.find = own_tables_find, .scratch = scratch, .low = 8, .high = 8};
    struct unwind_registers regs = {.pc = 0};
    CHECK_UINT(unwind_walk(&env, &regs, frames, DEPTH_MAX, &n_frames), UNWIND_NO_MODULE);
    CHECK_UINT(n_frames, 0);
    regs.pc = (uintptr_t)recurse + 20;
    regs.known = ARCH_ALL_REGS;
    CHECK_UINT(unwind_walk(&env, &regs, frames, DEPTH_MAX, &n_frames), UNWIND_BAD_STACK);
    CHECK_UINT(n_frames, 1);
    CHECK_UINT(frames[0].routine, (uintptr_t)recurse);
}

/* ---- random registers and stacks ---- */

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Pages: one that must not be touched, the stack, one that must not be touched, and pages that only
 * the reader may touch, some of them not even it. */
#define PAGE       4096u
#define WORDS      (PAGE / 8)
#define READ_PAGES 16u

struct memory {
    uint64_t *stack, *foreign;
    uint64_t readable; /* bit n: page n of foreign */
    unsigned refused;
};

static bool read_foreign(void *arg, uint64_t address, uint64_t *word) {
    struct memory *memory = arg;
    uint64_t off = address - (uintptr_t)memory->foreign, page = off / PAGE;
    CHECK(address % 8 == 0);
    CHECK(address - (uintptr_t)memory->stack >= PAGE);
    if (page < READ_PAGES && (memory->readable >> page & 1) != 0) {
        *word = memory->foreign[off / 8];
        return true;
    }
    memory->refused++;
    return false;
}

static void map_memory(struct memory *memory) {
    char *at = mmap(NULL, (3 + READ_PAGES) * PAGE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at, PAGE, PROT_NONE) != 0 ||
        mprotect(at + 2 * PAGE, PAGE, PROT_NONE) != 0)
        abort();
    *memory = (struct memory){.stack = (uint64_t *)(void *)(at + PAGE),
                              .foreign = (uint64_t *)(void *)(at + 3 * PAGE)};
}

static uint64_t random_code(uint64_t *state) {
    const uint64_t code[] = {(uintptr_t)recurse, (uintptr_t)qsort, (uintptr_t)raise,
                             (uintptr_t)with_alloca, (uintptr_t)aligned};
    return code[next_random(state) % 5] + next_random(state) % 4096;
}

static uint64_t random_word(const struct memory *memory, uint64_t *state) {
    switch (next_random(state) % 8) {
    case 0:
        return next_random(state);
    case 1:
        return (uintptr_t)memory->stack + next_random(state) % PAGE;
    case 2:
        return (uintptr_t)memory->foreign + next_random(state) % (READ_PAGES * PAGE);
    case 3:
        return UINT64_MAX - next_random(state) % 64;
    default:
        return random_code(state);
    }
}

static void change_some(struct memory *memory, struct unwind_registers *regs, uint64_t *state) {
    for (unsigned i = 0; i < 64; i++)
        memory->stack[next_random(state) % WORDS] = random_word(memory, state);
    for (unsigned i = 0; i < ARCH_REGS; i++)
        regs->reg[i] = next_random(state) % 8 != 0
                           ? (uintptr_t)memory->stack + 8 * (next_random(state) % WORDS)
                           : random_word(memory, state);
    regs->pc = random_code(state);
}

static void test_random(void) {
    static struct unwind_cached cache[1u << UNWIND_CACHE_BITS];
    struct memory memory;
    uint64_t state = 0x2545f4914f6cdd1dull;
    unsigned ends[UNWIND_STEPPED + 1] = {0};
    map_memory(&memory);
    for (unsigned i = 0; i < READ_PAGES * WORDS; i++)
        memory.foreign[i] = random_word(&memory, &state);
    for (unsigned round = 0; round < 100000; round++) {
        struct unwind_env env = {.find = own_tables_find,
                                 .scratch = scratch,
                                 .read = round % 3 != 0 ? read_foreign : NULL,
                                 .arg = &memory,
                                 .low = (uintptr_t)memory.stack,
                                 .high = (uintptr_t)memory.stack + PAGE,
                                 .cache = round % 2 != 0 ? cache : NULL};
        struct unwind_registers regs = {.known = (uint32_t)next_random(&state) | 1u << ARCH_SP,
                                        .exact = next_random(&state) % 2 != 0};
        memory.readable = next_random(&state);
        change_some(&memory, &regs, &state);
        ends[unwind_walk(&env, &regs, frames, 64, &n_frames)]++;
        CHECK(n_frames <= 64);
    }
    printf("random: %u complete, %u truncated, %u no module, %u no rule, %u bad stack\n",
           ends[UNWIND_COMPLETE], ends[UNWIND_TRUNCATED], ends[UNWIND_NO_MODULE],
           ends[UNWIND_NO_RULE], ends[UNWIND_BAD_STACK]);
    CHECK(ends[UNWIND_BAD_STACK] > 0 && ends[UNWIND_NO_RULE] > 0 && ends[UNWIND_NO_MODULE] > 0);
    CHECK(memory.refused > 0);
    CHECK_UINT(ends[UNWIND_PENDING] + ends[UNWIND_STEPPED], 0);
}

int main(void) {
    test_against_backtrace();
    test_limits();
    test_random();
    own_tables_free();
    return check_report();
}

/*
 * unwind_test.c - the walk as a pure function: against glibc's backtrace() at interrupted places,
 * and on registers and stacks that are random.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <unistd.h>

#include "daemon/code/unwind_compile.h"
#include "preload/unwind.h"
#include "tests/check.h"

#define DEPTH_MAX 512

/* ---- tables of this very process ---- */

static struct {
    uint64_t start;
    void *table;
} tables[64];
static unsigned n_tables;

static void *compile_file(const char *path) {
    size_t bytes = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    void *table = elf != NULL ? unwind_compile(elf, &bytes, NULL) : NULL;
    elf_end(elf);
    close(fd);
    return table;
}

static const struct unwind_table *table_of(const struct dl_find_object *found) {
    uint64_t start = (uintptr_t)found->dlfo_map_start;
    const char *path = found->dlfo_link_map->l_name;
    for (unsigned i = 0; i < n_tables; i++)
        if (tables[i].start == start)
            return tables[i].table;
    if (n_tables == sizeof tables / sizeof tables[0])
        return NULL;
    tables[n_tables].start = start;
    tables[n_tables].table = compile_file(path[0] != '\0' ? path : "/proc/self/exe");
    return tables[n_tables++].table;
}

static bool find(void *arg, uint64_t pc, struct unwind_module *module) {
    struct dl_find_object found;
    (void)arg;
    if (_dl_find_object((void *)(uintptr_t)pc, &found) != 0)
        return false;
    *module = (struct unwind_module){.start = (uintptr_t)found.dlfo_map_start,
                                     .end = (uintptr_t)found.dlfo_map_end,
                                     .bias = found.dlfo_link_map->l_addr,
                                     .table = table_of(&found)};
    return true;
}

/* ---- against backtrace() ---- */

static struct unwind_frame frames[DEPTH_MAX];
static uint32_t n_frames;
static enum unwind_end end;
static void *oracle[DEPTH_MAX + 8];
static int n_oracle;
static uint64_t interrupted;

static void on_signal(int number, siginfo_t *info, void *context) {
    struct unwind_env env = {.find = find};
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
    struct unwind_env env = {.find = find, .low = 8, .high = 8};
    struct unwind_registers regs = {.pc = 0};
    CHECK_UINT(unwind_walk(&env, &regs, frames, DEPTH_MAX, &n_frames), UNWIND_NO_MODULE);
    CHECK_UINT(n_frames, 0);
    regs.pc = (uintptr_t)recurse + 20;
    regs.known = UINT32_MAX;
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

static void test_random(void) {
    static uint64_t stack[512];
    uint64_t state = 0x2545f4914f6cdd1dull;
    const uint64_t code[] = {(uintptr_t)recurse, (uintptr_t)qsort, (uintptr_t)raise,
                             (uintptr_t)with_alloca};
    unsigned ends[8] = {0};
    for (unsigned round = 0; round < 100000; round++) {
        struct unwind_env env = {
            .find = find, .low = (uintptr_t)stack, .high = (uintptr_t)stack + sizeof stack};
        struct unwind_registers regs = {.known = UINT32_MAX};
        for (unsigned i = 0; i < 512; i++)
            stack[i] = next_random(&state) % 4 != 0
                           ? code[next_random(&state) % 4] + next_random(&state) % 4096
                           : (uintptr_t)stack + next_random(&state) % sizeof stack;
        for (unsigned i = 0; i < ARCH_REGS; i++)
            regs.reg[i] = next_random(&state) % 8 != 0
                              ? (uintptr_t)stack + 8 * (next_random(&state) % 512)
                              : next_random(&state);
        regs.pc = code[next_random(&state) % 4] + next_random(&state) % 4096;
        ends[unwind_walk(&env, &regs, frames, 64, &n_frames)]++;
        CHECK(n_frames <= 64);
    }
    CHECK(ends[UNWIND_BAD_STACK] > 0 && ends[UNWIND_NO_RULE] > 0);
}

int main(void) {
    test_against_backtrace();
    test_limits();
    test_random();
    for (unsigned i = 0; i < n_tables; i++)
        free(tables[i].table);
    return check_report();
}

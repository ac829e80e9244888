/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * bare_code_test.c - the walk out of code that has no unwind data, at each of its instructions and
 * from what it calls: the true callers must be found, whether a module or none covers the code.
 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/sample/unwind.h"
#include "tests/agent/own_tables.h"
#include "tests/check.h"

#if defined(__x86_64__)

static uint64_t scratch[UNWIND_SCRATCH_WORDS];

#define DEPTH_MAX 128
#define TRAP_FLAG 0x100

/* Functions (fn) that call fn: with a frame pointer, with one after a landing pad, and with pushed
 * registers only. No .cfi directive: there is no unwind data for them. */
__asm__(".text\n"
        ".p2align 4\n"
        "bare_framed:\n"
        "    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "    push %rbx\n"
        "    sub $8, %rsp\n"
        "    call *%rdi\n"
        "    add $8, %rsp\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        "bare_framed_end:\n"
        ".p2align 4\n"
        "bare_landing:\n"
        "    endbr64\n"
        "    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "    call *%rdi\n"
        "    leave\n"
        "    ret\n"
        "bare_landing_end:\n"
        ".p2align 4\n"
        "bare_pushes:\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    mov %rdi, %rbx\n"
        "    xor %r12d, %r12d\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    ret\n"
        "bare_pushes_end:\n"
        ".p2align 4\n"
        "bare_interpreter:\n" /* pushes where to go on, and jumps: no call is there */
        "    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "    lea 1f(%rip), %rax\n"
        "    push %rax\n"
        "    jmp bare_interpreted\n"
        "1:  nop\n"
        "    pop %rbp\n"
        "    ret\n"
        "bare_interpreted:\n"
        "    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "    push %rbx\n"
        "    call *%rdi\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        "bare_interpreted_end:\n");

typedef void function(void);
typedef void bare(function *fn);
extern const char bare_framed_end[], bare_landing_end[], bare_pushes_end[], bare_interpreted_end[];
bare bare_framed, bare_landing, bare_pushes, bare_interpreter, bare_interpreted;

/* ---- a walk at each instruction ---- */

struct span {
    uint64_t start, end;
};

static struct span watched;        /* walks are made here */
static struct span watched_callee; /* and here, where the code is not the innermost frame */
static uint32_t between; /* frames of the code that are further out than where walks are made */
static struct unwind_frame outer[DEPTH_MAX]; /* of run(), from its own frame on */
static uint32_t n_outer;
static volatile bool stepping;
static bool fp_hidden;
static unsigned inside, called, wrong;

static bool within(const struct span *span, uint64_t pc) {
    return pc - span->start < span->end - span->start;
}

static enum unwind_end walk(void *context, struct unwind_frame *frames, uint32_t *n) {
    /* every word by the reader: below pushed registers are words that a sanitizer forbids to read
     */
    struct unwind_env env = {
        .find = own_tables_find, .scratch = scratch, .read = own_read, .low = 8, .high = 8};
    struct unwind_registers regs;
    unwind_registers_of(&regs, context);
    return unwind_walk(&env, &regs, frames, DEPTH_MAX, n);
}

/* The last n_outer frames are those of run(): its caller's and so on, and it is where it was. Where
 * code does not say what became of the frame pointer, and callers need it, run() is the last. */
static bool ends_well(enum unwind_end end, const struct unwind_frame *frames, uint32_t n,
                      uint32_t inner) {
    if (n <= inner || frames[inner].routine != outer[0].routine)
        return false;
    if (end == UNWIND_NO_RULE && fp_hidden)
        return true;
    if (end != UNWIND_COMPLETE || n != n_outer + inner)
        return false;
    for (uint32_t i = 0; i < n_outer; i++)
        if (frames[inner + i].site != outer[i].site)
            return false;
    return true;
}

static void on_trap(int number, siginfo_t *info, void *context) {
    ucontext_t *uc = context;
    struct unwind_frame frames[DEPTH_MAX];
    uint32_t n, inner;
    uint64_t pc = arch_pc(uc);
    (void)number, (void)info;
    if (!stepping)
        uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    if (within(&watched, pc))
        inner = 1 + between;
    else if (within(&watched_callee, pc))
        inner = 2 + between;
    else
        return;
    inside += inner == 1 + between;
    called += inner == 2 + between;
    enum unwind_end end = walk(uc, frames, &n);
    if (ends_well(end, frames, n, inner))
        return;
    wrong++;
    printf("wrong at byte %llu: end %d, %u frames\n",
           (unsigned long long)(pc - (inner == 1 + between ? watched.start : watched_callee.start)),
           end, n);
}

/* The frames of run() itself; from here on each instruction traps. */
static void on_begin(int number, siginfo_t *info, void *context) {
    struct unwind_frame frames[DEPTH_MAX];
    uint32_t n, at = 0;
    ucontext_t *uc = context;
    (void)number;
    CHECK_UINT(walk(uc, frames, &n), UNWIND_COMPLETE);
    while (at < n && frames[at].routine != (uintptr_t)info->si_value.sival_ptr)
        at++;
    n_outer = n - at;
    memcpy(outer, frames + at, n_outer * sizeof outer[0]);
    uc->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

__attribute__((noinline)) static void callee(void) {
    __asm__ volatile("nop");
}

/* `self` is the function whose frames are to be found again. */
static void begin(void *self) {
    union sigval value = {.sival_ptr = self};
    stepping = true;
    sigqueue(getpid(), SIGUSR1, value);
}

/* A call through a register says nothing of where it goes; direct ones do. */
__attribute__((noinline, noclone)) static void run(bare *code) {
    begin((void *)(uintptr_t)run);
    code(callee);
    stepping = false;
}

__attribute__((noinline, noclone)) static void run_framed(bare *code) {
    (void)code;
    begin((void *)(uintptr_t)run_framed);
    bare_framed(callee);
    stepping = false;
}

__attribute__((noinline, noclone)) static void run_pushes(bare *code) {
    (void)code;
    begin((void *)(uintptr_t)run_pushes);
    bare_pushes(callee);
    stepping = false;
}

/* Walks are made in `span` of the code. */
static void test_span(const char *name, void (*runs)(bare *), uint64_t code, struct span span,
                      unsigned calls) {
    inside = called = wrong = 0;
    watched = span;
    watched_callee = (struct span){(uintptr_t)callee, (uintptr_t)callee + 1};
    runs((bare *)code);
    printf("%s: walked at %u of its instructions, %u times from its callee\n", name, inside,
           called);
    CHECK(inside >= 6);
    CHECK_UINT(called, calls);
    CHECK_UINT(wrong, 0);
}

static void test_code(const char *name, void (*runs)(bare *), uint64_t code, uint64_t end,
                      unsigned calls) {
    test_span(name, runs, code, (struct span){code, end}, calls);
}

/* The frame of what an interpreter has jumped to is its own, and goes back to where no call is. */
static void test_interpreter(char *at) {
    uint64_t code = (uintptr_t)bare_interpreter, copy = (uintptr_t)at;
    uint64_t inner = copy + ((uintptr_t)bare_interpreted - code);
    uint64_t end = copy + ((uintptr_t)bare_interpreted_end - code);
    memcpy(at, (const void *)code, end - copy);
    between = 1;
    test_span("interpreted", run, copy, (struct span){inner, end}, 1);
    between = 0;
}

/* A copy in memory that no module covers. */
static void test_generated(const char *name, char *at, uint64_t code, uint64_t end) {
    memcpy(at, (const void *)code, end - code);
    test_code(name, run, (uintptr_t)at, (uintptr_t)at + (end - code), 1);
}

int main(void) {
    struct sigaction trap = {.sa_flags = SA_SIGINFO}, begin = trap;
    trap.sa_sigaction = on_trap;
    begin.sa_sigaction = on_begin;
    sigaction(SIGTRAP, &trap, NULL);
    sigaction(SIGUSR1, &begin, NULL);
    char *copy =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) {
        printf("no memory can be made executable here\n");
        return 77;
    }
    uint64_t framed = (uintptr_t)bare_framed, framed_end = (uintptr_t)bare_framed_end;
    uint64_t landing = (uintptr_t)bare_landing, landing_end = (uintptr_t)bare_landing_end;
    uint64_t pushes = (uintptr_t)bare_pushes, pushes_end = (uintptr_t)bare_pushes_end;
    test_code("frame pointer", run, framed, framed_end, 1);
    test_code("frame pointer, called directly", run_framed, framed, framed_end, 1);
    test_code("frame pointer, landing pad", run, landing, landing_end, 1);
    fp_hidden = true;
    test_code("pushes, called directly", run_pushes, pushes, pushes_end, 0);
    fp_hidden = false;
    test_generated("generated", copy, framed, framed_end);
    test_generated("generated, landing pad", copy + 512, landing, landing_end);
    test_interpreter(copy + 1024);
    munmap(copy, 4096);
    own_tables_free();
    return check_report();
}

#else

int main(void) {
    printf("knows no assembly for this machine\n");
    return 77;
}

#endif

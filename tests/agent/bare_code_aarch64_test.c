/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * bare_code_aarch64_test.c - bare_code_test.c on aarch64, where no process can step itself: each
 * instruction in turn is replaced by a breakpoint, and put back when it was met.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/sample/unwind.h"
#include "tests/agent/own_tables.h"
#include "tests/check.h"

#if defined(__aarch64__)

#define DEPTH_MAX  128
#define BREAKPOINT 0xd4200000u /* brk #0 */

/* Functions (fn) that call fn: with a frame record; with one and a signed return address, after a
 * landing pad; and with the return address alone on the stack. And one that calls nothing, in a
 * loop. No .cfi directive: there is no unwind data for them. */
__asm__(".text\n"
        ".p2align 12\n"
        "bare_framed:\n"
        "    stp x29, x30, [sp, #-32]!\n"
        "    mov x29, sp\n"
        "    str x19, [sp, #16]\n"
        "    mov x19, #7\n"
        "    blr x0\n"
        "    ldr x19, [sp, #16]\n"
        "    ldp x29, x30, [sp], #32\n"
        "    ret\n"
        "bare_framed_end:\n"
        ".p2align 4\n"
        "bare_signed:\n"
        "    hint #34\n" /* bti c */
        "    hint #25\n" /* paciasp */
        "    stp x29, x30, [sp, #-16]!\n"
        "    mov x29, sp\n"
        "    blr x0\n"
        "    ldp x29, x30, [sp], #16\n"
        "    hint #29\n" /* autiasp */
        "    ret\n"
        "bare_signed_end:\n"
        ".p2align 4\n"
        "bare_frameless:\n"
        "    sub sp, sp, #48\n"
        "    str x30, [sp, #40]\n"
        "    cbz x0, 1f\n"
        "    blr x0\n"
        "1:  ldr x30, [sp, #40]\n"
        "    add sp, sp, #48\n"
        "    ret\n"
        "bare_frameless_end:\n"
        ".p2align 4\n"
        "bare_leaf:\n"
        "    mov x1, #3\n"
        "1:  sub x1, x1, #1\n"
        "    cbnz x1, 1b\n"
        "    adrp x16, bare_leaf\n"
        "    ldr x17, [x16]\n"
        "    ret\n"
        "bare_leaf_end:\n"
        ".p2align 12\n");

typedef void function(void);
typedef void bare(function *fn);
/* Local labels: not by way of the table of global addresses, which has none of them. */
#define LOCAL __attribute__((visibility("hidden")))
extern const char bare_framed_end[] LOCAL, bare_signed_end[] LOCAL, bare_frameless_end[] LOCAL,
    bare_leaf_end[] LOCAL;
LOCAL bare bare_framed, bare_signed, bare_frameless, bare_leaf;

static uint64_t scratch[UNWIND_SCRATCH_WORDS];
static struct unwind_frame outer[DEPTH_MAX]; /* of run(), from its own frame on */
static uint32_t n_outer;
static volatile uint32_t *watched; /* the instruction that was replaced */
static uint32_t original;
static unsigned inside, called, wrong;

static enum unwind_end walk(const void *context, struct unwind_frame *frames, uint32_t *n) {
    struct unwind_env env = {
        .find = own_tables_find, .scratch = scratch, .read = own_read, .low = 8, .high = 8};
    struct unwind_registers regs;
    unwind_registers_of(&regs, context);
    return unwind_walk(&env, &regs, frames, DEPTH_MAX, n);
}

/* The last n_outer frames are those of run(): its caller's and so on, and it is where it was. */
static bool ends_well(enum unwind_end end, const struct unwind_frame *frames, uint32_t n,
                      uint32_t inner) {
    if (end != UNWIND_COMPLETE || n != n_outer + inner || frames[inner].routine != outer[0].routine)
        return false;
    for (uint32_t i = 0; i < n_outer; i++)
        if (frames[inner + i].site != outer[i].site)
            return false;
    return true;
}

static void put(volatile uint32_t *at, uint32_t instruction) {
    *at = instruction;
    __builtin___clear_cache((char *)(uintptr_t)at, (char *)(uintptr_t)at + 4);
}

/* In the code, or in the function that it has called. */
static void on_trap(int number, siginfo_t *info, void *context) {
    ucontext_t *uc = context;
    struct unwind_frame frames[DEPTH_MAX];
    uint32_t n;
    bool here = uc->uc_mcontext.pc == (uintptr_t)watched;
    (void)number, (void)info;
    uint32_t now = *watched;
    put(watched, original); /* the walk reads it */
    enum unwind_end end = walk(uc, frames, &n);
    inside += here;
    called += !here;
    if (!ends_well(end, frames, n, here ? 1 : 2)) {
        wrong++;
        printf("wrong %s: end %d, %u frames\n", here ? "there" : "in what it calls", end, n);
    }
    if (here)
        return;
    put(watched, now);
    uc->uc_mcontext.pc += 4;
}

static void on_begin(int number, siginfo_t *info, void *context) {
    struct unwind_frame frames[DEPTH_MAX];
    uint32_t n, at = 0;
    (void)number;
    CHECK_UINT(walk(context, frames, &n), UNWIND_COMPLETE);
    while (at < n && frames[at].routine != (uintptr_t)info->si_value.sival_ptr)
        at++;
    n_outer = n - at;
    memcpy(outer, frames + at, n_outer * sizeof outer[0]);
}

__attribute__((noinline)) static void callee(void) {
    __asm__ volatile("brk #0");
}

/* Its own place differs between the two calls; its caller's does not. */
__attribute__((noinline, noclone)) static void run(bare *code) {
    const union sigval value = {.sival_ptr = (void *)(uintptr_t)run};
    sigqueue(getpid(), SIGUSR1, value);
    code(callee);
    __asm__ volatile("");
}

static void test_code(const char *name, uint64_t code, uint64_t end, unsigned calls) {
    inside = called = wrong = 0;
    for (uint64_t at = code; at < end; at += 4) {
        watched = (volatile uint32_t *)(uintptr_t)at;
        original = *watched;
        put(watched, BREAKPOINT);
        run((bare *)code); /* NOLINT: code */
        if (*watched == BREAKPOINT)
            put(watched, original); /* on a way that was not gone */
    }
    printf("%s: walked at %u of its instructions, %u times from its callee\n", name, inside,
           called);
    CHECK(inside >= 6);
    CHECK(called == 0 || called >= calls);
    CHECK_UINT(wrong, 0);
}

/* A copy in memory that no module covers. */
static void test_generated(const char *name, char *at, uint64_t code, uint64_t end) {
    memcpy(at, (const void *)code, end - code); /* NOLINT: code */
    __builtin___clear_cache(at, at + (end - code));
    test_code(name, (uintptr_t)at, (uintptr_t)at + (end - code), 1);
}

#define TEST(of) test_code(#of, (uintptr_t)(of), (uintptr_t)(of##_end), 1)
#define GENERATED(of)                                                                              \
    test_generated(#of ", generated", copy, (uintptr_t)(of), (uintptr_t)(of##_end))

int main(void) {
    struct sigaction trap = {.sa_flags = SA_SIGINFO}, begin = trap;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    trap.sa_sigaction = on_trap;
    begin.sa_sigaction = on_begin;
    sigaction(SIGTRAP, &trap, NULL);
    sigaction(SIGUSR1, &begin, NULL);
    char *text = (char *)((uintptr_t)bare_framed & ~(page - 1)); /* NOLINT: code */
    char *copy =
        mmap(NULL, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED || mprotect(text, page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        printf("no memory can be made executable and writable here\n");
        return 77;
    }
    TEST(bare_framed);
    TEST(bare_signed);
    TEST(bare_frameless);
    TEST(bare_leaf);
    GENERATED(bare_framed);
    GENERATED(bare_signed);
    GENERATED(bare_leaf);
    munmap(copy, page);
    own_tables_free();
    return check_report();
}

#else

int main(void) {
    printf("knows no assembly for this machine\n");
    return 77;
}

#endif

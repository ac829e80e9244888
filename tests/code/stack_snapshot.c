/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stack_snapshot.c - a test's own stack, copied by a signal handler.
 */
#include "tests/code/stack_snapshot.h"

#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/code/module.h"
#include "common/wire/arch.h"
#include "common/wire/compiler.h"

struct stack_snapshot snapshot = {.words_max = RAW_STACK_WORDS_MAX};
struct code_range snapshot_ranges[SNAPSHOT_RANGES];
uint32_t snapshot_n_ranges;
static char *stack_top;

/* Between variables of a stack there may be what a sanitizer minds. */
static __attribute__((no_sanitize("address"))) void copy_words(uint64_t *into, uint64_t from,
                                                               uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        into[i] = ((const uint64_t *)(uintptr_t)from)[i];
}

/* libunwind's backtrace() may tell the byte before a return address. */
static void *whole(const void *pc) {
    uintptr_t address = (uintptr_t)pc + ARCH_CODE_ALIGN - 1;
    return (void *)(address - address % ARCH_CODE_ALIGN); /* NOLINT: an address of code */
}

static void snap(int signal, siginfo_t *info, void *context) {
    const ucontext_t *uc = context;
    (void)signal;
    (void)info;
    uint64_t sp = arch_reg(uc, ARCH_SP) & ~7ull;
    uint64_t words = ((uint64_t)(uintptr_t)stack_top - sp) / 8;
    if (words > snapshot.words_max)
        words = snapshot.words_max;
    const struct raw_stack sizes = {.pc = arch_pc(uc),
                                    .at = arch_pc(uc),
                                    .known = UINT64_MAX,
                                    .n_ranges = snapshot_n_ranges,
                                    .n_registers = ARCH_REGS,
                                    .n_words = (uint32_t)words};
    struct raw_stack *stack = malloc(raw_stack_bytes(&sizes)); /* the signal is our own */
    *stack = sizes;
    memcpy(raw_stack_ranges(stack), snapshot_ranges, snapshot_n_ranges * sizeof snapshot_ranges[0]);
    for (unsigned i = 0; i < ARCH_REGS; i++)
        raw_stack_registers(stack)[i] = arch_reg(uc, i);
    copy_words(raw_stack_words(stack), sp, words);
    void *all[SNAPSHOT_DEPTH + 8];
    int n = backtrace(all, SNAPSHOT_DEPTH + 8), first = 0;
    while (first < n && (uint64_t)(uintptr_t)all[first] != stack->pc)
        first++;
    snapshot.truths = n - first;
    for (int i = 0; i < snapshot.truths; i++)
        snapshot.truth[i] = whole(all[first + i]);
    snapshot.stack = stack;
}

__attribute__((noinline)) void snapshot_here(void) {
    free(snapshot.stack);
    snapshot.stack = NULL;
    raise(SIGUSR1);
    __asm__ volatile("" ::: "memory");
}

static int add_ranges(struct dl_phdr_info *info, size_t size, void *arg) {
    (void)size;
    (void)arg;
    for (unsigned i = 0;
         i < info->dlpi_phnum && snapshot_n_ranges < HCCT_ARRAY_LEN(snapshot_ranges); i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        bool is_vdso = strstr(info->dlpi_name, "linux-vdso") != NULL;
        const char *path = info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe";
        snapshot_ranges[snapshot_n_ranges++] = (struct code_range){
            .start = info->dlpi_addr + segment->p_vaddr,
            .end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz,
            .bias = info->dlpi_addr,
            .module = is_vdso ? module_intern(&(struct module_mapping){.path = "", .is_vdso = true})
                              : module_intern_path(path),
        };
    }
    return 0;
}

void snapshot_begin(void *frame_of_main) {
    struct sigaction act = {.sa_sigaction = snap, .sa_flags = SA_SIGINFO};
    void *warm[4];
    stack_top = (char *)frame_of_main + 1024; /* what is above main() is there, too */
    backtrace(warm, 4);                       /* it loads what it needs now, not in a handler */
    dl_iterate_phdr(add_ranges, NULL);
    sigaction(SIGUSR1, &act, NULL);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * system_call.c - code is read only where it is readable, a word at a time.
 */
#include "preload/sample/system_call.h"

#include <dlfcn.h>
#include <string.h>

#include "common/wire/wire.h"
#include "preload/life/glibc.h"
#include "preload/sample/unwind_inner.h"
#include "preload/wrap/syscall_code.h"

#define CODE_BYTES 32u /* before the end of the instruction */
_Static_assert(CODE_BYTES >= SYSCALL_CODE_REACH + ARCH_SYSCALL_BYTES, "the search has its reach");

/* The bytes before `end`, at the end of `code`. Returns how many could be read. */
static size_t read_before(const struct unwind_env *env, uint64_t end, uint8_t *code) {
    size_t n = 0;
    while (n < CODE_BYTES) {
        uint64_t last = end - n - 1, at = last & ~7ull, word;
        size_t some = (size_t)(last - at) + 1;
        if (!unwind_read(env, at, &word))
            break;
        if (some > CODE_BYTES - n) {
            word >>= 8 * (some - (CODE_BYTES - n));
            some = CODE_BYTES - n;
        }
        n += some;
        memcpy(code + CODE_BYTES - n, &word, some);
    }
    return n;
}

static bool is_call(const uint8_t *code, size_t n) {
    return n >= ARCH_SYSCALL_BYTES && arch_is_syscall(code + CODE_BYTES - ARCH_SYSCALL_BYTES);
}

#if defined(__x86_64__)

/* Numbers of registers as instructions have them that differ from DWARF's. */
static unsigned dwarf_of(int reg) {
    return reg == 5 ? 6
                    : (unsigned)reg; /* rbp; of the others only those are asked for that agree */
}

/* Of a call that has been answered. */
static uint64_t number_behind(const uint8_t *code, size_t n, const ucontext_t *uc) {
    const uint8_t *end = code + CODE_BYTES - ARCH_SYSCALL_BYTES;
    long number = syscall_known(uc);
    if (number < 0)
        number = syscall_code_number(end, n - ARCH_SYSCALL_BYTES);
    int reg = number < 0 ? syscall_code_register(end, n - ARCH_SYSCALL_BYTES) : -1;
    return reg >= 0 ? (uint32_t)arch_reg(uc, dwarf_of(reg)) : (uint64_t)number;
}

/* Of a call that will be made again: the kernel has put it back. */
static uint64_t number_at(const ucontext_t *uc) {
    return (uint32_t)arch_reg(uc, ARCH_RESULT);
}

#else

#define NUMBER 8 /* the register that holds it: it stays */

static uint64_t number_at(const ucontext_t *uc) {
    return (uint32_t)arch_reg(uc, NUMBER);
}

static uint64_t number_behind(const uint8_t *code, size_t n, const ucontext_t *uc) {
    (void)code, (void)n;
    return number_at(uc);
}

#endif

/* Of this library: what the agent calls for itself is its own, and is no call of the program's. */
static uint64_t own_start, own_end;

void system_call_start(void) {
    struct dl_find_object found;
    if (!glibc_is_here() || _dl_find_object((void *)(uintptr_t)system_call_start, &found) != 0)
        return;
    own_start = (uintptr_t)found.dlfo_map_start;
    own_end = (uintptr_t)found.dlfo_map_end;
}

static bool is_own(uint64_t pc) {
    return pc >= own_start && pc < own_end;
}

#if defined(__x86_64__)
static bool is_for_program(const ucontext_t *uc) {
    return !is_own(arch_pc(uc)) || syscall_is_telling(arch_pc(uc));
}
#else
static bool is_for_program(const ucontext_t *uc) {
    return !is_own(arch_pc(uc));
}
#endif

static struct unwind_frame frame_of(uint64_t number, uint64_t site) {
    if (number >= WIRE_SYSTEM_CALLS)
        number = WIRE_SYSTEM_CALL_UNKNOWN;
    return (struct unwind_frame){WIRE_SYSTEM_CALL | number, site};
}

bool system_call_read(const struct unwind_env *env, const ucontext_t *uc,
                      struct unwind_frame *frame) {
    uint8_t code[CODE_BYTES];
    uint64_t pc = arch_pc(uc), behind = pc + ARCH_SYSCALL_BYTES;
    if (!is_for_program(uc))
        return false;
    size_t n = read_before(env, pc, code);
    if (is_call(code, n)) {
        *frame = frame_of(number_behind(code, n, uc), pc);
        return true;
    }
    if (!is_call(code, read_before(env, behind, code)))
        return false;
    *frame = frame_of(number_at(uc), behind);
    return true;
}

struct unwind_frame system_call_shown(uint64_t number) {
    return frame_of(number, 0);
}

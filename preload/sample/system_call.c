/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * system_call.c - code is read only where it is readable, a word at a time.
 */
#include "preload/sample/system_call.h"

#include <dlfcn.h>
#include <string.h>

#include "common/wire/wire.h"
#include "preload/life/glibc.h"
#include "preload/sample/call_number.h"
#include "preload/sample/unwind_inner.h"

#define CODE_BYTES CALL_NUMBER_CODE_BYTES

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

static bool is_for_program(const ucontext_t *uc) {
    return !is_own(arch_pc(uc)) || call_number_is_given(arch_pc(uc));
}

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
        *frame = frame_of(call_number_behind(code + CODE_BYTES - n, n, uc), pc);
        return true;
    }
    if (!is_call(code, read_before(env, behind, code)))
        return false;
    *frame = frame_of(call_number_at(uc), behind);
    return true;
}

struct unwind_frame system_call_shown(uint64_t number, uint64_t site) {
    return frame_of(number, site);
}

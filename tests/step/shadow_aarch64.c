/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shadow_aarch64.c - a call leaves its return address in a register, and the stack pointer where it
 * is: so it is over when a return leaves that there again. (Who calls has a frame, so its own call
 * has another slot.)
 */
#include "tests/step/shadow_machine.h"

#include "common/wire/arch.h"

#define CALL_BYTES 4

enum shadow_kind shadow_kind_at(struct memory *memory, uint64_t pc) {
    uint32_t word;
    if (!memory_bytes(memory, pc, &word, sizeof word))
        return SHADOW_OTHER;
    if ((word & 0xfc000000u) == 0x94000000u) /* bl */
        return SHADOW_CALL;
    if (word == 0xd4000001u) /* svc #0 */
        return SHADOW_SYSCALL;
    if ((word & 0xfe1f0000u) != 0xd61f0000u)
        return SHADOW_OTHER;
    switch (word >> 21 & 7) { /* by a register, which may be authenticated */
    case 0:
        return SHADOW_JUMP;
    case 1:
        return SHADOW_CALL;
    case 2:
        return SHADOW_RETURN;
    default:
        return SHADOW_OTHER;
    }
}

enum shadow_called shadow_machine_called(struct memory *memory,
                                         const struct user_regs_struct *before,
                                         const struct user_regs_struct *after, uint64_t *target) {
    (void)memory;
    *target = after->regs[ARCH_LINK];
    if (after->pc == before->pc)
        return SHADOW_FAULTED;
    return *target == before->pc + CALL_BYTES ? SHADOW_CALLED : SHADOW_STRANGE;
}

bool shadow_machine_first(struct memory *memory, const struct user_regs_struct *now,
                          uint64_t *target) {
    (void)memory;
    *target = now->regs[ARCH_LINK];
    return true;
}

uint64_t shadow_machine_left(uint64_t sp) {
    return sp + 1;
}

uint64_t shadow_machine_interrupted(const struct user_regs_struct *handler) {
    return handler->sp + ARCH_SIGFRAME_PC;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shadow_x86_64.c - a call writes its return address to its slot, which the return leaves.
 */
#include "tests/step/shadow_machine.h"

#include "common/wire/arch.h"

#define INSTRUCTION_MAX 15

static bool is_prefix(unsigned char byte) {
    return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0x3e || byte == 0x2e ||
           byte == 0x64 || byte == 0x65;
}

enum shadow_kind shadow_kind_at(struct memory *memory, uint64_t pc) {
    unsigned char code[8] = {0};
    size_t at = 0;
    for (size_t i = 0; i < sizeof code; i++)
        if (!memory_bytes(memory, pc + i, &code[i], 1))
            break;
    while (at < 4 && is_prefix(code[at]))
        at++;
    if ((code[at] & 0xf0) == 0x40)
        at++;
    unsigned extension = code[at + 1] >> 3 & 7;
    if (code[at] == 0xe8 || (code[at] == 0xff && extension == 2))
        return SHADOW_CALL;
    if (code[at] == 0xff && extension == 4)
        return SHADOW_JUMP;
    if (code[at] == 0xc3 || code[at] == 0xc2)
        return SHADOW_RETURN;
    return code[at] == 0x0f && code[at + 1] == 0x05 ? SHADOW_SYSCALL : SHADOW_OTHER;
}

enum shadow_called shadow_machine_called(struct memory *memory,
                                         const struct user_regs_struct *before,
                                         const struct user_regs_struct *after, uint64_t *target) {
    if (after->rsp != before->rsp - 8)
        return SHADOW_FAULTED;
    bool read = memory_word(memory, after->rsp, target);
    return read && *target - before->rip <= INSTRUCTION_MAX ? SHADOW_CALLED : SHADOW_STRANGE;
}

bool shadow_machine_first(struct memory *memory, const struct user_regs_struct *now,
                          uint64_t *target) {
    return memory_word(memory, now->rsp, target);
}

uint64_t shadow_machine_left(uint64_t sp) {
    return sp;
}

uint64_t shadow_machine_interrupted(const struct user_regs_struct *handler) {
    return handler->rsp + 8 + ARCH_SIGFRAME_PC;
}

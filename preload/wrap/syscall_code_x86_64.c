/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * syscall_code_x86_64.c - instructions, read backwards.
 *
 * Instructions can't be distinguished from their end with certainty, so only few forms are taken,
 * and one that could be the rest of a longer instruction is not. The caller looks the number up
 * among the few calls that it knows, which leaves next to nothing to chance.
 */
#include "preload/wrap/syscall_code.h"

#include "common/wire/arch.h"

#define MOVES_MAX 4

#define OP_XOR   0x31 /* of two registers */
#define OP_STORE 0x89
#define OP_LOAD  0x8b
#define OP_LEA   0x8d
/* And, or, xor ... of a register and a constant: of its lowest 8 bits, */
#define OP_BYTE    0x80
#define OP_LONG    0x81 /* of all of it, where the constant has 32 bits */
#define OP_WORD    0x83 /* or 8 */
#define OP_SHIFT   0xc1
#define OP_NOT     0xf7 /* also test and mul ..., by other bits of the operand */
#define OP_MOV_IMM 0xb8 /* + register */

static bool is_rex(uint8_t byte) {
    return (byte & 0xf0) == 0x40;
}

/* A byte 0xb8 that is an offset, in an instruction that ends in an offset and a constant. */
static bool is_offset(const uint8_t *at, size_t before) {
    static const uint8_t with_constant[] = {0xc7, 0x81, 0xf7, 0x69};
    for (size_t i = 0; i < sizeof with_constant; i++) {
        if (before >= 2 && at[-2] == with_constant[i] && (at[-1] & 0xc0) == 0x40)
            return true;
        if (before >= 3 && at[-3] == with_constant[i] && (at[-2] & 0xc7) == 0x44)
            return true;
    }
    return false;
}

/* The number, when the instruction that ends at `end` loads one. */
static long load_of_number(const uint8_t *end, size_t before) {
    if (before >= 3 && end[-2] == OP_XOR && end[-1] == 0xc0) /* xor %eax,%eax */
        return is_rex(end[-3]) ? -1 : 0;
    if (before < 8 || end[-5] != OP_MOV_IMM)
        return -1;
    /* with this bit in its prefix it is a move to another register */
    if ((is_rex(end[-6]) && (end[-6] & 1) != 0) || is_offset(end - 5, before - 5))
        return -1;
    return (long)(end[-4] | (uint32_t)end[-3] << 8 | (uint32_t)end[-2] << 16 |
                  (uint32_t)end[-1] << 24);
}

/* Bytes of a memory operand, its first one included. */
static size_t memory_operand(const uint8_t *p) {
    static const uint8_t offset_bytes[] = {0, 1, 4};
    unsigned mode = p[0] >> 6, base = p[0] & 7;
    if (base == 4)
        return 2u + (mode == 0 && (p[1] & 7) == 5 ? 4 : offset_bytes[mode]);
    return 1u + (mode == 0 && base == 5 ? 4 : offset_bytes[mode]);
}

/* Bytes of the operands of a load, a store or an xor, 0: none that is known; *to: what it sets. */
static size_t operands(const uint8_t *p, uint8_t rex, unsigned *to) {
    bool load = *p == OP_LOAD || *p == OP_LEA;
    unsigned reg = (p[1] >> 3 & 7) | (rex & 4u) << 1, rm = (p[1] & 7) | (rex & 1u) << 3;
    *to = load ? reg : rm;
    if (p[1] >> 6 != 3)
        return load ? memory_operand(p + 1) : 0;
    if (*p == OP_LEA || (*p == OP_XOR && reg != rm))
        return 0;
    return 1;
}

/* Bytes of an instruction that changes one register by itself or a constant, 0: it is none; *to:
 * which. Without a prefix four registers have names for their second byte. */
static size_t of_one(const uint8_t *p, uint8_t rex, unsigned *to) {
    *to = (p[1] & 7) | (rex & 1u) << 3;
    if (*p == OP_BYTE && rex == 0)
        *to &= 3;
    if (p[1] >> 6 != 3)
        return 0;
    if (*p == OP_NOT)
        return (p[1] & 0x30) == 0x10 ? 2 : 0; /* not, neg */
    return *p == OP_LONG ? 6 : *p == OP_BYTE || *p == OP_WORD || *p == OP_SHIFT ? 3 : 0;
}

/* Do the `length` bytes at `p` set one register other than the number's, and nothing else? */
static bool is_move(const uint8_t *p, size_t length) {
    uint8_t rex = is_rex(*p) ? *p : 0;
    unsigned to = 0;
    if (rex != 0) {
        p++;
        length--;
    }
    if (length < 2)
        return false;
    if (*p == OP_LOAD || *p == OP_LEA || *p == OP_STORE || *p == OP_XOR)
        return operands(p, rex, &to) + 1 == length && to != 0;
    if (of_one(p, rex, &to) == length)
        return to != 0;
    to = (*p & 7u) | (rex & 1u) << 3;
    return (*p & 0xf8) == OP_MOV_IMM && (rex & 8) == 0 && length == 5 && to != 0;
}

static long number_before(const uint8_t *end, size_t before, unsigned moves) {
    long number = load_of_number(end, before);
    if (number >= 0 || moves == 0)
        return number;
    for (size_t length = 2; length <= 8 && length < before; length++) {
        if (!is_move(end - length, length))
            continue;
        number = number_before(end - length, before - length, moves - 1);
        if (number >= 0)
            return number;
    }
    return -1;
}

long syscall_code_number(const uint8_t *end, size_t before) {
    return number_before(end, before, MOVES_MAX);
}

/* Of the registers that functions leave as they are, which no argument is in; and of those of
 * arguments that calls seldom have: the kernel leaves these as they are, too. */
static bool is_kept(unsigned reg) {
    return reg == 3 || reg == 5 || (reg >= 12 && reg <= 15) || /* rbx, rbp, r12 to r15 */
           (reg >= 8 && reg <= 10);
}

/* The register that the move of `length` bytes before `end` sets %eax from; -1: it is none. */
static int source_of_number(const uint8_t *end, size_t length) {
    const uint8_t *p = end - length;
    uint8_t rex = 0;
    if (length == 3 && !is_rex(rex = *p++))
        return -1;
    unsigned reg = (p[1] >> 3 & 7) | (rex & 4u) << 1, rm = (p[1] & 7) | (rex & 1u) << 3;
    bool load = *p == OP_LOAD;
    if (p[1] >> 6 != 3 || (!load && *p != OP_STORE) || (load ? reg : rm) != 0)
        return -1;
    return is_kept(load ? rm : reg) ? (int)(load ? rm : reg) : -1;
}

static int register_before(const uint8_t *end, size_t before, unsigned moves) {
    int reg = before >= 3 ? source_of_number(end, 3) : -1;
    if (reg < 0 && before >= 3 && !is_rex(end[-3]))
        reg = source_of_number(end, 2);
    for (size_t length = 2; reg < 0 && moves > 0 && length <= 8 && length < before; length++)
        if (is_move(end - length, length))
            reg = register_before(end - length, before - length, moves - 1);
    return reg;
}

int syscall_code_register(const uint8_t *end, size_t before) {
    return register_before(end, before, MOVES_MAX);
}

/* The number stays in a register that the kernel leaves alone. */
__asm__(".pushsection .text\n"
        ".p2align 4\n"
        ".globl syscall_telling\n"
        ".hidden syscall_telling\n"
        ".type syscall_telling, @function\n"
        "syscall_telling:\n"
        ".cfi_startproc\n"
#if defined(__CET__) && (__CET__ & 1) != 0
        "endbr64\n"
#endif
        "pushq %rbx\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset rbx, 0\n"
        "movq %rdi, %rbx\n"
        "movq %rdi, %rax\n"
        "movq %rsi, %rdi\n"
        "movq %rdx, %rsi\n"
        "movq %rcx, %rdx\n"
        "movq %r8, %r10\n"
        "movq %r9, %r8\n"
        "movq 16(%rsp), %r9\n"
        "syscall\n"
        "syscall_made:\n"
        "popq %rbx\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_restore rbx\n"
        "cmpq $-4095, %rax\n"
        "jae 1f\n"
        "ret\n"
        "1: pushq %rax\n"
        ".cfi_adjust_cfa_offset 8\n"
        "call *__errno_location@GOTPCREL(%rip)\n"
        "popq %rcx\n"
        ".cfi_adjust_cfa_offset -8\n"
        "negl %ecx\n"
        "movl %ecx, (%rax)\n"
        "movq $-1, %rax\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size syscall_telling, .-syscall_telling\n"
        ".globl syscall_made\n"
        ".hidden syscall_made\n"
        ".popsection\n");

extern const uint8_t syscall_made[] __attribute__((visibility("hidden")));

long syscall_known(const ucontext_t *uc) {
    const greg_t *regs = uc->uc_mcontext.gregs;
    return (uint64_t)regs[REG_RIP] == (uintptr_t)syscall_made ? (long)regs[REG_RBX] : -1;
}

bool syscall_is_telling(uint64_t pc) {
    uint64_t made = (uintptr_t)syscall_made;
    return pc == made || pc == made - ARCH_SYSCALL_BYTES;
}

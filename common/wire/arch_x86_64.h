/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * arch_x86_64.h - arch.h on x86-64: included by it alone.
 */
#ifndef HCCT_ARCH_X86_64_H
#define HCCT_ARCH_X86_64_H

#define ARCH_ADDRESS_BITS 47
#define ARCH_REGS         16 /* DWARF 0..15 */
#define ARCH_FP           6
#define ARCH_SP           7
#define ARCH_HAS_LINK     0 /* a call leaves the return address in a register */
#define ARCH_LINK         0
#define ARCH_CALL_BYTES   8  /* a call moves the stack pointer so far */
#define ARCH_FP_TELLS_SP  1  /* return address and saved frame pointer are the last of a frame */
#define ARCH_RESULT       0  /* where a system call's answer is */
#define ARCH_UNWIND_PC    16 /* libunwind's number of the program counter */

/* Registers that any function may overwrite. */
#define ARCH_CALL_WRITES (1u << 0 | 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5 | 0xfu << 8)

/* A return address as it is without a signature. */
static inline uint64_t arch_unsigned(uint64_t ra) {
    return ra;
}

/* ---- the usual frame ---- */

#define ARCH_USUAL_RA (-8) /* from the frame's address to the return address */

/* Whether the usual frame has return address and saved frame pointer so far from its address. */
static inline int arch_is_usual(int64_t ra_off, int64_t fp_off) {
    (void)fp_off;
    return ra_off == ARCH_USUAL_RA;
}

/* Where the saved frame pointer would be, of a frame that has none: somewhere that can be read. */
static inline int64_t arch_usual_fp(int64_t ra_off) {
    return ra_off;
}

static inline uint64_t arch_usual_ra_at(uint64_t cfa, uint64_t fp_at) {
    (void)fp_at;
    return cfa + (uint64_t)(int64_t)ARCH_USUAL_RA;
}

/* Of a table of links, from where it pushes to its jump: it has a rule. */
#define ARCH_LINKS_BYTES  8
#define ARCH_LINKS_PUSHED 0
static inline int arch_links_push(const uint8_t *code) {
    (void)code;
    return 0;
}

#define ARCH_SYSCALL_BYTES 2
#define ARCH_CODE_ALIGN    1 /* of instructions */

static inline int arch_is_syscall(const uint8_t *code) {
    return code[0] == 0x0f && code[1] == 0x05;
}

/* libc's has an entry that says so. */
static inline int arch_is_sigreturn(const uint8_t *code) {
    (void)code;
    return 0;
}

/* libc's order of saved registers, by DWARF number. */
static const uint8_t arch_greg_of[ARCH_REGS] = {
    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

/* A program may have asked for a fault at each access that is not aligned (the flag AC). The kernel
 * leaves that as it is for a handler, whose compiler knows nothing of it; the return from it brings
 * it back. Signal context, first. */
static inline void arch_allow_unaligned(const ucontext_t *uc) {
    if (__builtin_expect((uc->uc_mcontext.gregs[REG_EFL] & 0x40000) != 0, 0))
        __asm__ volatile("leaq -128(%%rsp), %%rsp\n" /* what lies below may be in use */
                         "pushfq\n"
                         "andl $~0x40000, (%%rsp)\n"
                         "popfq\n"
                         "leaq 128(%%rsp), %%rsp\n"
                         :
                         :
                         : "cc", "memory");
}

static inline uint64_t arch_pc(const ucontext_t *uc) {
    return (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
}

static inline uint64_t arch_reg(const ucontext_t *uc, unsigned dwarf) {
    return (uint64_t)uc->uc_mcontext.gregs[arch_greg_of[dwarf]];
}

/* False: the thread is not in a system call, nor about to make one again. The instruction leaves
 * the address behind it in a register. (Processors with FRED need not: there it is always false.)
 */
static inline int arch_may_be_in_call(const ucontext_t *uc) {
    uint64_t ahead = (uint64_t)uc->uc_mcontext.gregs[REG_RCX] - arch_pc(uc);
    return ahead == 0 || ahead == ARCH_SYSCALL_BYTES;
}

/* Whether the instruction that ends at `end` can be a call; the 8 bytes before it can be read. */
static inline int arch_is_call_before(const uint8_t *end) {
    static const uint8_t indirect[] = {2, 3, 4, 6, 7}; /* lengths of call through a register */
    if (end[-5] == 0xe8)
        return 1;
    for (unsigned i = 0; i < sizeof indirect; i++)
        if (end[-indirect[i]] == 0xff && (end[1 - indirect[i]] & 0x38) == 0x10)
            return 1;
    return 0;
}

/* Where the direct call that ends at `end` goes, `address` being that of `end`; 0: it is none. */
static inline uint64_t arch_call_target(const uint8_t *end, uint64_t address) {
    int32_t distance;
    if (end[-5] != 0xe8)
        return 0;
    __builtin_memcpy(&distance, end - 4, sizeof distance);
    return address + (uint64_t)(int64_t)distance;
}

/* The word that the call through memory that ends at `end` takes its target from; 0: it is none. */
static inline uint64_t arch_call_slot(const uint8_t *end, uint64_t address) {
    int32_t distance;
    if (end[-6] != 0xff || end[-5] != 0x15)
        return 0;
    __builtin_memcpy(&distance, end - 4, sizeof distance);
    return address + (uint64_t)(int64_t)distance;
}

/* The word that a jump through memory at `code` (16 bytes) takes its target from, as in a PLT entry
 * at `address`; 0: it is no such jump. */
static inline uint64_t arch_jump_slot(const uint8_t *code, uint64_t address) {
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    unsigned at = __builtin_memcmp(code, endbr, sizeof endbr) == 0 ? 4 : 0;
    int32_t distance;
    at += code[at] == 0xf2; /* bnd */
    if (code[at] != 0xff || code[at + 1] != 0x25)
        return 0;
    __builtin_memcpy(&distance, code + at + 2, sizeof distance);
    return address + at + 6 + (uint64_t)(int64_t)distance;
}

/* From 8 bytes of code on each side of an interrupted pc. */
static inline enum arch_frame arch_frame_at(const uint8_t *pc) {
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    static const uint8_t set[][3] = {{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}}; /* mov rsp to rbp */
    const uint8_t *entry = __builtin_memcmp(pc, endbr, sizeof endbr) == 0 ? pc + 4 : pc;
    if (*entry == 0x55 || *pc == 0xc3 || *pc == 0xc2) /* push rbp; ret */
        return ARCH_FRAME_NONE;
    if (pc[-1] == 0x55 &&
        (__builtin_memcmp(pc, set[0], 3) == 0 || __builtin_memcmp(pc, set[1], 3) == 0))
        return ARCH_FRAME_PUSHED;
    return ARCH_FRAME_SET;
}

/* Offsets from the canonical frame of the handler (where the stack pointer is after it returned to
 * the trampoline): the kernel has put a ucontext there. */
#define ARCH_SIGFRAME_REG(dwarf)                                                                   \
    (offsetof(ucontext_t, uc_mcontext.gregs) + 8u * arch_greg_of[dwarf])
#define ARCH_SIGFRAME_PC (offsetof(ucontext_t, uc_mcontext.gregs) + 8u * REG_RIP)

#endif

/*
 * arch.h - what the walk must know of the machine: registers of an interrupted program, by their
 * DWARF numbers, and where a signal frame keeps them.
 */
#ifndef HCCT_ARCH_H
#define HCCT_ARCH_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#if defined(__x86_64__)

#define ARCH_REGS       16 /* DWARF 0..15 */
#define ARCH_FP         6
#define ARCH_SP         7
#define ARCH_HAS_LINK   0 /* a call leaves the return address in a register */
#define ARCH_LINK       0
#define ARCH_CALL_BYTES 8 /* a call moves the stack pointer so far */

/* libc's order of saved registers, by DWARF number. */
static const uint8_t arch_greg_of[ARCH_REGS] = {
    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

static inline uint64_t arch_pc(const ucontext_t *uc) {
    return (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
}

static inline uint64_t arch_reg(const ucontext_t *uc, unsigned dwarf) {
    return (uint64_t)uc->uc_mcontext.gregs[arch_greg_of[dwarf]];
}

/* Offsets from the canonical frame of the handler (where the stack pointer is after it returned to
 * the trampoline): the kernel has put a ucontext there. */
#define ARCH_SIGFRAME_REG(dwarf)                                                                   \
    (offsetof(ucontext_t, uc_mcontext.gregs) + 8u * arch_greg_of[dwarf])
#define ARCH_SIGFRAME_PC (offsetof(ucontext_t, uc_mcontext.gregs) + 8u * REG_RIP)

#elif defined(__aarch64__)

#define ARCH_REGS       32
#define ARCH_FP         29
#define ARCH_SP         31
#define ARCH_HAS_LINK   1
#define ARCH_LINK       30
#define ARCH_CALL_BYTES 0

static inline uint64_t arch_pc(const ucontext_t *uc) {
    return uc->uc_mcontext.pc;
}

static inline uint64_t arch_reg(const ucontext_t *uc, unsigned dwarf) {
    return dwarf == ARCH_SP ? uc->uc_mcontext.sp : uc->uc_mcontext.regs[dwarf];
}

#define ARCH_SIGINFO_BYTES 128u /* the frame begins with a siginfo */
#define ARCH_SIGFRAME_REG(dwarf)                                                                   \
    (ARCH_SIGINFO_BYTES + ((dwarf) == ARCH_SP                                                      \
                               ? offsetof(ucontext_t, uc_mcontext.sp)                              \
                               : offsetof(ucontext_t, uc_mcontext.regs) + 8u * (dwarf)))
#define ARCH_SIGFRAME_PC (ARCH_SIGINFO_BYTES + offsetof(ucontext_t, uc_mcontext.pc))

#else
#error "the walk knows no registers for this machine"
#endif

#endif

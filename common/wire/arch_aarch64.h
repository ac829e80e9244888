/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * arch_aarch64.h - arch.h on aarch64: included by it alone.
 */
#ifndef HCCT_ARCH_AARCH64_H
#define HCCT_ARCH_AARCH64_H

#define ARCH_ADDRESS_BITS 48 /* of a program: mmap begins at 0xffff... */
#define ARCH_REGS         32
#define ARCH_FP           29
#define ARCH_SP           31
#define ARCH_HAS_LINK     1
#define ARCH_LINK         30
#define ARCH_CALL_BYTES   0
#define ARCH_FP_TELLS_SP  0
#define ARCH_RESULT       0
#define ARCH_UNWIND_PC    32

#define ARCH_CALL_WRITES (0x7ffffu | 1u << ARCH_LINK)

/* An instruction that older processors take for a no-op. */
static inline uint64_t arch_unsigned(uint64_t ra) {
    register uint64_t x30 __asm__("x30") = ra;
    __asm__("hint #7" : "+r"(x30)); /* xpaclri */
    return x30;
}

/* ---- the usual frame: saved frame pointer and return address side by side ---- */

static inline int arch_is_usual(int64_t ra_off, int64_t fp_off) {
    return ra_off == fp_off + 8;
}

static inline int64_t arch_usual_fp(int64_t ra_off) {
    return ra_off - 8;
}

static inline uint64_t arch_usual_ra_at(uint64_t cfa, uint64_t fp_at) {
    (void)cfa;
    return fp_at + 8;
}

#define ARCH_SYSCALL_BYTES 4
#define ARCH_CODE_ALIGN    4

static inline int arch_is_syscall(const uint8_t *code) {
    uint32_t word;
    __builtin_memcpy(&word, code, sizeof word);
    return word == 0xd4000001u; /* svc #0 */
}

/* Whether a handler of a signal returns to the code: the kernel's own, which has no unwind entry.
 * 8 bytes. mov x8, #139; svc #0 */
static inline int arch_is_sigreturn(const uint8_t *code) {
    static const uint32_t words[] = {0xd2801168u, 0xd4000001u};
    return __builtin_memcmp(code, words, sizeof words) == 0;
}

/* No program can ask for faults at accesses that are not aligned. */
static inline void arch_allow_unaligned(const ucontext_t *uc) {
    (void)uc;
}

static inline uint64_t arch_pc(const ucontext_t *uc) {
    return uc->uc_mcontext.pc;
}

static inline uint64_t arch_reg(const ucontext_t *uc, unsigned dwarf) {
    return dwarf == ARCH_SP ? uc->uc_mcontext.sp : uc->uc_mcontext.regs[dwarf];
}

static inline int arch_may_be_in_call(const ucontext_t *uc) {
    (void)uc;
    return 1; /* the code tells */
}

static inline int arch_is_call_before(const uint8_t *end) {
    uint32_t word;
    __builtin_memcpy(&word, end - 4, sizeof word);
    return (word & 0xfc000000u) == 0x94000000u || (word & 0xfffffc1fu) == 0xd63f0000u; /* bl, blr */
}

static inline uint64_t arch_call_target(const uint8_t *end, uint64_t address) {
    uint32_t word;
    __builtin_memcpy(&word, end - 4, sizeof word);
    if ((word & 0xfc000000u) != 0x94000000u)
        return 0;
    return address - 4 + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4); /* 26 bits of words */
}

static inline uint64_t arch_call_slot(const uint8_t *end, uint64_t address) {
    (void)end, (void)address;
    return 0; /* no such instruction */
}

/* adrp x16; ldr x17, [x16, ...]; after a landing pad where there is one. */
static inline uint64_t arch_jump_slot(const uint8_t *code, uint64_t address) {
    uint32_t word[4];
    __builtin_memcpy(word, code, sizeof word);
    unsigned at = word[0] == 0xd503245fu; /* bti c */
    if ((word[at] & 0x9f00001fu) != 0x90000010u || (word[at + 1] & 0xffc003ffu) != 0xf9400211u)
        return 0;
    uint64_t pages = (word[at] >> 5 & 0x7ffffu) << 2 | (word[at] >> 29 & 3);
    uint64_t page = (address & ~0xfffull) + (uint64_t)((int64_t)(pages << 43) >> 31);
    return page + (word[at + 1] >> 10 & 0xfffu) * 8;
}

/* stp x29, x30, [sp, -n]! */
static inline int arch_is_frame_push(uint32_t word) {
    return (word & 0xffe07fffu) == 0xa9a07bfdu;
}

/* stp x16, x30, [sp, #-16]!: what a table of links pushes before its jump to the dynamic linker,
 * which is so far behind. */
#define ARCH_LINKS_BYTES  16
#define ARCH_LINKS_PUSHED 16
static inline int arch_links_push(const uint8_t *code) {
    uint32_t word;
    __builtin_memcpy(&word, code, sizeof word);
    return word == 0xa9bf7bf0u;
}

/* ret, which may authenticate, or what authenticates before it: nothing else comes then. */
static inline int arch_is_frame_gone(uint32_t word) {
    return word == 0xd65f03c0u || (word & 0xfffffbffu) == 0xd65f0bffu ||
           (word & 0xffffffbfu) == 0xd50323bfu;
}

/* From 8 bytes of code on each side of an interrupted pc. */
static inline enum arch_frame arch_frame_at(const uint8_t *pc) {
    uint32_t before, at, after;
    __builtin_memcpy(&before, pc - 4, sizeof before);
    __builtin_memcpy(&at, pc, sizeof at);
    __builtin_memcpy(&after, pc + 4, sizeof after);
    int is_pad = (at & 0xffffffbfu) == 0xd503233fu || (at & 0xffffff3fu) == 0xd503241fu;
    if (arch_is_frame_push(at) || (is_pad && arch_is_frame_push(after)) || arch_is_frame_gone(at))
        return ARCH_FRAME_NONE; /* paciasp, pacibsp, bti */
    return arch_is_frame_push(before) && at == 0x910003fdu ? ARCH_FRAME_PUSHED : ARCH_FRAME_SET;
}

#define ARCH_SIGINFO_BYTES 128u /* the frame begins with a siginfo */
#define ARCH_SIGFRAME_REG(dwarf)                                                                   \
    (ARCH_SIGINFO_BYTES + ((dwarf) == ARCH_SP                                                      \
                               ? offsetof(ucontext_t, uc_mcontext.sp)                              \
                               : offsetof(ucontext_t, uc_mcontext.regs) + 8u * (dwarf)))
#define ARCH_SIGFRAME_PC (ARCH_SIGINFO_BYTES + offsetof(ucontext_t, uc_mcontext.pc))

#endif

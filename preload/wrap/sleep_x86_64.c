/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep_x86_64.c - sleep_machine.h on x86-64.
 */
#include "preload/wrap/sleep_machine.h"

#include <stddef.h>

#include "common/wire/compiler.h"
#include "preload/life/thread.h"
#include "preload/sample/stack.h"
#include "preload/wrap/sleep_list.h"
#include "preload/wrap/syscall_code.h"

/* clang-format off */
#define ARGUMENT_0 "rdi"
#define ARGUMENT_1 "rsi"
#define ARGUMENT_2 "rdx"
#define ARGUMENT_3 "rcx"
#define ARGUMENT_4 "r8"
#define ARGUMENT_5 "r9"

/* Which of a stub's calls SLEEP_FRAGILE asks for: instructions that go to 4 for the others. */
#define NONE "jmp 4f\n"
#define ALL  ""
#define IF_WAITALL(flags)                                                                          \
    "testq $0x100, %" ARGUMENT_##flags "\n"                                                        \
    "je 4f\n"
/* Several messages are waited for, unless it is MSG_WAITFORONE. */
#define IF_MANY(flags)                                                                             \
    "testq $0x10000, %" ARGUMENT_##flags "\n"                                                      \
    "jne 4f\n"
#define IF_SET(argument)                                                                           \
    "testq %" ARGUMENT_##argument ", %" ARGUMENT_##argument "\n"                                   \
    "je 4f\n"
#define IF_SAME(one, other)                                                                        \
    "cmpq %" ARGUMENT_##one ", %" ARGUMENT_##other "\n"                                            \
    "jne 4f\n"

/* What waits for a second at most, by an argument in milliseconds or microseconds, or one that
 * points to the time: our signal can wait as long, and only the kernel knows how much of the time
 * is left. */
#define IF_MS(argument)                                                                            \
    "leal -1(%" ARGUMENT_##argument "), %r10d\n"                                                   \
    "cmpl $1000, %r10d\n"                                                                          \
    "jae 4f\n"
#define IF_AT_MOST(most, argument)                                                                 \
    "movq %" ARGUMENT_##argument ", %r10\n"                                                        \
    "cmpl $" #most ", %r10d\n"                                                                     \
    "ja 4f\n"
#define IF_SHORT(argument)                                                                         \
    "movq %" ARGUMENT_##argument ", %r10\n"                                                        \
    "jmp 7f\n"
#define IF_SET_OR_MS(set, argument)                                                                \
    "testq %" ARGUMENT_##set ", %" ARGUMENT_##set "\n"                                             \
    "jne 3f\n" IF_MS(argument)
#define IF_SET_OR_SHORT(set, argument)                                                             \
    "testq %" ARGUMENT_##set ", %" ARGUMENT_##set "\n"                                             \
    "jne 3f\n" IF_SHORT(argument)
#define IF_SAME_OR_SHORT(one, other)                                                               \
    "cmpq %" ARGUMENT_##one ", %" ARGUMENT_##other "\n"                                            \
    "je 3f\n" IF_SHORT(one)
/* Of clock_nanosleep: until a moment, or for a time. */
#define IF_SAME_OR_RELATIVE_SHORT(flags, one, other)                                               \
    "cmpq %" ARGUMENT_##one ", %" ARGUMENT_##other "\n"                                            \
    "je 3f\n"                                                                                      \
    "testq $1, %" ARGUMENT_##flags "\n"                                                            \
    "jne 4f\n" IF_SHORT(one)

#define IF_ABOVE(bytes, count)                                                                     \
    "cmpq $" #bytes ", %" ARGUMENT_##count "\n"                                                    \
    "jbe 4f\n"
/* Of a device that is memory: what has a page, and is not over when a signal comes, ends. */
#define IF_MEMORY(name)                                                                            \
    "leaq sleep_slot_" #name "(%rip), %r11\n"                                                      \
    "jmp sleep_if_memory\n"
#define IF_MEMORY_ABOVE(name, bytes, count) IF_ABOVE(bytes, count) IF_MEMORY(name)
/* With a time of the descriptor's own: it is made again. */
#define IF_TIMED(name) NONE

#define IF_FRAGILE_NUMBER                                                                          \
    "cmpq $447, %rdi\n"                                                                            \
    "ja 4f\n"                                                                                      \
    "btq %rdi, sleep_fragile_numbers(%rip)\n"                                                      \
    "jnc 4f\n"

/* Of locks: somebody has it, as its first word says. (A read-write lock: 2, a writer has it or waits
 * for readers to leave; 1 alone, nobody has had it since a writer.) */
#define IF_TAKEN                                                                                   \
    "cmpl $0, (%rdi)\n"                                                                            \
    "je 0f\n"
#define IF_WRITTEN                                                                                 \
    "testb $2, (%rdi)\n"                                                                           \
    "je 0f\n"
#define IF_USED                                                                                    \
    "testl $-2, (%rdi)\n"                                                                          \
    "je 0f\n"

/* clang-format on */
#if defined(__CET__) && (__CET__ & 1) != 0
#define ENTRY "endbr64\n"
#else
#define ENTRY ""
#endif

#define PUSH(reg)                                                                                  \
    "pushq %" reg "\n"                                                                             \
    ".cfi_adjust_cfa_offset 8\n"
#define POP(reg)                                                                                   \
    "popq %" reg "\n"                                                                              \
    ".cfi_adjust_cfa_offset -8\n"

/* All that can carry an argument into the functions below, the number of vector registers of a
 * variadic one, and the slot. With the return address they leave the stack aligned. */
/* clang-format off */
#define SAVE_ARGUMENTS                                                                             \
    PUSH("rdi") PUSH("rsi") PUSH("rdx") PUSH("rcx") PUSH("r8") PUSH("r9")                          \
    PUSH("rax") PUSH("r10") PUSH("r11")
#define RESTORE_ARGUMENTS                                                                          \
    POP("r11") POP("r10") POP("rax")                                                               \
    POP("r9") POP("r8") POP("rcx") POP("rdx") POP("rsi") POP("rdi")

/* Calls a function on the slot in r11, then goes on to where the slot leads. */
#define DETOUR(label, function)                                                                    \
    ".p2align 4\n"                                                                                 \
    ".type " label ", @function\n"                                                                 \
    label ":\n"                                                                                    \
    ".cfi_startproc\n"                                                                             \
    SAVE_ARGUMENTS                                                                                 \
    "movq %r11, %rdi\n"                                                                            \
    "call " function "\n"                                                                          \
    RESTORE_ARGUMENTS                                                                              \
    "jmp *(%r11)\n"                                                                                \
    ".cfi_endproc\n"                                                                               \
    ".size " label ", .-" label "\n"

/* The call whose slot is in r11 and whose first argument is a descriptor. */
#define MEMORY_CALL                                                                                \
    ".p2align 4\n"                                                                                 \
    ".type sleep_if_memory, @function\n"                                                           \
    "sleep_if_memory:\n"                                                                           \
    ".cfi_startproc\n"                                                                             \
    SAVE_ARGUMENTS                                                                                 \
    "call sleep_is_memory\n"                                                                       \
    "testb %al, %al\n" /* the flags stay */                                                        \
    RESTORE_ARGUMENTS                                                                              \
    "jne sleep_call_masked\n"                                                                      \
    "jmp sleep_call_watched\n"                                                                     \
    ".cfi_endproc\n"                                                                               \
    ".size sleep_if_memory, .-sleep_if_memory\n"

/* The call whose slot is in r11, and where its time is in r10. */
#define SHORT_CALL                                                                                 \
    ".p2align 4\n"                                                                                 \
    ".type sleep_if_short, @function\n"                                                            \
    "sleep_if_short:\n"                                                                            \
    ".cfi_startproc\n"                                                                             \
    SAVE_ARGUMENTS                                                                                 \
    "movq %r10, %rdi\n"                                                                            \
    "call sleep_is_short\n"                                                                        \
    "testb %al, %al\n" /* the flags stay */                                                        \
    RESTORE_ARGUMENTS                                                                              \
    "jne sleep_call_masked\n"                                                                      \
    "jmp sleep_call_watched\n"                                                                     \
    ".cfi_endproc\n"                                                                               \
    ".size sleep_if_short, .-sleep_if_short\n"

/* r11 is where the thread's sleep_burst is, up to label 3. */
#define STUB(name, fragile, open, set, call) STUB_OF(name, "globl", "", fragile, "")
/* The library that is loaded into a process that runs has its own of these (locks/wrap.c). */
#define STUB_OF_LOCK(name, taken, open, set, call) STUB_OF(name, "weak", taken, NONE, "")

/* rt_sigaction; sigaltstack; seccomp, or prctl(PR_SET_SECCOMP), or prctl(PR_SET_SYSCALL_USER_DISPATCH) */
#define IF_SENT                                                                                    \
    "cmpq $13, %rdi\n"                                                                             \
    "je signal_syscall\n"                                                                          \
    "cmpq $131, %rdi\n"                                                                            \
    "je signal_syscall_stack\n"                                                                    \
    "cmpq $317, %rdi\n"                                                                            \
    "je confine_syscall\n"                                                                         \
    "cmpq $157, %rdi\n"                                                                            \
    "jne 5f\n"                                                                                     \
    "cmpq $22, %rsi\n"                                                                             \
    "je confine_syscall\n"                                                                         \
    "cmpq $59, %rsi\n"                                                                             \
    "je confine_syscall\n"                                                                         \
    "5:\n"
/* Others may return in another process, or not at all. */
#define IF_FUTEX                                                                                   \
    "cmpq $202, %rdi\n"                                                                            \
    "jne 6f\n"
#define STUB_RAW(name, fragile, open, set, call)                              \
    STUB_OF(name, "globl", IF_SENT IF_STARTS, fragile, IF_FUTEX)

#define IF_MASKED(label)                                                                           \
    "movq sleep_masked@gottpoff(%rip), %r11\n"                                                     \
    "cmpq $0, %fs:(%r11)\n"                                                                        \
    "jne " label "\n"
/* Within a handler that has interrupted a masked call. */
#define IF_STARTS                                                                                  \
    IF_MASKED("8f")                                                                                \
    "jmp 9f\n"                                                                                     \
    "8:\n" SAVE_ARGUMENTS "call sleep_open_for\n" RESTORE_ARGUMENTS "9:\n"

/* Has no frame: some of these return twice, or take any number of arguments. */
#define STUB_OF_STARTER(name, fragile, open, set, call)                                                  \
    ".p2align 4\n"                                                                                 \
    ".globl " #name "\n"                                                                           \
    ".type " #name ", @function\n"                                                                 \
    #name ":\n"                                                                                    \
    ".cfi_startproc\n"                                                                             \
    ENTRY                                                                                          \
    IF_MASKED("1f")                                                                                \
    "jmp *sleep_slot_" #name "(%rip)\n"                                                            \
    "1: leaq sleep_slot_" #name "(%rip), %r11\n"                                                   \
    "jmp sleep_start_open\n"                                                                       \
    ".cfi_endproc\n"                                                                               \
    ".size " #name ", .-" #name "\n" LAZY(name)

/* Where the slot leads at first. */
#define LAZY(name)                                                                                 \
    ".type sleep_lazy_" #name ", @function\n"                                                      \
    "sleep_lazy_" #name ":\n"                                                                      \
    ".cfi_startproc\n"                                                                             \
    ENTRY                                                                                          \
    "leaq sleep_slot_" #name "(%rip), %r11\n"                                                      \
    "jmp sleep_learn\n"                                                                            \
    ".cfi_endproc\n"                                                                               \
    ".size sleep_lazy_" #name ", .-sleep_lazy_" #name "\n"                                         \
    ".pushsection .data.sleep_slots, \"aw\"\n"                                                     \
    "sleep_slot_" #name ": .quad sleep_lazy_" #name "\n"                                           \
    ".popsection\n"

#define STUB_OF(name, binding, before, fragile, watched)                                           \
    ".p2align 4\n"                                                                                 \
    "." binding " " #name "\n"                                                                     \
    ".type " #name ", @function\n"                                                                 \
    #name ":\n"                                                                                    \
    ".cfi_startproc\n"                                                                             \
    ENTRY before                                                                                   \
    "movq sleep_burst@gottpoff(%rip), %r11\n"                                                      \
    "cmpb $0, %fs:(%r11)\n"                                                                        \
    "jne 1f\n"                                                                                     \
    "0: jmp *sleep_slot_" #name "(%rip)\n"                                                         \
    "1: testb $4, %fs:(%r11)\n" /* SLEEP_MASKED */                                                 \
    "jne 3f\n"                                                                                     \
    "testb $2, %fs:(%r11)\n" /* SLEEP_FRAGILE */                                                   \
    "je 4f\n"                                                                                      \
    fragile                                                                                        \
    "3: leaq sleep_slot_" #name "(%rip), %r11\n"                                                   \
    "jmp sleep_call_masked\n"                                                                      \
    "4: testb $16, %fs:(%r11)\n" /* SLEEP_WATCHED */                                               \
    "je 6f\n"                                                                                      \
    watched                                                                                        \
    "leaq sleep_slot_" #name "(%rip), %r11\n"                                                      \
    "jmp sleep_call_watched\n"                                                                     \
    "6: testb $8, %fs:(%r11)\n" /* SLEEP_NEXT */                                                   \
    "je 0b\n"                                                                                      \
    "leaq sleep_slot_" #name "(%rip), %r11\n"                                                      \
    "jmp sleep_announce\n"                                                                         \
    "7: leaq sleep_slot_" #name "(%rip), %r11\n"                                                   \
    "jmp sleep_if_short\n"                                                                         \
    ".cfi_endproc\n"                                                                               \
    ".size " #name ", .-" #name "\n" LAZY(name)

/* The call whose slot is in r11, with a struct sleep_call on the stack. One word of arguments on
 * the stack is passed on: no function above has more. Either with our signal blocked: one that was
 * put off comes at the last system call then, at sleep_call_left. Or watched: a sleep whose checks
 * have become rare (SLEEP_NEXT) is over at its end. */
#define MASKED_CALL                                                                                \
    ".p2align 4\n"                                                                                 \
    ".type sleep_call_masked, @function\n"                                                         \
    ".cfi_startproc\n"                                                                             \
    ".cfi_personality 0x1b, sleep_unwound\n" /* relative to the word itself, 4 bytes */            \
    "sleep_call_watched:\n"                                                                        \
    "movl $1, %r10d\n"                                                                             \
    "jmp 6f\n"                                                                                     \
    "sleep_call_masked:\n"                                                                         \
    "xorl %r10d, %r10d\n"                                                                          \
    "6:\n"                                                                                         \
    PUSH("rbp")                                                                                    \
    ".cfi_rel_offset rbp, 0\n"                                                                     \
    "movq %rsp, %rbp\n"                                                                            \
    ".cfi_def_cfa_register rbp\n"                                                                  \
    "subq $256, %rsp\n"                                                                            \
    "movq %r10, 88(%rsp)\n"                                                                        \
    "movq 16(%rbp), %r10\n"                                                                        \
    "movq %r10, 0(%rsp)\n"                                                                         \
    "movq %rdi, 8(%rsp)\n"                                                                         \
    "movq %rsi, 16(%rsp)\n"                                                                        \
    "movq %rdx, 24(%rsp)\n"                                                                        \
    "movq %rcx, 32(%rsp)\n"                                                                        \
    "movq %r8, 40(%rsp)\n"                                                                         \
    "movq %r9, 48(%rsp)\n"                                                                         \
    "movq %rax, 56(%rsp)\n"                                                                        \
    "movq %r11, 64(%rsp)\n"                                                                        \
    "movq %rsp, %rdi\n"                                                                            \
    "call sleep_enter\n"                                                                           \
    "movq 8(%rsp), %rdi\n"                                                                         \
    "movq 16(%rsp), %rsi\n"                                                                        \
    "movq 24(%rsp), %rdx\n"                                                                        \
    "movq 32(%rsp), %rcx\n"                                                                        \
    "movq 40(%rsp), %r8\n"                                                                         \
    "movq 48(%rsp), %r9\n"                                                                         \
    "movq 56(%rsp), %rax\n"                                                                        \
    "movq 64(%rsp), %r11\n"                                                                        \
    "call *(%r11)\n"                                                                               \
    "sleep_call_made:\n"                                                                           \
    "cmpq $1, 88(%rsp)\n" /* unblock */                                                            \
    "je 5f\n"                                                                                      \
    "ja 7f\n"                                                                                      \
    "movq sleep_burst@gottpoff(%rip), %r11\n"                                                      \
    "testb $8, %fs:(%r11)\n" /* SLEEP_NEXT */                                                      \
    "je 1f\n"                                                                                      \
    "movq %rax, 80(%rsp)\n"                                                                        \
    "movq %rsp, %rdi\n"                                                                            \
    "call trigger_after_watched\n"                                                                 \
    "movq 80(%rsp), %rax\n"                                                                        \
    "jmp 1f\n"                                                                                     \
    "5: movq %rax, 80(%rsp)\n"                                                                     \
    "movq %rsp, %rdi\n"                                                                            \
    "call trigger_after_masked\n"                                                                  \
    "movq sleep_masked@gottpoff(%rip), %r11\n"                                                     \
    "movq 240(%rsp), %rax\n"                                                                       \
    "movq %rax, %fs:(%r11)\n"                                                                      \
    "movq thread_self@gottpoff(%rip), %r11\n"                                                      \
    "movq %fs:(%r11), %r11\n"                                                                      \
    "testq %r11, %r11\n"                                                                           \
    "je 2f\n"                                                                                      \
    "movl $1, %eax\n"                                                                              \
    "xchgl %eax, 16(%r11)\n" /* inside: as confine_enter */                                        \
    "2: cmpb $0, confine_all(%rip)\n"                                                              \
    "jne 3f\n"                                                                                     \
    "movl $14, %eax\n" /* rt_sigprocmask */                                                        \
    "movl $1, %edi\n"  /* SIG_UNBLOCK */                                                           \
    "leaq 72(%rsp), %rsi\n"                                                                        \
    "xorl %edx, %edx\n"                                                                            \
    "movl $8, %r10d\n"                                                                             \
    "syscall\n"                                                                                    \
    "sleep_call_left:\n"                                                                           \
    "3: movq thread_self@gottpoff(%rip), %r11\n"                                                   \
    "movq %fs:(%r11), %r11\n"                                                                      \
    "testq %r11, %r11\n"                                                                           \
    "je 4f\n"                                                                                      \
    "movl $0, 16(%r11)\n"                                                                          \
    "4:\n"                                                                                         \
    "movq 80(%rsp), %rax\n"                                                                        \
    "1:\n"                                                                                         \
    ".cfi_remember_state\n"                                                                        \
    "leave\n"                                                                                      \
    ".cfi_def_cfa rsp, 8\n"                                                                        \
    ".cfi_restore rbp\n"                                                                           \
    "ret\n"                                                                                        \
    ".cfi_restore_state\n"                                                                         \
    "7: movq %rax, 80(%rsp)\n"                                                                     \
    "movq %rsp, %rdi\n"                                                                            \
    "call sleep_leave_open\n"                                                                      \
    "movq 80(%rsp), %rax\n"                                                                        \
    "cmpq $1, 88(%rsp)\n" /* the rest of it was made with our signal blocked */                    \
    "je 5b\n"                                                                                      \
    "jmp 1b\n"                                                                                     \
    ".cfi_endproc\n"                                                                               \
    ".size sleep_call_masked, .-sleep_call_masked\n"
/* clang-format on */

__asm__(".pushsection .data.sleep_slots, \"aw\"\n"
        ".p2align 3\n"
        ".globl sleep_slots\n"
        ".hidden sleep_slots\n"
        ".type sleep_slots, @object\n"
        "sleep_slots:\n"
        ".popsection\n"
        ".pushsection .text.hot, \"ax\"\n" DETOUR("sleep_announce", "trigger_before_sleep")
            DETOUR("sleep_learn", "sleep_look_up") DETOUR("sleep_start_open", "sleep_open")
                MEMORY_CALL SHORT_CALL MASKED_CALL RESTARTED(STUB) LOCKS(STUB_OF_LOCK)
                    SLEEPERS(STUB) STARTERS(STUB_OF_STARTER) RAW(STUB_RAW) ".popsection\n");

extern const uint8_t sleep_call_made[] __attribute__((visibility("hidden")));
extern const uint8_t sleep_call_left[] __attribute__((visibility("hidden")));

_Static_assert(SLEEP_NUMBERS == 448, "the assembly knows the last one");

long (*sleep_syscall(void))(long number, ...) {
    return syscall_telling;
}

bool sleep_is_in(const struct announced_call *announced, const ucontext_t *uc) {
    uintptr_t back = announced->call - 8; /* where its return address is */
    uintptr_t sp = (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
    return announced->call != 0 && back - sp < SLEEP_FRAMES && sleep_is_there(back, sp) &&
           *(const uint64_t *)back == (uintptr_t)sleep_call_made;
}

uintptr_t sleep_call_of(uint64_t pc, uint64_t sp) {
    return pc == (uintptr_t)sleep_call_made ? (uintptr_t)sp : 0;
}

const struct sleep_call *sleep_call_ending(const ucontext_t *uc) {
    const greg_t *regs = uc->uc_mcontext.gregs;
    uintptr_t pc = (uintptr_t)regs[REG_RIP];
    if (pc < (uintptr_t)sleep_call_made || pc > (uintptr_t)sleep_call_left)
        return NULL;
    const struct sleep_call *call = (const struct sleep_call *)(uintptr_t)regs[REG_RSP];
    return sleep_is_whole(call) ? call : NULL;
}

#define FRAME_POINTER sizeof(struct sleep_call)
_Static_assert(offsetof(struct agent_thread, inside) == 16, "the assembly knows the place");
_Static_assert(sizeof(struct sleep_call) == 256 && offsetof(struct sleep_call, mask) == 72 &&
                   offsetof(struct sleep_call, unblock) == 88 &&
                   offsetof(struct sleep_call, outer) == 240,
               "the assembly knows the layout");

hcct_hot struct sleep_place sleep_place(const struct sleep_call *call, bool in_call) {
    const uint64_t *frame = (const uint64_t *)((uintptr_t)call + FRAME_POINTER);
    if (!in_call)
        return (struct sleep_place){.pc = frame[1],
                                    .sp = (uint64_t)(uintptr_t)(frame + 2),
                                    .frame = frame[0],
                                    .returned = true};
    return (struct sleep_place){.pc = *call->slot,
                                .sp = (uint64_t)(uintptr_t)(frame + 1),
                                .frame = frame[0],
                                .call =
                                    sleep_system_call((uintptr_t)call->slot, call->argument[0])};
}

void sleep_show(struct agent_thread *thread, ucontext_t *uc, const struct sleep_place *place,
                struct sleep_place *own) {
    greg_t *regs = uc->uc_mcontext.gregs;
    *own = (struct sleep_place){.pc = (uint64_t)regs[REG_RIP],
                                .sp = (uint64_t)regs[REG_RSP],
                                .frame = (uint64_t)regs[REG_RBP],
                                .call = thread->shown_call,
                                .returned = thread->shown_returned};
    thread->shown_call = place->call;
    thread->shown_returned = place->returned;
    regs[REG_RIP] = (greg_t)place->pc;
    regs[REG_RSP] = (greg_t)place->sp;
    regs[REG_RBP] = (greg_t)place->frame;
}

/* The word below the call is where the real function returns to. */
bool sleep_find_call(struct agent_thread *thread, ucontext_t *uc) {
    struct sleep_place place, none;
    uint64_t call = *thread->masked, back, slot, frame, first;
    if (call <= thread->stack_low || call + FRAME_POINTER + 8 > thread->stack_high ||
        !stack_copy(&back, call - 8, sizeof back) || back != (uintptr_t)sleep_call_made ||
        !stack_copy(&slot, call + offsetof(struct sleep_call, slot), sizeof slot) ||
        !sleep_is_slot(slot) ||
        !stack_copy(&first, call + offsetof(struct sleep_call, argument), sizeof first) ||
        !stack_copy(&frame, call + FRAME_POINTER, sizeof frame))
        return false;
    place = (struct sleep_place){.pc = *(_Atomic(uintptr_t) *)slot,
                                 .sp = call + FRAME_POINTER + 8,
                                 .frame = frame,
                                 .call = sleep_system_call(slot, first)};
    sleep_show(thread, uc, &place, &none);
    return true;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep_aarch64.c - sleep_machine.h on aarch64.
 *
 * The kernel's answer overwrites the first argument of a call, which nobody else keeps: an
 * interrupted call can't be made again unseen. So SLEEP_FRAGILE asks for all calls of the functions
 * that the kernel does not restart by itself; and of those that it does, for calls with a time that
 * is an option of the descriptor: they would end early (sockets), or begin anew (terminals).
 */
#include "preload/wrap/sleep_machine.h"

#include <stddef.h>
#include <sys/socket.h>

#include "preload/life/confine.h"
#include "preload/life/thread.h"
#include "preload/sample/stack.h"
#include "preload/wrap/file_time.h"
#include "preload/wrap/sleep_list.h"

/* Which of a stub's calls SLEEP_FRAGILE asks for: instructions that go to 4 for the others. */
#define NONE "b 4f\n"
#define ALL  ""
/* Of some descriptors, whatever is read: sleep_is_fragile. */
#define IF_TIMED(name)                                                                             \
    SLOT("x16", name)                                                                              \
    "b sleep_if_fragile\n"
#define IF_MEMORY(name)                     IF_TIMED(name)
#define IF_MEMORY_ABOVE(name, bytes, count) IF_TIMED(name)
#define IF_FRAGILE_NUMBER                                                                          \
    "cmp x0, #447\n"                                                                               \
    "b.hi 4f\n"                                                                                    \
    "adrp x16, sleep_fragile_numbers\n"                                                            \
    "add x16, x16, :lo12:sleep_fragile_numbers\n"                                                  \
    "lsr x15, x0, #6\n"                                                                            \
    "ldr x16, [x16, x15, lsl #3]\n"                                                                \
    "lsr x16, x16, x0\n"                                                                           \
    "tbz x16, #0, 4f\n"

/* Of locks: somebody has it, as its first word says. (A read-write lock: 2, a writer has it or
 * waits for readers to leave; 1 alone, nobody has had it since a writer.) */
#define IF_TAKEN                                                                                   \
    "ldr w16, [x0]\n"                                                                              \
    "cbz w16, 0f\n"
#define IF_WRITTEN                                                                                 \
    "ldr w16, [x0]\n"                                                                              \
    "tbz w16, #1, 0f\n"
#define IF_USED                                                                                    \
    "ldr w16, [x0]\n"                                                                              \
    "tst w16, #0xfffffffe\n"                                                                       \
    "b.eq 0f\n"

_Static_assert(SLEEP_NUMBERS == 448, "the assembly knows the last one");

/* clang-format off */
#define ENTRY "hint #34\n" /* bti c */

#define SLOT(reg, name)                                                                            \
    "adrp " reg ", sleep_slot_" #name "\n"                                                         \
    "add " reg ", " reg ", :lo12:sleep_slot_" #name "\n"

/* A thread-local variable's address, from the thread pointer in x9. */
#define THREAD_LOCAL(reg, name)                                                                    \
    "adrp " reg ", :gottprel:" name "\n"                                                           \
    "ldr " reg ", [" reg ", :gottprel_lo12:" name "]\n"

/* All that can carry an argument into the functions below, and the slot. */
#define SAVE_ARGUMENTS                                                                             \
    "stp x29, x30, [sp, #-96]!\n"                                                                  \
    ".cfi_def_cfa_offset 96\n"                                                                     \
    ".cfi_offset 29, -96\n"                                                                        \
    ".cfi_offset 30, -88\n"                                                                        \
    "mov x29, sp\n"                                                                                \
    "stp x0, x1, [sp, #16]\n"                                                                      \
    "stp x2, x3, [sp, #32]\n"                                                                      \
    "stp x4, x5, [sp, #48]\n"                                                                      \
    "stp x6, x7, [sp, #64]\n"                                                                      \
    "stp x8, x16, [sp, #80]\n"
#define RESTORE_ARGUMENTS                                                                          \
    "ldp x0, x1, [sp, #16]\n"                                                                      \
    "ldp x2, x3, [sp, #32]\n"                                                                      \
    "ldp x4, x5, [sp, #48]\n"                                                                      \
    "ldp x6, x7, [sp, #64]\n"                                                                      \
    "ldp x8, x16, [sp, #80]\n"                                                                     \
    "ldp x29, x30, [sp], #96\n"                                                                    \
    ".cfi_def_cfa_offset 0\n"                                                                      \
    ".cfi_restore 29\n"                                                                            \
    ".cfi_restore 30\n"

#define LOCAL_FUNCTION(label)                                                                      \
    ".p2align 4\n"                                                                                 \
    ".type " label ", %function\n"                                                                 \
    label ":\n"                                                                                    \
    ".cfi_startproc\n"
#define FUNCTION_END(label)                                                                        \
    ".cfi_endproc\n"                                                                               \
    ".size " label ", .-" label "\n"

/* Calls a function on the slot in x16, then goes on to where the slot leads. */
#define DETOUR(label, function)                                                                    \
    LOCAL_FUNCTION(label)                                                                          \
    SAVE_ARGUMENTS                                                                                 \
    "mov x0, x16\n"                                                                                \
    "bl " function "\n"                                                                            \
    RESTORE_ARGUMENTS                                                                              \
    "ldr x16, [x16]\n"                                                                             \
    "br x16\n"                                                                                     \
    FUNCTION_END(label)

/* The call whose slot is in x16 and whose first argument is a descriptor. */
#define FILE_CALL                                                                                  \
    LOCAL_FUNCTION("sleep_if_fragile")                                                             \
    SAVE_ARGUMENTS                                                                                 \
    "bl sleep_is_fragile\n"                                                                        \
    "and w17, w0, #1\n"                                                                            \
    RESTORE_ARGUMENTS                                                                              \
    "cbnz w17, sleep_call_masked\n"                                                                \
    "b sleep_call_watched\n"                                                                      \
    FUNCTION_END("sleep_if_fragile")

#define STUB(name, fragile, open, set, call)     STUB_OF(name, "globl", "", fragile, "")
#define STUB_ALL(name, fragile, open, set, call) STUB_OF(name, "globl", "", ALL, "")
/* The library that is loaded into a process that runs has its own of these (locks/wrap.c). */
#define STUB_OF_LOCK(name, taken, open, set, call) STUB_OF(name, "weak", taken, NONE, "")

/* rt_sigaction; sigaltstack; seccomp, or prctl(PR_SET_SECCOMP), or
 * prctl(PR_SET_SYSCALL_USER_DISPATCH) */
#define IF_SENT                                                                                    \
    "cmp x0, #134\n"                                                                               \
    "b.eq signal_syscall\n"                                                                        \
    "cmp x0, #132\n"                                                                               \
    "b.eq signal_syscall_stack\n"                                                                  \
    "cmp x0, #277\n"                                                                               \
    "b.eq confine_syscall\n"                                                                       \
    "cmp x0, #167\n"                                                                               \
    "b.ne 5f\n"                                                                                    \
    "cmp x1, #22\n"                                                                                \
    "b.eq confine_syscall\n"                                                                       \
    "cmp x1, #59\n"                                                                                \
    "b.eq confine_syscall\n"                                                                       \
    "5:\n"
/* Others may return in another process, or not at all. */
#define IF_FUTEX                                                                                   \
    "cmp x0, #98\n"                                                                                \
    "b.ne 6f\n"
#define STUB_RAW(name, fragile, open, set, call)                              \
    STUB_OF(name, "globl", IF_SENT IF_STARTS, fragile, IF_FUTEX)

#define IF_MASKED(label)                                                                           \
    "mrs x16, tpidr_el0\n"                                                                         \
    THREAD_LOCAL("x17", "sleep_masked")                                                            \
    "ldr x17, [x16, x17]\n"                                                                        \
    "cbnz x17, " label "\n"
/* Within a handler that has interrupted a masked call. */
#define IF_STARTS                                                                                  \
    IF_MASKED("8f")                                                                                \
    "b 9f\n"                                                                                       \
    "8:\n" SAVE_ARGUMENTS "bl sleep_open_for\n" RESTORE_ARGUMENTS "9:\n"

/* Has no frame: some of these return twice, or take any number of arguments. */
#define STUB_OF_STARTER(name, fragile, open, set, call)                                                  \
    ".globl " #name "\n"                                                                           \
    LOCAL_FUNCTION(#name)                                                                          \
    ENTRY                                                                                          \
    IF_MASKED("1f")                                                                                \
    "adrp x16, sleep_slot_" #name "\n"                                                             \
    "ldr x16, [x16, :lo12:sleep_slot_" #name "]\n"                                                 \
    "br x16\n"                                                                                     \
    "1:\n"                                                                                         \
    SLOT("x16", name)                                                                              \
    "b sleep_start_open\n"                                                                         \
    FUNCTION_END(#name) LAZY(name)

/* Where the slot leads at first. */
#define LAZY(name)                                                                                 \
    LOCAL_FUNCTION("sleep_lazy_" #name)                                                            \
    ENTRY                                                                                          \
    SLOT("x16", name)                                                                              \
    "b sleep_learn\n"                                                                              \
    FUNCTION_END("sleep_lazy_" #name)                                                              \
    ".pushsection .data.sleep_slots, \"aw\"\n"                                                     \
    "sleep_slot_" #name ": .quad sleep_lazy_" #name "\n"                                           \
    ".popsection\n"

/* w17 is the thread's sleep_burst from label 1 on. */
#define STUB_OF(name, binding, before, fragile, watched)                                           \
    "." binding " " #name "\n"                                                                     \
    LOCAL_FUNCTION(#name)                                                                          \
    ENTRY before                                                                                   \
    "mrs x16, tpidr_el0\n"                                                                         \
    THREAD_LOCAL("x17", "sleep_burst")                                                             \
    "ldr w17, [x16, x17]\n"                                                                        \
    "cbnz w17, 1f\n"                                                                               \
    "0: adrp x16, sleep_slot_" #name "\n"                                                          \
    "ldr x16, [x16, :lo12:sleep_slot_" #name "]\n"                                                 \
    "br x16\n"                                                                                     \
    "1: tbnz w17, #2, 3f\n" /* SLEEP_MASKED */                                                     \
    "tbz w17, #1, 4f\n" /* SLEEP_FRAGILE */                                                        \
    fragile                                                                                        \
    "3:\n"                                                                                         \
    SLOT("x16", name)                                                                              \
    "b sleep_call_masked\n"                                                                        \
    "4: tbz w17, #4, 6f\n" /* SLEEP_WATCHED */                                                     \
    watched                                                                                        \
    SLOT("x16", name)                                                                              \
    "b sleep_call_watched\n"                                                                      \
    "6: tbz w17, #3, 0b\n" /* SLEEP_NEXT */                                                        \
    SLOT("x16", name)                                                                              \
    "b sleep_announce\n"                                                                           \
    FUNCTION_END(#name) LAZY(name)

/* The call whose slot is in x16, with a struct sleep_call on the stack. No argument is on the
 * stack: no function of the list has more than seven. Either with our signal blocked: one that was put off
 * comes at the last system call then, at sleep_call_left. Or watched: a sleep whose checks have
 * become rare (SLEEP_NEXT) is over at its end. */
#define MASKED_CALL                                                                                \
    ".p2align 4\n"                                                                                 \
    ".type sleep_call_masked, %function\n"                                                         \
    ".cfi_startproc\n"                                                                             \
    ".cfi_personality 0x1b, sleep_unwound\n" /* relative to the word itself, 4 bytes */            \
    "sleep_call_watched:\n"                                                                        \
    "mov x15, #1\n"                                                                                \
    "b 6f\n"                                                                                       \
    "sleep_call_masked:\n"                                                                         \
    "mov x15, #0\n"                                                                                \
    "6: stp x29, x30, [sp, #-16]!\n"                                                               \
    ".cfi_def_cfa_offset 16\n"                                                                     \
    ".cfi_offset 29, -16\n"                                                                        \
    ".cfi_offset 30, -8\n"                                                                         \
    "mov x29, sp\n"                                                                                \
    ".cfi_def_cfa_register 29\n"                                                                   \
    "sub sp, sp, #256\n"                                                                           \
    "str x6, [sp]\n"                                                                               \
    "stp x0, x1, [sp, #8]\n"                                                                       \
    "stp x2, x3, [sp, #24]\n"                                                                      \
    "stp x4, x5, [sp, #40]\n"                                                                      \
    "stp xzr, x16, [sp, #56]\n"                                                                    \
    "str x15, [sp, #88]\n"                                                                         \
    "mov x0, sp\n"                                                                                 \
    "bl sleep_enter\n"                                                                             \
    "adr x17, sleep_call_made\n" /* the mark of a call that is being made */                       \
    "str x17, [sp, #56]\n"                                                                         \
    "ldr x6, [sp]\n"                                                                               \
    "ldp x0, x1, [sp, #8]\n"                                                                       \
    "ldp x2, x3, [sp, #24]\n"                                                                      \
    "ldp x4, x5, [sp, #40]\n"                                                                      \
    "ldr x16, [sp, #64]\n"                                                                         \
    "ldr x16, [x16]\n"                                                                             \
    "blr x16\n"                                                                                    \
    "sleep_call_made:\n"                                                                           \
    "str xzr, [sp, #56]\n"                                                                         \
    "ldr x9, [sp, #88]\n"                                                                          \
    "cbnz x9, 5f\n"                                                                                \
    "mrs x9, tpidr_el0\n"                                                                          \
    THREAD_LOCAL("x10", "sleep_burst")                                                             \
    "ldr w10, [x9, x10]\n"                                                                         \
    "tbz w10, #3, 1f\n" /* SLEEP_NEXT */                                                           \
    "str x0, [sp, #80]\n"                                                                          \
    "mov x0, sp\n"                                                                                 \
    "bl trigger_after_watched\n"                                                                   \
    "b 4f\n"                                                                                       \
    "5: str x0, [sp, #80]\n"                                                                      \
    "mov x0, sp\n"                                                                                 \
    "bl trigger_after_masked\n"                                                                    \
    "mrs x9, tpidr_el0\n"                                                                          \
    THREAD_LOCAL("x10", "sleep_masked")                                                            \
    "ldr x11, [sp, #240]\n"                                                                        \
    "str x11, [x9, x10]\n"                                                                         \
    THREAD_LOCAL("x10", "thread_self")                                                             \
    "ldr x11, [x9, x10]\n"                                                                         \
    "cbz x11, 2f\n"                                                                                \
    "mov w12, #1\n"                                                                                \
    "str w12, [x11, #16]\n" /* inside: as confine_enter */                                         \
    "2: dmb ish\n"                                                                                 \
    "adrp x10, confine_all\n"                                                                      \
    "ldrb w10, [x10, :lo12:confine_all]\n"                                                         \
    "cbnz w10, 3f\n"                                                                               \
    "mov x8, #135\n" /* rt_sigprocmask */                                                          \
    "mov x0, #1\n"   /* SIG_UNBLOCK */                                                             \
    "add x1, sp, #72\n"                                                                            \
    "mov x2, #0\n"                                                                                 \
    "mov x3, #8\n"                                                                                 \
    "svc #0\n"                                                                                     \
    "sleep_call_left:\n"                                                                           \
    "3: mrs x9, tpidr_el0\n"                                                                       \
    THREAD_LOCAL("x10", "thread_self")                                                             \
    "ldr x11, [x9, x10]\n"                                                                         \
    "cbz x11, 4f\n"                                                                                \
    "dmb ish\n"                                                                                    \
    "str wzr, [x11, #16]\n"                                                                        \
    "4: ldr x0, [sp, #80]\n"                                                                       \
    "1: mov sp, x29\n"                                                                             \
    ".cfi_def_cfa_register 31\n"                                                                   \
    "ldp x29, x30, [sp], #16\n"                                                                    \
    ".cfi_def_cfa_offset 0\n"                                                                      \
    ".cfi_restore 29\n"                                                                            \
    ".cfi_restore 30\n"                                                                            \
    "ret\n"                                                                                        \
    FUNCTION_END("sleep_call_masked")

__asm__(".pushsection .data.sleep_slots, \"aw\"\n"
        ".p2align 3\n"
        ".globl sleep_slots\n"
        ".hidden sleep_slots\n"
        ".type sleep_slots, %object\n"
        "sleep_slots:\n"
        ".popsection\n"
        ".pushsection .text\n" DETOUR("sleep_announce", "trigger_before_sleep")
            DETOUR("sleep_learn", "sleep_look_up") DETOUR("sleep_start_open", "sleep_open")
                FILE_CALL MASKED_CALL RESTARTED(STUB) LOCKS(STUB_OF_LOCK) SLEEPERS(STUB_ALL)
                    STARTERS(STUB_OF_STARTER) RAW(STUB_RAW) ".popsection\n");
/* clang-format on */

extern const uint8_t sleep_call_made[] __attribute__((visibility("hidden")));
extern const uint8_t sleep_call_left[] __attribute__((visibility("hidden")));

/* Whether a call that waits for the descriptor may not be interrupted. */
bool sleep_is_fragile(int fd) __attribute__((visibility("hidden"), used));
bool sleep_is_fragile(int fd) {
    struct agent_thread *self = thread_self;
    uint32_t before;
    if (sleep_is_memory(fd))
        return true;
    if (self == NULL || !confine_enter(self, &before))
        return false;
    bool has_time = file_time_socket(fd, SO_RCVTIMEO) != 0 || file_time_terminal(fd) != 0;
    confine_leave(self, before);
    return has_time;
}

/* The number of a call stays in its register: there is nothing to tell. */
long (*sleep_syscall(void))(long number, ...) {
    return NULL;
}

/* The real function has the stack below the call, and its return address where it likes. */
bool sleep_is_in(const struct announced_call *announced, const ucontext_t *uc) {
    uintptr_t mark = announced->call + offsetof(struct sleep_call, vectors);
    uintptr_t sp = (uintptr_t)uc->uc_mcontext.sp;
    return announced->call != 0 && announced->call - sp < SLEEP_FRAMES &&
           sleep_is_there(mark, sp) && *(const uint64_t *)mark == (uintptr_t)sleep_call_made;
}

uintptr_t sleep_call_of(uint64_t pc, uint64_t sp) {
    return pc == (uintptr_t)sleep_call_made ? (uintptr_t)sp : 0;
}

const struct sleep_call *sleep_call_ending(const ucontext_t *uc) {
    uintptr_t pc = (uintptr_t)uc->uc_mcontext.pc;
    if (pc < (uintptr_t)sleep_call_made || pc > (uintptr_t)sleep_call_left)
        return NULL;
    const struct sleep_call *call = (const struct sleep_call *)(uintptr_t)uc->uc_mcontext.sp;
    return sleep_is_whole(call) ? call : NULL;
}

#define FRAME_POINTER sizeof(struct sleep_call)
_Static_assert(offsetof(struct agent_thread, inside) == 16, "the assembly knows the place");
_Static_assert(sizeof(struct sleep_call) == 256 && offsetof(struct sleep_call, mask) == 72 &&
                   offsetof(struct sleep_call, unblock) == 88 &&
                   offsetof(struct sleep_call, outer) == 240,
               "the assembly knows the layout");

/* Saved frame pointer and return address lie above the call. */
struct sleep_place sleep_place(const struct sleep_call *call, bool in_call) {
    const uint64_t *frame = (const uint64_t *)((uintptr_t)call + FRAME_POINTER);
    return (struct sleep_place){
        .pc = in_call ? *call->slot : frame[1],
        .sp = (uint64_t)(uintptr_t)(frame + 2),
        .frame = frame[0],
        .link = frame[1],
        .call = in_call ? sleep_system_call((uintptr_t)call->slot, call->argument[0]) : 0,
        .returned = !in_call};
}

void sleep_show(struct agent_thread *thread, ucontext_t *uc, const struct sleep_place *place,
                struct sleep_place *own) {
    mcontext_t *context = &uc->uc_mcontext;
    *own = (struct sleep_place){.pc = context->pc,
                                .sp = context->sp,
                                .frame = context->regs[29],
                                .link = context->regs[30],
                                .call = thread->shown_call,
                                .returned = thread->shown_returned};
    thread->shown_call = place->call;
    thread->shown_returned = place->returned;
    context->pc = place->pc;
    context->sp = place->sp;
    context->regs[29] = place->frame;
    context->regs[30] = place->link;
}

/* The mark says that a call is being made, or that a jump has left one there. */
bool sleep_find_call(struct agent_thread *thread, ucontext_t *uc) {
    struct sleep_place place, none;
    uint64_t call = *thread->masked, mark, slot, frame, link, first;
    if (call <= thread->stack_low || call + FRAME_POINTER + 16 > thread->stack_high ||
        !stack_copy(&mark, call + offsetof(struct sleep_call, vectors), sizeof mark) ||
        mark != (uintptr_t)sleep_call_made ||
        !stack_copy(&slot, call + offsetof(struct sleep_call, slot), sizeof slot) ||
        !sleep_is_slot(slot) ||
        !stack_copy(&first, call + offsetof(struct sleep_call, argument), sizeof first) ||
        !stack_copy(&frame, call + FRAME_POINTER, sizeof frame) ||
        !stack_copy(&link, call + FRAME_POINTER + 8, sizeof link))
        return false;
    place = (struct sleep_place){.pc = *(_Atomic(uintptr_t) *)slot,
                                 .sp = call + FRAME_POINTER + 16,
                                 .frame = frame,
                                 .link = link,
                                 .call = sleep_system_call(slot, first)};
    sleep_show(thread, uc, &place, &none);
    return true;
}

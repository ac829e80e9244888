/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep.c - one stub for each function that can sleep, in assembly: it knows nothing of its
 * function's arguments, and has no frame of its own.
 *
 * Each stub has a slot with the real function's address. Until that is known (another library's
 * constructor may call before ours has run) the slot leads to a second entry, which looks it up. An
 * unknown name (an older libc) answers as a system call that the kernel doesn't have.
 */
#include "preload/wrap/sleep.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "common/wire/compiler.h"
#include "preload/life/confine.h"
#include "preload/life/glibc.h"
#include "preload/life/hooks.h"
#include "preload/life/sys.h"
#include "preload/sample/stack.h"
#include "preload/wrap/next_symbol.h"
#include "preload/wrap/syscall_code.h"

__thread uint32_t sleep_burst;
__thread uintptr_t sleep_masked;

#if SLEEP_IS_WRAPPED

/* Which of a stub's calls SLEEP_FRAGILE asks for: instructions that go to 4 for the others. */
#define NONE "jmp 4f\n"
#define ALL  ""
#define IF_WAITALL(flags)                                                                          \
    "testl $0x100, %" flags "\n"                                                                   \
    "je 4f\n"
#define IF_SET(argument)                                                                           \
    "testq %" argument ", %" argument "\n"                                                         \
    "je 4f\n"
#define IF_SAME(one, other)                                                                        \
    "cmpq %" one ", %" other "\n"                                                                  \
    "jne 4f\n"

#define IF_ABOVE(bytes, count)                                                                     \
    "cmpq $" #bytes ", %" count "\n"                                                               \
    "jbe 4f\n"
/* Of a device that is memory: what has a page, and is not over when a signal comes, ends. */
#define IF_MEMORY(name)                                                                            \
    "leaq sleep_slot_" #name "(%rip), %r11\n"                                                      \
    "jmp sleep_if_memory\n"
#define IF_MEMORY_ABOVE(name, bytes, count) IF_ABOVE(bytes, count) IF_MEMORY(name)

#define NUMBERS 448 /* that sleep_fragile_numbers has a bit for */
#define IF_FRAGILE_NUMBER                                                                          \
    "cmpq $447, %rdi\n"                                                                            \
    "ja 4f\n"                                                                                      \
    "btq %rdi, sleep_fragile_numbers(%rip)\n"                                                      \
    "jnc 4f\n"

/* The signal set among a call's arguments: its place, and what is done about ours in a copy. */
#define HIDE_FROM(place) (0x10 | (place)) /* a mask, during the call: ours is blocked in it */
#define KEEP_FROM(place) (0x20 | (place)) /* signals that are waited for: ours is none of them */
#define SET_PLACE(set)   ((set)&0x0f)
#define SET_IS_MASK(set) (((set)&0x10) != 0)
#define NO_SET           0

/* Each with the system call in which libc's function spends its time. */
#define SLEEPERS(F)                                                                                \
    F(poll, NONE, NO_SET, poll)                                                                    \
    F(__poll_chk, NONE, NO_SET, poll)                                                              \
    F(ppoll, IF_SET("rcx"), HIDE_FROM(3), ppoll)                                                   \
    F(__ppoll_chk, IF_SET("rcx"), HIDE_FROM(3), ppoll)                                             \
    F(select, NONE, NO_SET, pselect6)                                                              \
    F(pselect, IF_SET("r9"), HIDE_FROM(5), pselect6)                                               \
    F(epoll_wait, NONE, NO_SET, epoll_wait)                                                        \
    F(epoll_pwait, IF_SET("r8"), HIDE_FROM(4), epoll_pwait)                                        \
    F(epoll_pwait2, IF_SET("r8"), HIDE_FROM(4), epoll_pwait2)                                      \
    F(nanosleep, IF_SAME("rdi", "rsi"), NO_SET, clock_nanosleep)                                   \
    F(clock_nanosleep, IF_SAME("rdx", "rcx"), NO_SET, clock_nanosleep)                             \
    F(thrd_sleep, IF_SAME("rdi", "rsi"), NO_SET, clock_nanosleep)                                  \
    F(usleep, NONE, NO_SET, clock_nanosleep)                                                       \
    F(sleep, NONE, NO_SET, clock_nanosleep)                                                        \
    F(pause, ALL, NO_SET, pause)                                                                   \
    F(sigsuspend, ALL, HIDE_FROM(0), rt_sigsuspend)                                                \
    F(sigwait, ALL, KEEP_FROM(0), rt_sigtimedwait)                                                 \
    F(sigwaitinfo, ALL, KEEP_FROM(0), rt_sigtimedwait)                                             \
    F(sigtimedwait, ALL, KEEP_FROM(0), rt_sigtimedwait)                                            \
    F(sem_wait, NONE, NO_SET, futex)                                                               \
    F(sem_timedwait, NONE, NO_SET, futex)                                                          \
    F(sem_clockwait, NONE, NO_SET, futex)                                                          \
    F(semop, NONE, NO_SET, semop)                                                                  \
    F(semtimedop, NONE, NO_SET, semtimedop)                                                        \
    F(msgrcv, NONE, NO_SET, msgrcv)                                                                \
    F(msgsnd, NONE, NO_SET, msgsnd)                                                                \
    F(mq_receive, NONE, NO_SET, mq_timedreceive)                                                   \
    F(mq_timedreceive, NONE, NO_SET, mq_timedreceive)                                              \
    F(mq_send, NONE, NO_SET, mq_timedsend)                                                         \
    F(mq_timedsend, NONE, NO_SET, mq_timedsend)                                                    \
    F(recv, IF_WAITALL("ecx"), NO_SET, recvfrom)                                                   \
    F(__recv_chk, IF_WAITALL("r8d"), NO_SET, recvfrom)                                             \
    F(recvfrom, IF_WAITALL("ecx"), NO_SET, recvfrom)                                               \
    F(__recvfrom_chk, IF_WAITALL("r8d"), NO_SET, recvfrom)                                         \
    F(recvmsg, IF_WAITALL("edx"), NO_SET, recvmsg)                                                 \
    F(recvmmsg, IF_WAITALL("ecx"), NO_SET, recvmmsg)                                               \
    F(write, ALL, NO_SET, write)                                                                   \
    F(writev, ALL, NO_SET, writev)                                                                 \
    F(send, ALL, NO_SET, sendto)                                                                   \
    F(sendto, ALL, NO_SET, sendto)                                                                 \
    F(sendmsg, ALL, NO_SET, sendmsg)                                                               \
    F(sendmmsg, ALL, NO_SET, sendmmsg)                                                             \
    F(sendfile, ALL, NO_SET, sendfile)                                                             \
    F(sendfile64, ALL, NO_SET, sendfile)                                                           \
    F(splice, ALL, NO_SET, splice)                                                                 \
    F(copy_file_range, ALL, NO_SET, copy_file_range)                                               \
    F(getrandom, IF_ABOVE(256, "rsi"), NO_SET, getrandom)                                          \
    F(connect, ALL, NO_SET, connect)

/* By which a program may confine itself, too (wrap/seccomp.c). */
#define RAW(F) F(syscall, IF_FRAGILE_NUMBER, NO_SET, read)

/* What SA_RESTART covers in full, or libc itself: no timer does harm to it, but a thread
 * which often waits in them keeps its timer. */
#define WAITS(F)                                                                                   \
    F(wait, NONE, NO_SET, wait4)                                                                   \
    F(wait3, NONE, NO_SET, wait4)                                                                  \
    F(wait4, NONE, NO_SET, wait4)                                                                  \
    F(waitpid, NONE, NO_SET, wait4)
#define RESTARTED(F)                                                                               \
    WAITS(F)                                                                                       \
    F(read, IF_MEMORY_ABOVE(read, 4095, "rdx"), NO_SET, read)                                      \
    F(__read_chk, IF_MEMORY_ABOVE(__read_chk, 4095, "rdx"), NO_SET, read)                          \
    F(readv, IF_MEMORY(readv), NO_SET, readv)                                                      \
    F(accept, NONE, NO_SET, accept)                                                                \
    F(accept4, NONE, NO_SET, accept4)                                                              \
    F(pthread_cond_wait, NONE, NO_SET, futex)                                                      \
    F(pthread_cond_timedwait, NONE, NO_SET, futex)                                                 \
    F(pthread_cond_clockwait, NONE, NO_SET, futex)                                                 \
    F(cnd_wait, NONE, NO_SET, futex)                                                               \
    F(cnd_timedwait, NONE, NO_SET, futex)                                                          \
    F(pthread_barrier_wait, NONE, NO_SET, futex)                                                   \
    F(pthread_join, NONE, NO_SET, futex)

#define NAME(name, fragile, set, call) #name,
static const char *const names[] = {RESTARTED(NAME) SLEEPERS(NAME) RAW(NAME)};

#define SET(name, fragile, set, call) set,
static const uint8_t sets[] = {RESTARTED(SET) SLEEPERS(SET) RAW(SET)};

#define CALL(name, fragile, set, call) SYS_##call,
static const uint16_t calls[] = {RESTARTED(CALL) SLEEPERS(CALL) RAW(CALL)};

#define ONE(name, fragile, set, call) +1
enum { WAITS_END = 0 WAITS(ONE), OTHERS_FIRST = 0 RESTARTED(ONE) };

/* In the order of `names`: the assembly below makes a section of them. */
extern _Atomic(uintptr_t) sleep_slots[HCCT_ARRAY_LEN(names)] __attribute__((visibility("hidden")));

/* Called by the stubs. */
void sleep_look_up(_Atomic(uintptr_t) *slot) __attribute__((visibility("hidden"), used));
bool sleep_is_memory(int fd) __attribute__((visibility("hidden"), used));
void sleep_enter(struct sleep_call *call) __attribute__((visibility("hidden"), used));

extern const uint8_t sleep_call_made[] __attribute__((visibility("hidden")));
extern const uint8_t sleep_call_left[] __attribute__((visibility("hidden")));

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
    "jmp sleep_announce\n"                                                                         \
    ".cfi_endproc\n"                                                                               \
    ".size sleep_if_memory, .-sleep_if_memory\n"

/* r11 is where the thread's sleep_burst is, up to label 3. */
#define STUB(name, fragile, set, call) STUB_OF(name, "", fragile)

/* rt_sigaction; seccomp, or prctl(PR_SET_SECCOMP) */
#define IF_SENT                                                                                    \
    "cmpq $13, %rdi\n"                                                                             \
    "je signal_syscall\n"                                                                          \
    "cmpq $317, %rdi\n"                                                                            \
    "je confine_syscall\n"                                                                         \
    "cmpq $157, %rdi\n"                                                                            \
    "jne 5f\n"                                                                                     \
    "cmpq $22, %rsi\n"                                                                             \
    "je confine_syscall\n"                                                                         \
    "5:\n"
#define STUB_RAW(name, fragile, set, call) STUB_OF(name, IF_SENT, fragile)

#define STUB_OF(name, before, fragile)                                                             \
    ".p2align 4\n"                                                                                 \
    ".globl " #name "\n"                                                                           \
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
    "4: testb $8, %fs:(%r11)\n" /* SLEEP_NEXT */                                                   \
    "je 0b\n"                                                                                      \
    "leaq sleep_slot_" #name "(%rip), %r11\n"                                                      \
    "jmp sleep_announce\n"                                                                         \
    ".cfi_endproc\n"                                                                               \
    ".size " #name ", .-" #name "\n"                                                               \
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

/* The call whose slot is in r11 with our signal blocked, by a struct sleep_call on the stack. One
 * word of arguments on the stack is passed on: no function above has more. The signal that was put
 * off comes at the last system call: at sleep_call_left. */
#define MASKED_CALL                                                                                \
    ".p2align 4\n"                                                                                 \
    ".type sleep_call_masked, @function\n"                                                         \
    "sleep_call_masked:\n"                                                                         \
    ".cfi_startproc\n"                                                                             \
    PUSH("rbp")                                                                                    \
    ".cfi_rel_offset rbp, 0\n"                                                                     \
    "movq %rsp, %rbp\n"                                                                            \
    ".cfi_def_cfa_register rbp\n"                                                                  \
    "subq $240, %rsp\n"                                                                            \
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
    "cmpq $0, 88(%rsp)\n"                                                                          \
    "je 1f\n"                                                                                      \
    "movq %rax, 80(%rsp)\n"                                                                        \
    "movq %rsp, %rdi\n"                                                                            \
    "call trigger_after_masked\n"                                                                  \
    "movq sleep_masked@gottpoff(%rip), %r11\n"                                                     \
    "movq $0, %fs:(%r11)\n"                                                                        \
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
    "1: leave\n"                                                                                   \
    ".cfi_def_cfa rsp, 8\n"                                                                        \
    ".cfi_restore rbp\n"                                                                           \
    "ret\n"                                                                                        \
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
        ".pushsection .text\n" DETOUR("sleep_announce", "trigger_before_sleep")
            DETOUR("sleep_learn", "sleep_look_up") MEMORY_CALL MASKED_CALL RESTARTED(STUB)
                SLEEPERS(STUB) RAW(STUB_RAW) ".popsection\n");

static long no_such_call(void) {
    errno = ENOSYS;
    return -1;
}

static bool is_in_libc(void *address) {
    struct dl_find_object of_libc, of_address;
    return glibc_is_here() &&
           _dl_find_object((void *)(uintptr_t)gnu_get_libc_version, &of_libc) == 0 &&
           _dl_find_object(address, &of_address) == 0 &&
           of_libc.dlfo_link_map == of_address.dlfo_link_map;
}

static void fill(_Atomic(uintptr_t) *slot, const char *name, void *real) {
    if (real == NULL)
        real = (void *)(uintptr_t)no_such_call;
    else if (strcmp(name, "syscall") == 0 && is_in_libc(real))
        real = (void *)(uintptr_t)syscall_telling; /* the same, and can be made again */
    atomic_store_explicit(slot, (uintptr_t)real, memory_order_release);
}

void sleep_look_up(_Atomic(uintptr_t) *slot) {
    const char *name = names[slot - sleep_slots];
    int saved = errno;
    void *real = next_symbol(name);
    errno = saved;
    fill(slot, name, real);
}

/* What syscall() is used for, of what may sleep. Others are not masked: some change the mask, or
 * hand it on to another program. */
static bool may_sleep(long number) {
    switch (number) {
    case SYS_futex:
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_copy_file_range:
    case SYS_getrandom:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_connect:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_mq_timedreceive:
    case SYS_mq_timedsend:
    case SYS_io_getevents:
    case SYS_io_uring_enter:
    case SYS_pause:
        return true;
    default:
        return false;
    }
}

/* Those of them that are fragile, a bit each: for the stub of syscall(). */
#define BIT(number, word) ((number) / 64 == (word) ? 1ull << (number) % 64 : 0)
#define FRAGILE_IN(word)                                                                           \
    (BIT(SYS_write, word) | BIT(SYS_writev, word) | BIT(SYS_pwritev, word) |                       \
     BIT(SYS_sendto, word) | BIT(SYS_sendmsg, word) | BIT(SYS_sendmmsg, word) |                    \
     BIT(SYS_sendfile, word) | BIT(SYS_splice, word) | BIT(SYS_connect, word) |                    \
     BIT(SYS_copy_file_range, word) | BIT(SYS_getrandom, word) | BIT(SYS_pause, word))
extern const uint64_t sleep_fragile_numbers[NUMBERS / 64] __attribute__((visibility("hidden")));
const uint64_t sleep_fragile_numbers[NUMBERS / 64] = {FRAGILE_IN(0), FRAGILE_IN(1), FRAGILE_IN(2),
                                                      FRAGILE_IN(3), FRAGILE_IN(4), FRAGILE_IN(5),
                                                      FRAGILE_IN(6)};

#define MEMORY_DEVICES 1 /* their major number: zero, full, random, urandom */

bool sleep_is_memory(int fd) {
    struct stat file;
    struct agent_thread *self = thread_self;
    uint32_t before;
    if (self == NULL || !confine_enter(self, &before))
        return false;
    bool known = sys2(SYS_fstat, fd, &file) == 0;
    confine_leave(self, before);
    return known && S_ISCHR(file.st_mode) && major(file.st_rdev) == MEMORY_DEVICES;
}

static void change_set(struct sleep_call *call, uint8_t set) {
    const uint64_t *given = (const uint64_t *)call->argument[SET_PLACE(set)];
    if (given == NULL || !stack_is_readable((uintptr_t)given))
        return; /* the call itself says EFAULT */
    /* the kernel knows one word; more would be read than the application may have */
    call->set[0] = SET_IS_MASK(set) ? given[0] | call->mask : given[0] & ~call->mask;
    for (size_t i = 1; i < HCCT_ARRAY_LEN(call->set); i++)
        call->set[i] = 0;
    call->argument[SET_PLACE(set)] = (uintptr_t)call->set;
}

static void block(struct sleep_call *call, size_t which) {
    uint64_t before = 0;
    trigger_before_masked(call);
    if (call->mask == 0 ||
        sys4(SYS_rt_sigprocmask, SIG_BLOCK, &call->mask, &before, KERNEL_SIGSET_BYTES) != 0)
        return;
    if (sets[which] != NO_SET)
        change_set(call, sets[which]);
    if ((before & call->mask) != 0)
        return; /* by a handler's mask, or by a call that a handler has interrupted */
    call->unblock = 1;
    sleep_masked = (uintptr_t)call;
}

static bool is_raw(size_t which) {
    return which == HCCT_ARRAY_LEN(names) - 1; /* syscall */
}

void sleep_enter(struct sleep_call *call) {
    struct agent_thread *self = thread_self;
    size_t which = (size_t)(call->slot - sleep_slots);
    uint32_t before;
    call->mask = call->unblock = 0;
    if (self == NULL || (is_raw(which) && !may_sleep((long)call->argument[0])) ||
        !confine_enter(self, &before))
        return;
    block(call, which);
    if (call->unblock != 0)
        agent_hooks.doze(self);
    confine_leave(self, before);
}

long sleep_real_syscall(long number, const long argument[6]) {
    long (*real)(long, ...) =
        (long (*)(long, ...))(uintptr_t)sleep_slots[HCCT_ARRAY_LEN(names) - 1];
    return real(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                argument[5]);
}

/* ThreadSanitizer hands signals on later, with the context as it was: what was there is gone. */
static bool is_whole(const struct sleep_call *call) {
    return call->slot >= sleep_slots && call->slot < sleep_slots + HCCT_ARRAY_LEN(names);
}

bool sleep_call_waits(const struct sleep_call *call) {
    return call->slot - sleep_slots < WAITS_END;
}

const struct sleep_call *sleep_call_at(const ucontext_t *uc) {
    const greg_t *regs = uc->uc_mcontext.gregs;
    uintptr_t pc = (uintptr_t)regs[REG_RIP];
    if (pc < (uintptr_t)sleep_call_made || pc > (uintptr_t)sleep_call_left)
        return NULL;
    const struct sleep_call *call = (const struct sleep_call *)(uintptr_t)regs[REG_RSP];
    return is_whole(call) ? call : NULL;
}

#define FRAME_POINTER sizeof(struct sleep_call)
_Static_assert(offsetof(struct agent_thread, inside) == 16, "the assembly knows the place");
_Static_assert(sizeof(struct sleep_call) == 240 && offsetof(struct sleep_call, mask) == 72 &&
                   offsetof(struct sleep_call, unblock) == 88,
               "the assembly knows the layout");

static uint64_t system_call(size_t which, uint64_t first_argument) {
    return 1 + (is_raw(which) ? first_argument : calls[which]);
}

struct sleep_place sleep_place(const struct sleep_call *call, bool in_call) {
    const uint64_t *frame = (const uint64_t *)((uintptr_t)call + FRAME_POINTER);
    if (!in_call)
        return (struct sleep_place){frame[1], (uint64_t)(uintptr_t)(frame + 2), frame[0], 0};
    return (struct sleep_place){*call->slot, (uint64_t)(uintptr_t)(frame + 1), frame[0],
                                system_call((size_t)(call->slot - sleep_slots), call->argument[0])};
}

void sleep_show(struct agent_thread *thread, ucontext_t *uc, const struct sleep_place *place,
                struct sleep_place *own) {
    greg_t *regs = uc->uc_mcontext.gregs;
    *own = (struct sleep_place){(uint64_t)regs[REG_RIP], (uint64_t)regs[REG_RSP],
                                (uint64_t)regs[REG_RBP], thread->shown_call};
    thread->shown_call = place->call;
    regs[REG_RIP] = (greg_t)place->pc;
    regs[REG_RSP] = (greg_t)place->sp;
    regs[REG_RBP] = (greg_t)place->frame;
}

static bool is_slot(uint64_t address) {
    return address >= (uintptr_t)sleep_slots &&
           address < (uintptr_t)(sleep_slots + HCCT_ARRAY_LEN(sleep_slots)) && address % 8 == 0;
}

/* The word below the call is where the real function returns to. */
bool sleep_find_call(struct agent_thread *thread, ucontext_t *uc) {
    struct sleep_place place, none;
    uint64_t call = *thread->masked, back, slot, frame, first;
    struct stack_probe probe = {{0}};
    if (call <= thread->stack_low || call + FRAME_POINTER + 8 > thread->stack_high ||
        !stack_read(&probe, call - 8, &back) || back != (uintptr_t)sleep_call_made ||
        !stack_read(&probe, call + offsetof(struct sleep_call, slot), &slot) || !is_slot(slot) ||
        !stack_read(&probe, call + offsetof(struct sleep_call, argument), &first) ||
        !stack_read(&probe, call + FRAME_POINTER, &frame))
        return false;
    _Atomic(uintptr_t) *real = (_Atomic(uintptr_t) *)slot;
    place = (struct sleep_place){*real, call + FRAME_POINTER + 8, frame,
                                 system_call((size_t)(real - sleep_slots), first)};
    sleep_show(thread, uc, &place, &none);
    return true;
}

static uintptr_t sorted[HCCT_ARRAY_LEN(names)];
static _Atomic size_t n_sorted;

static void insert(uintptr_t address, size_t at) {
    for (; at > 0 && sorted[at - 1] > address; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = address;
}

void sleep_start(void) {
    void *real[HCCT_ARRAY_LEN(names)];
    int saved = errno;
    next_symbols(names, real, HCCT_ARRAY_LEN(names));
    errno = saved;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(names); i++) {
        fill(&sleep_slots[i], names[i], real[i]);
        if (i >= OTHERS_FIRST)
            insert(sleep_slots[i], i - OTHERS_FIRST);
    }
    n_sorted = HCCT_ARRAY_LEN(names) - OTHERS_FIRST;
}

bool sleep_is_sleeper(uint64_t routine) {
    size_t low = 0, high = n_sorted;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] == routine)
            return true;
        if (sorted[middle] < routine)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

#else

void sleep_start(void) {}

bool sleep_is_sleeper(uint64_t routine) {
    (void)routine;
    return false;
}

bool sleep_call_waits(const struct sleep_call *call) {
    (void)call;
    return false;
}

const struct sleep_call *sleep_call_at(const ucontext_t *uc) {
    (void)uc;
    return NULL;
}

bool sleep_find_call(struct agent_thread *thread, ucontext_t *uc) {
    (void)thread, (void)uc;
    return false;
}

struct sleep_place sleep_place(const struct sleep_call *call, bool in_call) {
    (void)call, (void)in_call;
    return (struct sleep_place){0, 0, 0, 0};
}

void sleep_show(struct agent_thread *thread, ucontext_t *uc, const struct sleep_place *place,
                struct sleep_place *own) {
    (void)thread, (void)uc, (void)place, (void)own;
}

#endif

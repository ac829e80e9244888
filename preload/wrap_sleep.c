/*
 * wrap_sleep.c - one stub for each function that can sleep, in assembly: it knows nothing of its
 * function's arguments, and has no frame of its own.
 *
 * Each stub has a slot with the real function's address. Until that is known (another library's
 * constructor may call before ours has run) the slot leads to a second entry, which looks it up. An
 * unknown name (an older libc) answers as a system call that the kernel doesn't have.
 */
#include "preload/wrap_sleep.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "common/compiler.h"
#include "preload/syscall_code.h"

__thread uint32_t sleep_burst;

#if SLEEP_IS_WRAPPED

/* Which of a stub's calls SLEEP_FRAGILE asks for: instructions that go to 0 for the others. */
#define NONE "jmp 0b\n"
#define ALL  ""
#define IF_WAITALL(flags)                                                                          \
    "testl $0x100, %" flags "\n"                                                                   \
    "je 0b\n"
#define IF_SET(argument)                                                                           \
    "testq %" argument ", %" argument "\n"                                                         \
    "je 0b\n"
#define IF_SAME(one, other)                                                                        \
    "cmpq %" one ", %" other "\n"                                                                  \
    "jne 0b\n"

#define SLEEPERS(F)                                                                                \
    F(poll, NONE)                                                                                  \
    F(__poll_chk, NONE)                                                                            \
    F(ppoll, IF_SET("rcx"))                                                                        \
    F(__ppoll_chk, IF_SET("rcx"))                                                                  \
    F(select, NONE)                                                                                \
    F(pselect, IF_SET("r9"))                                                                       \
    F(epoll_wait, NONE)                                                                            \
    F(epoll_pwait, IF_SET("r8"))                                                                   \
    F(epoll_pwait2, IF_SET("r8"))                                                                  \
    F(nanosleep, IF_SAME("rdi", "rsi"))                                                            \
    F(clock_nanosleep, IF_SAME("rdx", "rcx"))                                                      \
    F(thrd_sleep, IF_SAME("rdi", "rsi"))                                                           \
    F(usleep, NONE)                                                                                \
    F(sleep, NONE)                                                                                 \
    F(pause, ALL)                                                                                  \
    F(sigsuspend, ALL)                                                                             \
    F(sigwait, ALL)                                                                                \
    F(sigwaitinfo, ALL)                                                                            \
    F(sigtimedwait, ALL)                                                                           \
    F(sem_wait, NONE)                                                                              \
    F(sem_timedwait, NONE)                                                                         \
    F(sem_clockwait, NONE)                                                                         \
    F(semop, NONE)                                                                                 \
    F(semtimedop, NONE)                                                                            \
    F(msgrcv, NONE)                                                                                \
    F(msgsnd, NONE)                                                                                \
    F(mq_receive, NONE)                                                                            \
    F(mq_timedreceive, NONE)                                                                       \
    F(mq_send, NONE)                                                                               \
    F(mq_timedsend, NONE)                                                                          \
    F(recv, IF_WAITALL("ecx"))                                                                     \
    F(__recv_chk, IF_WAITALL("r8d"))                                                               \
    F(recvfrom, IF_WAITALL("ecx"))                                                                 \
    F(__recvfrom_chk, IF_WAITALL("r8d"))                                                           \
    F(recvmsg, IF_WAITALL("edx"))                                                                  \
    F(recvmmsg, IF_WAITALL("ecx"))                                                                 \
    F(write, ALL)                                                                                  \
    F(writev, ALL)                                                                                 \
    F(send, ALL)                                                                                   \
    F(sendto, ALL)                                                                                 \
    F(sendmsg, ALL)                                                                                \
    F(sendmmsg, ALL)                                                                               \
    F(sendfile, ALL)                                                                               \
    F(sendfile64, ALL)                                                                             \
    F(splice, ALL)                                                                                 \
    F(connect, ALL)                                                                                \
    F(syscall, NONE)

#define NAME(name, fragile) #name,
static const char *const names[] = {SLEEPERS(NAME)};

/* In the order of `names`: the assembly below makes a section of them. */
extern _Atomic(uintptr_t) sleep_slots[HCCT_ARRAY_LEN(names)] __attribute__((visibility("hidden")));

/* Called by the stubs. */
void sleep_look_up(_Atomic(uintptr_t) *slot) __attribute__((visibility("hidden"), used));

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

#define STUB(name, fragile)                                                                        \
    ".p2align 4\n"                                                                                 \
    ".globl " #name "\n"                                                                           \
    ".type " #name ", @function\n"                                                                 \
    #name ":\n"                                                                                    \
    ".cfi_startproc\n"                                                                             \
    ENTRY                                                                                          \
    "movq sleep_burst@gottpoff(%rip), %r11\n"                                                      \
    "cmpb $0, %fs:(%r11)\n"                                                                        \
    "jne 1f\n"                                                                                     \
    "0: jmp *sleep_slot_" #name "(%rip)\n"                                                         \
    "1: testb $1, %fs:(%r11)\n" /* SLEEP_ANY */                                                    \
    "jne 2f\n"                                                                                     \
    fragile                                                                                        \
    "2: leaq sleep_slot_" #name "(%rip), %r11\n"                                                   \
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
/* clang-format on */

__asm__(".pushsection .data.sleep_slots, \"aw\"\n"
        ".p2align 3\n"
        ".globl sleep_slots\n"
        ".hidden sleep_slots\n"
        ".type sleep_slots, @object\n"
        "sleep_slots:\n"
        ".popsection\n"
        ".pushsection .text\n" DETOUR("sleep_announce", "trigger_before_sleep")
            DETOUR("sleep_learn", "sleep_look_up") SLEEPERS(STUB) ".popsection\n");

static long no_such_call(void) {
    errno = ENOSYS;
    return -1;
}

static bool is_in_libc(void *address) {
    struct dl_find_object of_libc, of_address;
    return _dl_find_object((void *)(uintptr_t)gnu_get_libc_version, &of_libc) == 0 &&
           _dl_find_object(address, &of_address) == 0 &&
           of_libc.dlfo_link_map == of_address.dlfo_link_map;
}

void sleep_look_up(_Atomic(uintptr_t) *slot) {
    const char *name = names[slot - sleep_slots];
    int saved = errno;
    void *real = dlsym(RTLD_NEXT, name);
    errno = saved;
    if (real == NULL)
        real = (void *)(uintptr_t)no_such_call;
    else if (strcmp(name, "syscall") == 0 && is_in_libc(real))
        real = (void *)(uintptr_t)syscall_telling; /* the same, and can be made again */
    atomic_store_explicit(slot, (uintptr_t)real, memory_order_release);
}

static uintptr_t sorted[HCCT_ARRAY_LEN(names)];
static _Atomic size_t n_sorted;

static void insert(uintptr_t address, size_t at) {
    for (; at > 0 && sorted[at - 1] > address; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = address;
}

void sleep_start(void) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(names); i++) {
        sleep_look_up(&sleep_slots[i]);
        insert(sleep_slots[i], i);
    }
    n_sorted = HCCT_ARRAY_LEN(names);
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

#endif

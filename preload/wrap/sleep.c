/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep.c - one stub for each function that can sleep, in assembly (sleep_machine.h): it knows
 * nothing of its function's arguments, and has no frame of its own.
 *
 * Each stub has a slot with the real function's address. Until that is known (another library's
 * constructor may call before ours has run) the slot leads to a second entry, which looks it up. An
 * unknown name (an older libc) answers as a system call that the kernel doesn't have.
 */
#include "preload/wrap/sleep.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "common/wire/compiler.h"
#include "common/wire/wire.h"
#include "preload/life/confine.h"
#include "preload/life/glibc.h"
#include "preload/life/hooks.h"
#include "preload/life/sys.h"
#include "preload/sample/stack.h"
#include "preload/sample/ticker.h"
#include "preload/wrap/handler_masks.h"
#include "preload/wrap/next_symbol.h"
#include "preload/wrap/sleep_list.h"
#include "preload/wrap/sleep_machine.h"

__thread uintptr_t sleep_masked;

/* Not by pointers, which the loader would have to write. */
#define NAME_BYTES                           32
#define NAME(name, fragile, open, set, call) #name,
static const char names[][NAME_BYTES] = {SLEEP_LIST(NAME)};

#define FITS(name, fragile, open, set, call) _Static_assert(sizeof #name <= NAME_BYTES, #name);
SLEEP_LIST(FITS)

#define SET(name, fragile, open, set, call) set,
static const uint8_t sets[] = {SLEEP_LIST(SET)};

#define CALL(name, fragile, open, set, call) call,
static const uint16_t calls[] = {SLEEP_LIST(CALL)};

#define ONE(name, fragile, open, set, call) +1
enum {
    WAITS_END = 0 WAITS(ONE),
    MUTEXES_FIRST = 0 RESTARTED(ONE),
    MUTEXES_END = MUTEXES_FIRST MUTEXES(ONE),
    OTHERS_FIRST = MUTEXES_FIRST LOCKS(ONE),
    STARTERS_FIRST = OTHERS_FIRST SLEEPERS(ONE),
    STARTERS_END = STARTERS_FIRST STARTERS(ONE),
};

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
    else if (sleep_syscall() != NULL && strcmp(name, "syscall") == 0 && is_in_libc(real))
        real = (void *)(uintptr_t)sleep_syscall();
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
    static const short numbers[] = {
        SLEEP_OLD_NUMBERS SYS_futex,
        SYS_nanosleep,
        SYS_clock_nanosleep,
        SYS_read,
        SYS_readv,
        SYS_write,
        SYS_writev,
        SYS_pwrite64,
        SYS_pwritev,
        SYS_pwritev2,
        SYS_sendto,
        SYS_sendmsg,
        SYS_sendmmsg,
        SYS_sendfile,
        SYS_splice,
        SYS_copy_file_range,
        SYS_getrandom,
        SYS_recvfrom,
        SYS_recvmsg,
        SYS_recvmmsg,
        SYS_connect,
        SYS_semop,
        SYS_semtimedop,
        SYS_msgrcv,
        SYS_msgsnd,
        SYS_mq_timedreceive,
        SYS_mq_timedsend,
        SYS_io_getevents,
        SYS_io_uring_enter,
    };
    for (size_t i = 0; i < HCCT_ARRAY_LEN(numbers); i++)
        if (numbers[i] == number)
            return true;
    return false;
}

/* Those of them that are fragile, a bit each: for the stub of syscall(). */
#define BIT(number, word) ((number) / 64 == (word) ? 1ull << (number) % 64 : 0)
#define FRAGILE_IN(word)                                                                           \
    (BIT(SYS_write, word) | BIT(SYS_writev, word) | BIT(SYS_pwritev, word) |                       \
     BIT(SYS_pwritev2, word) | BIT(SYS_sendto, word) | BIT(SYS_sendmsg, word) |                    \
     BIT(SYS_sendmmsg, word) | BIT(SYS_recvmmsg, word) | BIT(SYS_sendfile, word) |                 \
     BIT(SYS_splice, word) | BIT(SYS_connect, word) | BIT(SYS_copy_file_range, word) |             \
     BIT(SYS_getrandom, word) | SLEEP_OLD_FRAGILE(word))
const uint64_t sleep_fragile_numbers[SLEEP_NUMBERS / 64] = {
    FRAGILE_IN(0), FRAGILE_IN(1), FRAGILE_IN(2), FRAGILE_IN(3),
    FRAGILE_IN(4), FRAGILE_IN(5), FRAGILE_IN(6)};

#define MEMORY_DEVICES 1 /* their major number: zero, full, random, urandom */

/* libc's major() is a function where nothing is inlined, whose name a program may have, too. */
static uint64_t major_of(uint64_t device) {
    return (device >> 8 & 0xfff) | (device >> 32 & ~0xfffull);
}

bool sleep_is_memory(int fd) {
    struct stat file;
    struct agent_thread *self = thread_self;
    uint32_t before;
    if (self == NULL || !confine_enter(self, &before))
        return false;
    bool known = sys2(SYS_fstat, fd, &file) == 0;
    confine_leave(self, before);
    return known && S_ISCHR(file.st_mode) && major_of(file.st_rdev) == MEMORY_DEVICES;
}

bool sleep_is_short(const struct timespec *time) {
    struct agent_thread *self = thread_self;
    uint32_t before;
    if (time == NULL || self == NULL || !confine_enter(self, &before))
        return false;
    uint64_t low, high;
    thread_stack_above(self, (uintptr_t)__builtin_frame_address(0), &low, &high);
    uintptr_t at = (uintptr_t)time;
    bool readable = at % 8 == 0 && ((at >= low && at < high) || stack_is_readable(at));
    bool is_short = readable && time->tv_sec == 0;
    confine_leave(self, before);
    return is_short;
}

void sleep_forget_announced(void) {
    if (thread_self != NULL)
        thread_self->open_call.call = thread_self->watched_call.call = 0;
}

hcct_hot struct announced_call sleep_announced(struct agent_thread *self,
                                               const struct sleep_call *call, uint64_t began_ns) {
    if (++self->announced_calls == 0)
        self->announced_calls = 1;
    return (struct announced_call){.call = (uintptr_t)call,
                                   .began_ns = began_ns,
                                   .number = self->announced_calls,
                                   .handlers = self->handlers,
                                   .which = (uint16_t)sleep_number(call)};
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

void sleep_block(struct sleep_call *call, size_t which) {
    uint64_t before = 0;
    trigger_before_masked(call);
    if (call->mask == 0 ||
        sys4(SYS_rt_sigprocmask, SIG_BLOCK, &call->mask, &before, KERNEL_SIGSET_BYTES) != 0)
        return;
    if (sets[which] != NO_SET)
        change_set(call, sets[which]);
    if ((before & call->mask) != 0)
        return; /* by a handler's mask, or by a call that a handler has interrupted */
    call->unblock = SLEEP_CALL_MASKED;
    call->outer = sleep_masked;
    sleep_masked = (uintptr_t)call;
}

static bool is_raw(size_t which) {
    return which == HCCT_ARRAY_LEN(names) - 1; /* syscall */
}

/* A mutex that the thread has already: it need not wait for it, or will for ever. */
static bool is_own(const struct sleep_call *call, size_t which, const struct agent_thread *self) {
    const pthread_mutex_t *mutex = (const pthread_mutex_t *)(uintptr_t)call->argument[0];
    return which >= MUTEXES_FIRST && which < MUTEXES_END &&
           __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) == self->tid;
}

/* The calling thread's context. */
static struct agent_thread *meet(void) {
    struct agent_thread *self = thread_self;
    if (hcct_likely(agent_hooks.meet == NULL || (self != NULL && thread_is_met(self))))
        return self;
    return agent_hooks.meet();
}

hcct_hot void sleep_enter(struct sleep_call *call) {
    if (call->unblock != SLEEP_CALL_PLAIN) {
        call->unblock = SLEEP_CALL_PLAIN;
        if ((sleep_burst & SLEEP_NEXT) != 0)
            trigger_before_sleep();
        if (thread_self != NULL)
            thread_self->watched_call =
                sleep_announced(thread_self, call, ticker_now(CLOCK_MONOTONIC));
        return;
    }
    struct agent_thread *self = meet();
    size_t which = sleep_number(call);
    uint32_t before;
    call->mask = 0;
    call->unblock = SLEEP_CALL_PLAIN;
    if (self == NULL || (is_raw(which) && !may_sleep((long)call->argument[0])) ||
        is_own(call, which, self) || !confine_enter(self, &before))
        return;
    if (!sleep_open_begin(call, which))
        sleep_block(call, which);
    if (call->unblock == SLEEP_CALL_MASKED)
        agent_hooks.doze(self);
    confine_leave(self, before);
}

hcct_hot size_t sleep_number(const struct sleep_call *call) {
    return (size_t)(call->slot - sleep_slots);
}

void sleep_open(void) {
    if (sleep_masked != 0)
        handler_mask_open();
}

void sleep_open_for(long number) {
    static const short numbers[] = {SLEEP_OLD_STARTERS SYS_clone, SYS_clone3, SYS_execve,
                                    SYS_execveat};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(numbers); i++)
        if (numbers[i] == number)
            sleep_open();
}

/* The personality of the frame of a call, in the words of the exception handling ABI: what leaves
 * it by an exception, or as its thread is cancelled, does so out of a handler. The cleanups of
 * frames further out have our signal open, as what they begin has. The frame has nothing to be
 * cleaned up itself. */
#define UNWINDER_CLEANS_UP 2
#define UNWINDER_GOES_ON   8
int sleep_unwound(int version, int actions, uint64_t class, void *exception, void *context)
    __attribute__((visibility("hidden"), used));
int sleep_unwound(int version, int actions, uint64_t class, void *exception, void *context) {
    (void)version, (void)class, (void)exception, (void)context;
    if ((actions & UNWINDER_CLEANS_UP) != 0) {
        sleep_open();
        sleep_forget_announced();
        trigger_call_left(NULL);
    }
    return UNWINDER_GOES_ON;
}

long sleep_real_syscall(long number, const long argument[6]) {
    long (*real)(long, ...) =
        (long (*)(long, ...))(uintptr_t)sleep_slots[HCCT_ARRAY_LEN(names) - 1];
    return real(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                argument[5]);
}

/* ThreadSanitizer hands signals on later, with the context as it was: what was there is gone. */
bool sleep_is_whole(const struct sleep_call *call) {
    return call->slot >= sleep_slots && call->slot < sleep_slots + HCCT_ARRAY_LEN(names);
}

const struct sleep_call *sleep_call_at(const ucontext_t *uc) {
    const struct agent_thread *self = thread_self;
    return self != NULL && self->left_call != NULL ? self->left_call : sleep_call_ending(uc);
}

bool sleep_call_waits(const struct sleep_call *call) {
    return sleep_number(call) < WAITS_END;
}

bool sleep_is_there(uintptr_t at, uintptr_t sp) {
    return at / WIRE_PAGE == sp / WIRE_PAGE || stack_is_readable(at);
}

bool sleep_is_slot(uint64_t address) {
    return address >= (uintptr_t)sleep_slots &&
           address < (uintptr_t)(sleep_slots + HCCT_ARRAY_LEN(names)) && address % 8 == 0;
}

uint64_t sleep_system_call(uint64_t slot, uint64_t first_argument) {
    size_t which = (slot - (uintptr_t)sleep_slots) / sizeof *sleep_slots;
    return 1 + (is_raw(which) ? first_argument : calls[which]);
}

static uintptr_t sorted[HCCT_ARRAY_LEN(names)];
static _Atomic size_t n_sorted;

static void insert(uintptr_t address, size_t at) {
    for (; at > 0 && sorted[at - 1] > address; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = address;
}

void sleep_start(void) {
    const char *asked[HCCT_ARRAY_LEN(names)];
    void *real[HCCT_ARRAY_LEN(names)];
    size_t n = 0;
    int saved = errno;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(names); i++)
        asked[i] = names[i];
    next_symbols(asked, real, HCCT_ARRAY_LEN(names));
    errno = saved;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(names); i++) {
        fill(&sleep_slots[i], names[i], real[i]);
        if (i >= OTHERS_FIRST && (i < STARTERS_FIRST || i >= STARTERS_END))
            insert(sleep_slots[i], n++);
    }
    n_sorted = n;
}

#define BEGINNING 256 /* bytes of a function, with its system call */

bool sleep_is_about_to(uint64_t pc) {
    size_t low = 0, high = n_sorted;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && pc - sorted[low - 1] < BEGINNING;
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

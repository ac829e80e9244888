/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep_stubs.c - the trigger and the agent's life, as the stubs know them.
 */
#include "tests/agent/sleep_stubs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/life/confine.h"
#include "preload/life/hooks.h"
#include "preload/sample/calm.h"
#include "preload/wrap/handler_masks.h"
#include "preload/wrap/sleep_open.h"

__thread uint32_t sleep_burst;

unsigned announced;

struct agent_thread context;
__thread struct agent_thread *thread_self = &context;
_Atomic bool confine_all, confine_some, confine_held;

/* Nobody holds the others here. */
bool confine_enter_rarely(struct agent_thread *thread, uint32_t before, bool waits) {
    (void)waits;
    atomic_store(&thread->inside, before);
    return false;
}

long confine_syscall(long number, long a, long b, long c, long d, long e, long f)
    __attribute__((visibility("hidden"), used));
long confine_syscall(long number, long a, long b, long c, long d, long e, long f) {
    return sleep_real_syscall(number, (const long[]){a, b, c, d, e, f});
}

long signal_syscall(long call, long number, const void *action, void *old, long bytes)
    __attribute__((visibility("hidden"), used));
long signal_syscall(long call, long number, const void *action, void *old, long bytes) {
    return sleep_real_syscall(call, (const long[]){number, (long)action, (long)old, bytes, 0, 0});
}

long signal_syscall_stack(long call, const void *stack, void *old)
    __attribute__((visibility("hidden"), used));
long signal_syscall_stack(long call, const void *stack, void *old) {
    return sleep_real_syscall(call, (const long[]){(long)stack, (long)old, 0, 0, 0, 0});
}

unsigned dozed;

static void doze(const struct agent_thread *thread) {
    (void)thread;
    dozed++;
}

const struct agent_hooks agent_hooks = {.doze = doze};

unsigned opened;

void handler_mask_open(void) {
    trigger_before_sleep(); /* spoils the registers */
    announced--;
    opened++;
}

void trigger_before_sleep(void) {
    char room[256];
    announced++;
    /* what a function may do to registers and stack */
    memset(room, (int)announced, sizeof room);
    __asm__ volatile("" ::"r"(room) : "memory");
#if defined(__aarch64__)
    __asm__ volatile("mov x0, #0\n mov x1, #0\n mov x2, #0\n mov x3, #0\n mov x4, #0\n"
                     "mov x5, #0\n mov x6, #0\n mov x7, #0\n mov x8, #0\n mov x15, #0\n"
                     "mov x16, #0\n mov x17, #0" ::
                         : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x15", "x16",
                           "x17");
#elif defined(__x86_64__)
    __asm__ volatile("xor %%eax, %%eax\n mov %%rax, %%rdi\n mov %%rax, %%rsi\n mov %%rax, %%rdx\n"
                     "mov %%rax, %%rcx\n mov %%rax, %%r8\n mov %%rax, %%r9\n mov %%rax, %%r10\n"
                     "mov %%rax, %%r11" ::
                         : "rax", "rdi", "rsi", "rdx", "rcx", "r8", "r9", "r10", "r11");
#endif
}

unsigned watched;

void trigger_after_watched(const struct sleep_call *call) {
    (void)call;
    trigger_before_sleep(); /* spoils the registers */
    announced--;
    watched++;
}

volatile unsigned masked;

void trigger_call_left(const struct sleep_place *place) {
    (void)place;
}

void trigger_after_masked(struct sleep_call *call) {
    (void)call;
    trigger_before_sleep(); /* spoils the registers */
    announced--;
}

void trigger_before_masked(struct sleep_call *call) {
    trigger_before_sleep(); /* spoils the registers */
    announced--;
    masked++;
    call->mask = 1ull << (SIGPROF - 1);
}

bool opens;
volatile unsigned left;
bool cuts;
int waits_from_now = -1;
sem_t was_cut;

bool open_call_begin(struct sleep_call *call, size_t which) {
    (void)call, (void)which;
    trigger_before_sleep(); /* spoils the registers */
    announced--;
    return opens;
}

void open_call_end(struct sleep_call *call, size_t which) {
    int saved = errno;
    (void)call, (void)which;
    trigger_before_sleep(); /* spoils the registers */
    announced--;
    left++;
    context.open_call.cut = cuts;
    if (waits_from_now < 0)
        return;
    fcntl(waits_from_now, F_SETFL, 0);
    sem_post(&was_cut);
    errno = saved;
}

void calm_never(struct agent_thread *thread, size_t which) {
    (void)thread, (void)which;
}

uint64_t ticker_now(clockid_t clock) {
    (void)clock;
    return 1;
}

uint64_t signals_blocked(void) {
    uint64_t set = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &set, 8);
    return set;
}

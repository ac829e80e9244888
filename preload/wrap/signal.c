/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * signal.c - the application's own signals win, and it never sees ours.
 *
 * An application that sets a disposition for our signal gets the signal: the agent moves away
 * first. One that only asks sees what it would see without us. One that blocks all signals (thread
 * pools do) does so, but for ours, and reads back the mask that it has set. One that blocks ours by
 * name, or makes a descriptor of it, wants to have it: the agent moves away.
 *
 * A thread that has confined itself (confine.h) can't make the agent move away from the others:
 * what it sets for our signal is left out.
 *
 * What is ignored is not blocked by the agent (signal_all), so it learns of each change.
 *
 * In a child that shares its parent's memory nothing of the agent's is changed: what the child sets
 * is for itself alone, and it has none of our timers.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>

#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/handler.h"
#include "preload/life/handler_room.h"
#include "preload/life/handler_stack.h"
#include "preload/life/signal.h"
#include "preload/life/signal_set.h"
#include "preload/life/thread.h"
#include "preload/sample/stack.h"
#include "preload/wrap/handler_entry.h"
#include "preload/wrap/handler_masks.h"
#include "preload/wrap/real.h"
#include "preload/wrap/sleep.h"

static bool is_ours(int number) {
    return number > 0 && agent.process != NULL && number == signal_number() && agent_owns_memory();
}

/* Others are still sampled. */
static bool is_others(int number) {
    return number > 0 && agent.process != NULL && number == signal_number() && confine_is_quiet();
}

/* Around a change of a disposition: another thread may be about to write back what it has read
 * (handler_mask_move), and must not write over ours. */
static bool enter_to_change(uint32_t *before) {
    return thread_self != NULL && agent_owns_memory() && confine_enter(thread_self, before);
}

static bool ignores(int number, void (*handler)(int)) {
    return handler == SIG_IGN || (handler == SIG_DFL && signal_is_ignored_by_default(number));
}

/* Before a handler is set it is learned that there will be one, and afterwards that there is none.
 */
static void note_before(int number, void (*handler)(int)) {
    if (number > 0 && number < _NSIG && agent.process != NULL && !ignores(number, handler))
        signal_note_action(number, false);
}

/* Another thread may have looked between both. */
static void note_after(int number, void (*handler)(int)) {
    if (number > 0 && number < _NSIG && agent.process != NULL)
        signal_note_action(number, ignores(number, handler));
}

/* A disposition of another signal. */
static int change_alone(int number, const struct sigaction *action, struct sigaction *old) {
    struct sigaction reduced;
    int ours = signal_number();
    bool valid = number > 0 && number < _NSIG && agent.process != NULL && ours != 0;
    if (!valid || !agent_owns_memory())
        return real_sigaction(number, action, old);
    int before = handler_mask_get(number);
    if (action != NULL) {
        reduced = *action;
        handler_mask_heed(action, ours);
        handler_mask_apply(number, ours, &reduced);
    }
    int result = real_sigaction(number, action != NULL ? &reduced : NULL, old);
    if (result != 0)
        handler_mask_set_back(number, before);
    else if (old != NULL)
        handler_mask_show(before, ours, old);
    return result;
}

static int change_others(int number, const struct sigaction *action, struct sigaction *old) {
    uint32_t before;
    void (*handler)(int) = action != NULL ? action->sa_handler : SIG_DFL;
    if (action != NULL)
        note_before(number, handler);
    bool entered = action != NULL && enter_to_change(&before);
    int result = change_alone(number, action, old);
    if (result == 0 && old != NULL)
        handler_entry_hide(old);
    if (entered)
        confine_leave(thread_self, before);
    if (action != NULL && result == 0)
        note_after(number, handler);
    return result;
}

static int change_action(int number, const struct sigaction *action, struct sigaction *old) {
    if (is_others(number)) {
        if (old != NULL)
            signal_hidden_action(old);
        return 0;
    }
    if (!is_ours(number)) {
        int result = change_others(number, action, old);
        if (result == 0 && old != NULL && signal_is_agents(old))
            signal_hidden_action(old);
        return result;
    }
    if (action == NULL) {
        if (old != NULL)
            signal_hidden_action(old);
        return 0;
    }
    signal_yield();
    return change_others(number, action, old);
}

hcct_export int sigaction(int number, const struct sigaction *restrict action,
                          struct sigaction *restrict old) {
    return change_action(number, action, old);
}

hcct_export int __sigaction(int number, const struct sigaction *action, struct sigaction *old);
hcct_export int __sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    return change_action(number, action, old);
}

static void (*entry_of(int number, void (*handler)(int)))(int) {
    return signal_number() == 0 || handler_mask_is_fault(number) ? handler
                                                                 : handler_entry_of(handler);
}

/* signal() and its variants reach libc's sigaction from inside libc. */
#define WRAP_SIGNAL(name)                                                                          \
    hcct_export void (*name(int number, void (*handler)(int)))(int);                               \
    hcct_export void (*name(int number, void (*handler)(int)))(int) {                              \
        struct sigaction old;                                                                      \
        if (is_others(number))                                                                     \
            return SIG_DFL;                                                                        \
        if (is_ours(number))                                                                       \
            signal_yield();                                                                        \
        if (handler != SIG_HOLD && handler != SIG_ERR)                                             \
            note_before(number, handler);                                                          \
        uint32_t inside;                                                                           \
        bool entered = enter_to_change(&inside);                                                   \
        bool given_up = agent.process != NULL && real_sigaction(number, NULL, &old) == 0 &&        \
                        signal_is_agents(&old);                                                    \
        void (*before)(int) = handler_entry_handler(                                               \
            real_signal(#name, number, entered ? entry_of(number, handler) : handler));            \
        if (entered) {                                                                             \
            if (before != SIG_ERR)                                                                 \
                handler_mask_forget(number);                                                       \
            confine_leave(thread_self, inside);                                                    \
        }                                                                                          \
        if (before != SIG_ERR && handler != SIG_HOLD)                                              \
            note_after(number, handler);                                                           \
        return given_up && before != SIG_ERR ? SIG_DFL : before;                                   \
    }

WRAP_SIGNAL(signal)
WRAP_SIGNAL(bsd_signal)
WRAP_SIGNAL(ssignal)
WRAP_SIGNAL(sysv_signal)
WRAP_SIGNAL(__sysv_signal)
WRAP_SIGNAL(sigset)

/* These reach libc's sigaction and sigprocmask from inside libc, too. */
hcct_export int sigignore(int number) {
    if (is_others(number))
        return 0;
    if (is_ours(number))
        signal_yield();
    int result = real_sigignore(number);
    if (result == 0 && agent_owns_memory()) {
        handler_mask_forget(number);
        note_after(number, SIG_IGN);
    }
    return result;
}

hcct_export int siginterrupt(int number, int flag) {
    if (is_others(number))
        return 0;
    if (is_ours(number))
        signal_yield();
    return real_siginterrupt(number, flag);
}

hcct_export int sighold(int number) {
    if (is_ours(number))
        signal_give_up();
    return real_sighold(number);
}

/* As the kernel has it. */
struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static void hide(struct kernel_action *old) {
    const struct sigaction action = {.sa_flags = (int)old->flags, .sa_sigaction = old->handler};
    if (signal_is_agents(&action))
        memset(old, 0, sizeof *old);
    else
        old->handler =
            (void (*)(int, siginfo_t *, void *))(uintptr_t)handler_entry_handler(action.sa_handler);
}

/* rt_sigaction by syscall(): process starters set all signals so, those that libc keeps for itself
 * too. The stub of syscall() jumps here, with all arguments as they are. */
long signal_syscall(long call, long number, const struct kernel_action *action,
                    struct kernel_action *old, long bytes)
    __attribute__((visibility("hidden"), used));
long signal_syscall(long call, long number, const struct kernel_action *action,
                    struct kernel_action *old, long bytes) {
    const long argument[6] = {number, (long)action, (long)old, bytes};
    const long only_asks[6] = {number, 0, (long)old, bytes};
    bool others = number < _NSIG && is_others((int)number);
    if (action != NULL && number < _NSIG && is_ours((int)number))
        signal_yield();
    bool sets = action != NULL && number > 0 && number < _NSIG && !others && agent_started() &&
                stack_is_readable((uintptr_t)action);
    void (*handler)(int) = sets ? (void (*)(int))(uintptr_t)action->handler : SIG_DFL;
    if (sets)
        note_before((int)number, handler);
    long result = sleep_real_syscall(call, others ? only_asks : argument);
    if (sets && result == 0)
        note_after((int)number, handler);
    if (result == 0 && old != NULL && agent_started())
        hide(old);
    return result;
}

/* The application has set none up in this thread: it takes nothing down, and ours stays. */
static bool takes_down_ours(const struct agent_thread *self, const stack_t *stack) {
    return stack->ss_flags == SS_DISABLE && handler_stack_is_there(self);
}

static int set_stack(const stack_t *stack, stack_t *old) {
    struct agent_thread *self = thread_self;
    bool changes = stack != NULL && agent_owns_memory();
    if (changes && (stack->ss_flags & SS_DISABLE) == 0)
        handler_mask_stack(stack->ss_size, signal_number());
    changes = changes && self != NULL;
    if (changes && takes_down_ours(self, stack)) {
        changes = false;
        stack = NULL;
    }
    if (changes)
        handler_room_before(self, stack);
    int result = real_sigaltstack(stack, old);
    if (changes)
        handler_room_after(self);
    if (result == 0 && old != NULL && self != NULL)
        handler_stack_hide(self, old);
    return result;
}

hcct_export int sigaltstack(const stack_t *restrict stack, stack_t *restrict old) {
    return set_stack(stack, old);
}

/* The same by syscall(), as signal_syscall. */
long signal_syscall_stack(long call, const stack_t *stack, stack_t *old)
    __attribute__((visibility("hidden"), used));
long signal_syscall_stack(long call, const stack_t *stack, stack_t *old) {
    const long argument[6] = {(long)stack, (long)old};
    uintptr_t first = (uintptr_t)stack & ~7ul, last = ((uintptr_t)(stack + 1) - 1) & ~7ul;
    if (stack != NULL && (!stack_is_readable(first) || !stack_is_readable(last)))
        return sleep_real_syscall(call, argument);
    return set_stack(stack, old);
}

typedef int change_mask(int how, const sigset_t *set, sigset_t *old);

/* The mask that the application wants, without our signal; and what it has set, with it. */
static int change_without_ours(change_mask *change, int how, const sigset_t *set, sigset_t *old) {
    struct agent_thread *self = thread_self;
    if (self == NULL || signal_number() == 0 || !agent_owns_memory())
        return change(how, set, old);
    if (set != NULL && how != SIG_UNBLOCK && signal_is_named(set, signal_number()))
        signal_give_up();
    int ours = signal_number(), hidden = self->hidden_signal;
    sigset_t reduced;
    if (ours == 0)
        return change(how, set, old);
    if (set != NULL) {
        bool member = signal_set_has(set, ours);
        reduced = *set;
        if (how != SIG_UNBLOCK)
            signal_set_remove(&reduced, ours);
        if (how == SIG_SETMASK)
            self->hidden_signal = member ? ours : 0;
        else if (member)
            self->hidden_signal = how == SIG_BLOCK ? ours : 0;
    }
    int result = change(how, set != NULL ? &reduced : NULL, old);
    if (result != 0)
        self->hidden_signal = hidden;
    else if (old != NULL && hidden != 0) {
        signal_set_add(old, hidden);
        signal_set_add(old, ours);
    } else if (old != NULL)
        signal_set_remove(
            old, ours); /* in a handler: blocked by its mask, or by a call of wrap/sleep.h */
    return result;
}

hcct_export int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    return change_without_ours(real_pthread_sigmask, how, set, old);
}

hcct_export int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    return change_without_ours(real_sigprocmask, how, set, old);
}

/* Ours may be pending while a thread waits in poll: its descriptor would seem to be ready. */
hcct_export int signalfd(int fd, const sigset_t *set, int flags) {
    int ours = signal_number();
    sigset_t reduced;
    __asm__("" : "+r"(set)); /* declared as never NULL; the kernel answers EFAULT */
    if (set == NULL || ours == 0 || agent.process == NULL)
        return real_signalfd(fd, set, flags);
    if (signal_is_named(set, ours) && agent_owns_memory()) {
        signal_give_up();
        return real_signalfd(fd, set, flags);
    }
    reduced = *set;
    signal_set_remove(&reduced, ours);
    return real_signalfd(fd, &reduced, flags);
}

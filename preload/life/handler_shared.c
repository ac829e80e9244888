/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_shared.c - each thread says which stack it has before it asks which ones others have: so
 * of two that come at a time one sees the other, and does so before it has the stack.
 */
#include "preload/life/handler_shared.h"

#include <stdint.h>

#include "preload/life/confine.h"
#include "preload/life/handler.h"

_Atomic bool handler_shared;

/* 0: none, or ours. */
static uintptr_t place_of(const struct agent_thread *thread, const stack_t *stack) {
    bool none = (stack->ss_flags & SS_DISABLE) != 0 || stack->ss_sp == thread->handler_stack;
    return none ? 0 : (uintptr_t)stack->ss_sp;
}

static bool is_anothers(const struct agent_thread *thread, uintptr_t place) {
    for (const struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (t != thread && atomic_load(&t->used) != 0 && atomic_load(&t->alternate) == place)
            return true;
    return false;
}

static void note(struct agent_thread *thread, uintptr_t place) {
    atomic_store(&thread->alternate, place);
    if (place == 0 || atomic_load(&handler_shared) || !is_anothers(thread, place))
        return;
    atomic_store(&handler_shared, true);
    signal_set_handlers_again();
}

void handler_shared_before(struct agent_thread *thread, const stack_t *stack) {
    uintptr_t place = place_of(thread, stack);
    uint32_t before;
    if (place == atomic_load(&thread->alternate) || !confine_enter(thread, &before))
        return;
    note(thread, place);
    confine_leave(thread, before);
}

/* What is about to be set stands already where the tick comes before it is. */
void handler_shared_at_tick(struct agent_thread *thread, const stack_t *stack) {
    uintptr_t place = place_of(thread, stack);
    if (place != 0 && place != atomic_load(&thread->alternate))
        note(thread, place);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pass_over.c - the layout of such a function's frame does not change, and is learned from the
 * first step out of it: a child of fork has no tables when its first sample comes, but knows what
 * its parent has learned.
 */
#include "preload/sample/pass_over.h"

#include <stdatomic.h>

#include "preload/sample/unwind_inner.h"

#define SAME_FP  INT64_MIN /* the caller's frame pointer is the callee's */
#define VARIABLE (UNWIND_STEP_USES_FP | UNWIND_STEP_OPAQUE | UNWIND_STEP_BARE)

static struct place {
    _Atomic uint64_t pc; /* 0: none */
    /* all from the stack pointer up */
    _Atomic uint64_t size; /* to the caller's stack pointer; 0: not learned yet */
    _Atomic uint64_t ra;   /* to the return address */
    _Atomic int64_t fp;    /* to the caller's frame pointer, or SAME_FP */
} places[PASS_OVER_MAX];

void pass_over_note(uint64_t pc) {
    for (unsigned i = 0; i < PASS_OVER_MAX; i++) {
        uint64_t other = 0;
        /* in a child of fork a page that is written to is copied, by a comparison in vain, too */
        if (atomic_load_explicit(&places[i].pc, memory_order_relaxed) == pc)
            return;
        if (atomic_compare_exchange_strong(&places[i].pc, &other, pc) || other == pc)
            return;
    }
}

static struct place *find(uint64_t pc) {
    for (unsigned i = 0; i < PASS_OVER_MAX; i++)
        if (atomic_load_explicit(&places[i].pc, memory_order_relaxed) == pc)
            return &places[i];
    return NULL;
}

/* Two threads that do it at the same time write the same. */
static void learn(struct place *place, uint64_t sp, const struct unwind_registers *caller,
                  const struct unwind_step *step) {
    if (step->ra_at == 0 || (step->flags & VARIABLE) != 0)
        return;
    atomic_store(&place->ra, step->ra_at - sp);
    atomic_store(&place->fp, step->fp_at == 0 ? SAME_FP : (int64_t)(step->fp_at - sp));
    atomic_store(&place->size, caller->reg[ARCH_SP] - sp);
}

/* False: it is not learned, or can't be read. */
static bool go_up(const struct unwind_env *env, const struct place *place,
                  struct unwind_registers *regs) {
    uint64_t sp = regs->reg[ARCH_SP], size = atomic_load(&place->size), ra, fp = regs->reg[ARCH_FP];
    int64_t fp_at = atomic_load(&place->fp);
    struct unwind_step unused;
    if (size == 0 || !unwind_read(env, sp + atomic_load(&place->ra), &ra) ||
        (fp_at != SAME_FP && !unwind_read(env, sp + (uint64_t)fp_at, &fp)))
        return false;
    regs->reg[ARCH_FP] = fp;
    return unwind_to_caller(regs, &unused, ra, sp + size) == UNWIND_STEPPED;
}

void pass_over(const struct unwind_env *env, struct unwind_registers *regs) {
    struct place *place = find(regs->pc);
    if (hcct_likely(place == NULL))
        return;
    if (go_up(env, place, regs))
        return;
    struct unwind_registers caller = *regs;
    struct unwind_module module = {0};
    struct unwind_step step;
    if (unwind_step(env, &module, &caller, &step) != UNWIND_STEPPED)
        return;
    learn(place, regs->reg[ARCH_SP], &caller, &step);
    *regs = caller;
}

/*
 * caller.c - three registers of a context.
 */
#include "preload/caller.h"

#include <stddef.h>

#if SLEEP_IS_WRAPPED

void caller_show(ucontext_t *uc, const struct caller *caller, struct caller *own) {
    greg_t *regs = uc->uc_mcontext.gregs;
    *own =
        (struct caller){(uint64_t)regs[REG_RIP], (uint64_t)regs[REG_RSP], (uint64_t)regs[REG_RBP]};
    if (caller == NULL || caller->pc == 0)
        return;
    regs[REG_RIP] = (greg_t)caller->pc;
    regs[REG_RSP] = (greg_t)caller->sp;
    regs[REG_RBP] = (greg_t)caller->frame;
}

#else

void caller_show(ucontext_t *uc, const struct caller *caller, struct caller *own) {
    (void)uc, (void)caller;
    *own = (struct caller){0, 0, 0};
}

#endif

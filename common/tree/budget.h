/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * budget.h - the memory that one tree may take, its nodes, children tables and summary together.
 */
#ifndef HCCT_BUDGET_H
#define HCCT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

struct budget {
    size_t used, max; /* bytes; max 0: no limit */
};

/* Whoever takes memory for a tree asks first. False: the cap is met, nothing was taken. */
static inline bool budget_take(struct budget *budget, size_t bytes) {
    if (budget->max != 0 && (budget->used >= budget->max || bytes > budget->max - budget->used))
        return false;
    budget->used += bytes;
    return true;
}

static inline void budget_give(struct budget *budget, size_t bytes) {
    budget->used -= bytes;
}

#endif

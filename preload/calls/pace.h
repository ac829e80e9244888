/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pace.h - how many calls a thread makes in a time of its own, shortly before a burst.
 *
 * Reports take up to fifteen times as long as what they report, and no two programs pay the same
 * for them: what is left of a burst's time when they are subtracted says little then. But
 * redirected calls pass by stubs that count them before the burst begins, which costs next to
 * nothing. At that pace the calls of the burst have taken so much of the program's own time. Phases
 * of a program that begin or end within a burst are met in both orders equally often.
 *
 * On the thread itself.
 */
#ifndef HCCT_CALLS_PACE_H
#define HCCT_CALLS_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
    uint64_t from_calls, from_ns; /* where it began to be taken */
    uint64_t calls, ns;           /* so many in so much time; 0 calls: not known */
    bool taken;                   /* it is being taken */
};

/* `calls`: passed so far; `ns`: of the program's own time. */
void pace_begin(struct pace *pace, uint64_t calls, uint64_t ns);
/* `stub_ps`: what passing one stub takes, in thousandths of a ns. */
void pace_end(struct pace *pace, uint64_t calls, uint64_t ns, uint64_t stub_ps);

/* What so many calls take at that pace. `priced`: what is left of `used` when reports are
 * subtracted at a price. The price bounds the answer: reports take half of it at least, and eight
 * times as much at most. */
uint64_t pace_ns(const struct pace *pace, uint64_t calls, uint64_t used, uint64_t priced);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * rate.h - how far apart samples of allocations are, so that they take a small part of the
 * program's CPU time.
 *
 * R, the mean number of bytes between two, is WIRE_BLOCKS_MEAN where the program allocates little.
 * It is doubled where samples took more than a fiftieth of the CPU time that the program had since
 * the last decision, and halved where they took less than half of that, within limits. What was not
 * spent is saved up to a limit, for phases that allocate much, of which the beginning is one.
 *
 * Whatever R follows from lies in the past when a point is drawn, so estimates stay unbiased.
 *
 * No lock: any thread, and its signal handlers, may call anything at any time.
 */
#ifndef HCCT_BLOCKS_RATE_H
#define HCCT_BLOCKS_RATE_H

#include <stdint.h>

/* R is doubled so many times at most for that: 512 KiB, or the RATE_ALL_PART-th part of all bytes
 * that were allocated up to then, 64 MiB at most. So what a program makes in a short phase, as many
 * begin with, and keeps, is seen; and one that allocates gigabytes in a second pays no more. */
#define RATE_DOUBLED_USUAL 5u
#define RATE_DOUBLED_MAX   12u
#define RATE_ALL_PART      512u

/* What happened since the last decision. */
struct rate_window {
    uint64_t own_ns;   /* CPU time of the program, less what samples took */
    uint64_t spent_ns; /* what samples took */
    uint64_t all;      /* bytes that were allocated up to now, more or less */
};

#define RATE_PART     50      /* of the CPU time: one part in so many may be spent */
#define RATE_SAVED_NS 2000000 /* of that, and of debt */

/* How many times R is to be doubled, which it was `doubled` times in that window; *saved_ns is what
 * was saved before it, and is brought up to date. A pure function. */
uint32_t rate_next(uint32_t doubled, const struct rate_window *window, int64_t *saved_ns);

/* R is doubled so many times. */
uint32_t rate_doubled(void);

/* So much was spent for `samples` samples, after some `bytes` more. */
void rate_spend(uint64_t spent_ns, uint32_t samples, uint64_t bytes);

/* A thread had so much CPU time, with what was spent in it. Decides, when there is enough to go by.
 */
void rate_note(uint64_t cpu_ns);

/* In a child of fork, which may end soon: until the daemon has tables for it each sample is a copy
 * of the stack, and only a few of these find room. So R is large, 512 KiB, up to a decision. */
void rate_in_child(void);

#endif

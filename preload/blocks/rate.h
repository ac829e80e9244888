/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * rate.h - how far apart samples of allocations are, so that they take a small part of the
 * program's CPU time.
 *
 * R, the mean number of bytes between two, is WIRE_BLOCKS_MEAN where the program allocates little.
 * Where samples took more than a fiftieth of the CPU time that the program had since the last
 * decision, places that allocate much have fewer (sites.h): each has a quota, which is halved.
 * Where that does not do, or where most of it was taken by points that no sample came of, R is
 * doubled for all places. Where it was less than half of that there is more again, within limits.
 * What was not spent is saved up to a limit, for phases that allocate much, of which the beginning
 * is one.
 *
 * Whatever R follows from lies in the past when a point is drawn, so estimates stay unbiased.
 *
 * No lock: any thread, and its signal handlers, may call anything at any time.
 */
#ifndef HCCT_BLOCKS_RATE_H
#define HCCT_BLOCKS_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* R is doubled so many times at most for that: 512 KiB, or the RATE_ALL_PART-th part of all bytes
 * that were allocated up to then, 64 MiB at most. So what a program makes in a short phase, as many
 * begin with, and keeps, is seen; and one that allocates gigabytes in a second pays no more. */
#define RATE_DOUBLED_USUAL 5u
#define RATE_DOUBLED_MAX   12u
#define RATE_ALL_PART      512u

/* What happened since the last decision. */
struct rate_window {
    uint64_t own_ns;     /* CPU time of the program, less what samples took */
    uint64_t samples_ns; /* what samples took ... */
    uint64_t stops_ns;   /* ... and stops of which none came */
    uint64_t most;       /* points of the place that had the most (sites_meet) */
    uint64_t all;        /* bytes that were allocated up to now, more or less */
};

#define RATE_PART     50      /* of the CPU time: one part in so many may be spent */
#define RATE_SAVED_NS 2000000 /* of that, and of debt */

/* A place may have 2^quota samples in an age and those before it, before its R is doubled: from 8,
 * so that none whose R has grown goes unseen, up to any number. */
#define RATE_QUOTA_LEAST 3u
#define RATE_QUOTA_NONE  48u

struct rate_level {
    uint32_t doubled; /* R, of all places */
    uint32_t quota;
    int64_t saved_ns;
};

/* The next level, after such a window. A pure function. */
struct rate_level rate_next(struct rate_level level, const struct rate_window *window);

/* R of a new place is doubled so many times. */
uint32_t rate_doubled(void);
/* R of a place that had so many points up to now (sites_meet). */
uint32_t rate_doubled_at(uint64_t points);

/* So much was spent at a stop, after some `bytes` more; for a sample, or for none. */
void rate_spend(uint64_t spent_ns, bool sampled, uint64_t bytes);

#define RATE_DEAR_NS 250000

/* As much was spent since the last decision as half of what was saved, or RATE_DEAR_NS: it is time
 * for the next one. */
bool rate_is_dear(void);

/* A thread had so much CPU time, with what was spent in it. Decides, when there is enough to go by.
 */
void rate_note(uint64_t cpu_ns);

/* In a child of fork, which may end soon: until the daemon has tables for it each sample is a copy
 * of the stack, and only a few of these find room. So R is large, 512 KiB, up to a decision. */
void rate_in_child(void);

#endif

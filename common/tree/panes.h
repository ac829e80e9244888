/*
 * panes.h - trees of the recent past: what is credited now goes into a small tree of its own, which
 * is closed ("sealed") after two seconds; a sealed one is also added to that of its minute. The
 * last 30 panes of two seconds and the last 60 of a minute are kept, and a window is the sum of
 * those that cover it (mcct_merge): its bounds are certain, as a tree's are.
 *
 *                              now
 *     |   minute   |   minute   |  fine panes: [58 60) [60 62) ... [116 118) [118 now)
 *
 * A pane without weight takes no memory. Where there is none for another tree, the oldest pane
 * goes: windows are shorter then, never wrong. Borders are multiples of a pane's width on one
 * clock, so that panes of several processes line up and can be added.
 *
 * Pure: time is given in, as nanoseconds of a clock that never goes back. One thread at a time,
 * but for panes_merge().
 */
#ifndef HCCT_PANES_H
#define HCCT_PANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/tree/mcct.h"

#define PANES_FINE_NS   2000000000u
#define PANES_FINE      31u /* the last 30, and the one that is credited now */
#define PANES_COARSE_NS 60000000000u
#define PANES_COARSE    61u /* the last 60, and the minute under way */
#define PANES_TREES     (PANES_FINE + PANES_COARSE)

/* The longest window for which fine panes are there, and the longest of all. */
#define PANES_SPAN_FINE_NS (60ull * 1000000000u)
#define PANES_SPAN_MAX_NS  (3600ull * 1000000000u)

/* Trees of panes in the whole program: each takes two mappings of memory, of which the kernel
 * allows a process 65,530. When there are half as many, each struct panes has to do with its share.
 */
#define PANES_TREES_MAX 16384u

struct panes;
struct pane;

struct panes_params {
    struct mcct_params tree; /* of the sum; max_bytes is also what all panes together may take (0:
                              * no limit), in equal parts */
    unsigned n_counts;       /* numbers that go with a pane, PANES_COUNTS_MAX at most */
};

#define PANES_COUNTS_MAX 64u

/* NULL: no memory. `now` is the time before which nothing was credited. */
struct panes *panes_new(const struct panes_params *params, uint64_t now);
void panes_free(struct panes *panes); /* NULL is allowed */

/* The tree to be credited now. It is sealed by panes_advance(), which closes all cursors in it.
 * NULL: there is no memory; what can't be credited is to be told to panes_miss(). */
struct mcct *panes_tree(struct panes *panes);

/* Something was not credited: windows begin after the pane of now. */
void panes_miss(struct panes *panes);

/* Adds n_counts numbers to those of the pane of now. False: no memory, and nothing was done. */
bool panes_count(struct panes *panes, const uint64_t *counts);

/* A border lies between the last panes_advance() and `now`: it is to be called. */
bool panes_due(const struct panes *panes, uint64_t now);

/* The pane of now has weight. */
bool panes_credited(const struct panes *panes);

/* It is `now`: seals the pane that is over, unless it has no weight, and forgets what is too old.
 */
void panes_advance(struct panes *panes, uint64_t now);

/* Nothing is kept. */
bool panes_empty(const struct panes *panes);

/* Moves all panes of `from` to `into`, whose parameters are the same. Both must have been advanced
 * to the same time, and `from` must have no open cursor. */
void panes_add(struct panes *into, struct panes *from);

/* Calls `visit` for each tree; a false return stops, and is returned. */
bool panes_each_tree(const struct panes *panes, bool (*visit)(void *arg, const struct mcct *tree),
                     void *arg);

/* Of all trees. */
size_t panes_bytes(const struct panes *panes);

/* ---- windows ---- */

struct panes_window {
    uint64_t span_ns; /* up to now: what was asked for, in whole panes, or since panes_new(), or as
                       * far back as there was memory */
    struct mcct *tree;
    struct pane *pane[PANES_COARSE]; /* to be added to the tree */
    unsigned n;
};

/* The window of the last span_ns (at most PANES_SPAN_MAX_NS) before `now`, to which the panes have
 * been advanced; adds the counts of its panes to `counts`. It stays what it is while the panes go
 * on. False: no memory. */
bool panes_take(struct panes *panes, uint64_t now, uint64_t span_ns, struct panes_window *window,
                uint64_t *counts);

/* The sum, for the caller to mcct_free(). Any thread, at any time after panes_take(), once. */
struct mcct *panes_merge(struct panes_window *window);

#endif

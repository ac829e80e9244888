/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * subwindows.h - trees of the recent past: what is credited now goes into a small tree of its own,
 * which is closed ("sealed") after two seconds; a sealed one is also added to that of its minute.
 * The last 30 sub-windows of two seconds and the last 60 of a minute are kept, and a window is the
 * sum of those that cover it (mcct_merge): its bounds are certain, as a tree's are.
 *
 *                              now
 *     |   minute   |   minute   |  fine sub-windows: [58 60) [60 62) ... [116 118) [118 now)
 *
 * A sub-window without weight takes no memory. Where there is none for another tree, the oldest
 * sub-window goes: windows are shorter then, never wrong. Borders are multiples of a sub-window's
 * width on one clock, so that sub-windows of several processes line up and can be added.
 *
 * Pure: time is given in, as nanoseconds of a clock that never goes back. One thread at a time, but
 * for subwindows_merge().
 */
#ifndef HCCT_SUBWINDOWS_H
#define HCCT_SUBWINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/tree/mcct.h"

#define SUBWINDOWS_FINE_NS   2000000000u
#define SUBWINDOWS_FINE      31u /* the last 30, and the one that is credited now */
#define SUBWINDOWS_COARSE_NS 60000000000u
#define SUBWINDOWS_COARSE    61u /* the last 60, and the minute under way */
#define SUBWINDOWS_TREES     (SUBWINDOWS_FINE + SUBWINDOWS_COARSE)

/* The longest window for which fine sub-windows are there, and the longest of all. */
#define SUBWINDOWS_SPAN_FINE_NS (60ull * 1000000000u)
#define SUBWINDOWS_SPAN_MAX_NS  (3600ull * 1000000000u)

/* Trees of sub-windows in the whole program: each takes two mappings of memory, of which the kernel
 * allows a process 65,530. When there are half as many, each struct subwindows has to do with its
 * share.
 */
#define SUBWINDOWS_TREES_MAX 16384u

struct subwindows;
struct subwindow;

struct subwindows_params {
    struct mcct_params tree; /* of the sum; max_bytes is also what all sub-windows together may take
                              * (0: no limit), in equal parts */
    unsigned n_counts;       /* numbers that go with a sub-window, SUBWINDOWS_COUNTS_MAX at most */
};

#define SUBWINDOWS_COUNTS_MAX 64u

/* NULL: no memory. `now` is the time before which nothing was credited. */
struct subwindows *subwindows_new(const struct subwindows_params *params, uint64_t now);
void subwindows_free(struct subwindows *subwindows); /* NULL is allowed */

/* The tree to be credited now. It is sealed by subwindows_advance(), which closes all cursors in
 * it. NULL: there is no memory; what can't be credited is reported to subwindows_miss(). */
struct mcct *subwindows_tree(struct subwindows *subwindows);

/* Something was not credited: windows begin after the current sub-window. */
void subwindows_miss(struct subwindows *subwindows);

/* Adds n_counts numbers to those of the current sub-window. False: no memory, and nothing was
 * done. */
bool subwindows_count(struct subwindows *subwindows, const uint64_t *counts);

/* A border lies between the last subwindows_advance() and `now`: it is to be called. */
bool subwindows_due(const struct subwindows *subwindows, uint64_t now);

/* The current sub-window has weight. */
bool subwindows_credited(const struct subwindows *subwindows);

/* It is `now`: seals the sub-window that is over, unless it has no weight, and forgets what is too
 * old.
 */
void subwindows_advance(struct subwindows *subwindows, uint64_t now);

/* Nothing is kept. */
bool subwindows_empty(const struct subwindows *subwindows);

/* Moves all sub-windows of `from` to `into`, whose parameters are the same. Both must have been
 * advanced to the same time, and `from` must have no open cursor. */
void subwindows_add(struct subwindows *into, struct subwindows *from);

/* Calls `visit` for each tree; a false return stops, and is returned. */
bool subwindows_each_tree(const struct subwindows *subwindows,
                          bool (*visit)(void *arg, const struct mcct *tree), void *arg);

/* Of all trees. */
size_t subwindows_bytes(const struct subwindows *subwindows);

/* A sub-window as a cell of a time line. */
struct subwindows_cell {
    uint64_t begin_ns, width_ns;
    uint64_t weight;
};

/* Calls `visit` for each sub-window that has weight, of both widths. */
void subwindows_each_cell(const struct subwindows *subwindows,
                          void (*visit)(void *arg, const struct subwindows_cell *cell), void *arg);

/* ---- windows ---- */

struct subwindows_span {
    uint64_t span_ns; /* what was asked for, in whole sub-windows, or since subwindows_new(), or as
                       * far back as there was memory */
    uint64_t end_ns;  /* it is the span before this; of a rest, all is before it */
    struct mcct *tree;
    struct subwindow *subwindow[SUBWINDOWS_TREES]; /* to be added to the tree */
    unsigned n;
};

/* A part of the past. */
struct subwindows_part {
    uint64_t from_ns, to_ns; /* all sub-windows that lie in it at least in part */
    bool rest;               /* all the others instead */
    uint64_t least_ns;       /* none that is over by then counts */
};

/* The last span_ns, at most SUBWINDOWS_SPAN_MAX_NS. */
static inline struct subwindows_part subwindows_last(uint64_t now, uint64_t span_ns) {
    return (struct subwindows_part){.from_ns = now > span_ns ? now - span_ns : 0,
                                    .to_ns = UINT64_MAX};
}

/* The window of a part of what lies before `now`, to which the sub-windows have been advanced; adds
 * the counts of its sub-windows to `counts`. It stays what it is while the sub-windows go on. A
 * part of the last SUBWINDOWS_SPAN_FINE_NS is made of sub-windows of two seconds. One that begins
 * before is made of those of a minute, and after the last minute border for which all are there, of
 * two seconds. A part and its rest have no sub-window in common, and are all that is kept, but for
 * the beginning of the minute that the sub-windows of two seconds begin in, which may be in
 * neither. False: no memory. */
bool subwindows_take(struct subwindows *subwindows, uint64_t now,
                     const struct subwindows_part *part, struct subwindows_span *window,
                     uint64_t *counts);

/* The sum, for the caller to mcct_free(). Any thread, at any time after subwindows_take(), once. */
struct mcct *subwindows_merge(struct subwindows_span *window);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * contest.h - trees that take turns over one stream, and the table of how fast each was.
 *
 * The article's tree (article_tree.h) and ours, with the same epsilon, replay the stream one after
 * the other, several rounds; of each the fastest round counts, as what disturbs a round only makes
 * it slower. So the ratios are of one run and of the same minutes.
 */
#ifndef HCCT_BENCH_CONTEST_H
#define HCCT_BENCH_CONTEST_H

#include <stddef.h>
#include <stdint.h>

#include "common/tree/mcct.h"
#include "common/tree/summary.h"
#include "tests/bench/article_tree.h"

struct contest {
    const void *stream;
    uint64_t events; /* calls and returns */
    unsigned rounds; /* at least 1 */
    /* Replays the whole stream into the empty tree. Gives the CPU seconds that took. */
    double (*replay)(const void *stream, struct mcct *tree);
    double (*replay_article)(const void *stream, struct article_tree *tree); /* NULL: it cannot */
};

/* CPU seconds of this process so far. */
double contest_seconds(void);

/* Measures the article's tree and one of ours for each of the n kinds, and prints a line for each:
 * million events a second, sizes, and of ours how many times as fast as the article's it is.
 * epsilon: 0 for the exact trees, to which kinds must fit. */
void contest_hold(const struct contest *contest, const struct summary_kind *const *kinds, size_t n,
                  double epsilon);

#endif

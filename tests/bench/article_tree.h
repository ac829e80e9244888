/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * article_tree.h - the tree as the article has it, for the benchmarks to compare with.
 *
 * D'Elia, Demetrescu, Finocchi: Mining hot calling contexts in small space (2015): the exact
 * calling context tree, and the monitored one with lazy Space Saving (sections 3.3, 4.1, 4.2,
 * Algorithms 1 and 2). Each call weighs 1. There is one stack, and every context is credited as it
 * is entered, as in the article; so a tree is for the calls and returns of one thread.
 *
 * For one thread at a time. Counters have 32 bits: a stream has fewer than 2^32 calls. When there
 * is no memory in the middle of a stream, the process is aborted.
 */
#ifndef HCCT_BENCH_ARTICLE_TREE_H
#define HCCT_BENCH_ARTICLE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct article_tree;

struct article_stats {
    uint64_t nodes;     /* its root included */
    uint64_t monitored; /* |M|; of an exact tree all nodes but the root */
    uint64_t bytes;     /* pages of nodes, M, the stack */
};

/* epsilon: below 1; M has 1 / epsilon entries. 0: the exact tree. NULL: no memory. */
struct article_tree *article_new(double epsilon);
void article_free(struct article_tree *tree); /* NULL is allowed */

/* A call: of that routine from that call site. */
void article_enter(struct article_tree *tree, uintptr_t routine, uintptr_t site);
/* n returns, at most as many as there are calls that have not returned. */
void article_leave(struct article_tree *tree, uint32_t n);

void article_stats(const struct article_tree *tree, struct article_stats *stats);

/* Whether the tree has a node for the context of these frames, the outermost first, each routine
 * and site in one; *count: 0 when it is not monitored. */
bool article_find(const struct article_tree *tree, const uint32_t *frames, size_t n,
                  uint32_t *count);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sticky_sampling.c - Sticky Sampling with weights.
 *
 * Manku, Motwani: Approximate frequency counts over data streams (VLDB 2002), section 4.1. Each
 * unit of weight of a context that is not monitored is sampled with probability 1/r; one that is
 * makes it monitored, and from then on all its weight is counted. With L = ln(1 / (phi * delta)),
 * t = L / epsilon, r is 1 for the first 2t of all weight, 2 for the next 2t, 4 for the next 4t ...
 *
 * Per entry: f, the weight since it was sampled, is certain not to be too large. The paper gives f
 * and stops there; here count = f + error, where error = r * L, or 0 while r = 1, bounds what it
 * weighed before; and `unseen` is that error, for all others. So, with N all weight so far, and no
 * memory cap met:
 *   - count - error <= true: certain;
 *   - true <= count, or true <= unseen when not monitored: at any one time, for any one context,
 *     with probability at least 1 - phi * delta: to miss more than r * L units in a row has
 *     probability (1 - 1/r)^(r L) < e^-L. So for all contexts of weight phi N and more, of which
 *     there are at most 1/phi, together with probability at least 1 - delta. delta is 1e-4. The
 *     stream must not depend on the coin, which `seed` determines;
 *   - unseen <= epsilon N + 1, and so is each error;
 *   - as many contexts are monitored as units have been sampled, at most: N/r <= 2t expected, which
 *     is (2 / epsilon) L whatever N. Not `bounded`.
 *
 * Departures from the paper:
 *   - weights: a weight of w is w units in a row. How many units are left until the next is sampled
 *     is drawn at once, a geometric number, so that a credit costs the same whatever its weight;
 *   - when r doubles, the sampled unit of an entry stays so with probability 1/2, and if it does
 *     not, each following one with probability 1/r, as in Gibbons and Matias: New sampling-based
 *     summary statistics (SIGMOD 1998), so that all is as if r had been in force from the start.
 *     The paper tosses a fair coin for these too, which takes about one unit from each entry: of
 *     weights of a thousand nanoseconds hardly an entry would ever go;
 *   - r doubles at the first credit past its time that goes to a context that is not monitored;
 *   - at the memory cap r doubles before its time; where that does not make room, the least counts
 *     go, and `unseen` is then the largest of them and r * L more. The second line stays true, as
 *     what is missed before and after an eviction is two draws, with 2 phi * delta;
 *   - a merge credits what the other side has counted, f, as one more stream. `unseen` begins at
 *     the sum of both, and may be up to 2 epsilon N later; each merge adds phi * delta to the
 *     probability that a bound does not hold, as one more draw is in it.
 */
#include "common/tree/summary.h"

#include <stdlib.h>

#include "common/tree/counters.h"
#include "common/tree/node_list.h"

#define DELTA       1e-4
#define PHI_EPSILON 5.0 /* phi / epsilon, where phi is not given */
#define PHI_MIN     1e-9
#define RATE_MAX    (UINT64_C(1) << 56) /* so that r * L stays a 64-bit number */

struct sticky_sampling {
    struct counters counters;
    struct node_list list;
    double log;      /* L */
    uint64_t rate;   /* r, a power of two */
    uint64_t end;    /* r doubles when N is beyond */
    uint64_t skip;   /* units until one is sampled, that one included */
    uint64_t random; /* state of the coin */
};

/* ---- the coin ---- */

/* splitmix64: Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014) */
static uint64_t random_bits(struct sticky_sampling *s) {
    uint64_t z = s->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Tosses until one of probability 1/r succeeds, that one included. The bits of the number of
 * failures are independent of each other: with q = 1 - 1/r, bit i is set with the odds
 * q^(2^i) : 1. `miss` is 1 - q^(2^i), which is exact where q would be rounded to 1. */
static uint64_t draw(struct sticky_sampling *s) {
    uint64_t failures = 0;
    double miss = 1.0 / (double)s->rate;
    for (uint64_t bit = 1; miss < 1.0 && bit != 0; bit <<= 1, miss *= 2.0 - miss) {
        double toss = (double)(random_bits(s) >> 11) * 0x1p-53;
        if (toss * (2.0 - miss) < 1.0 - miss)
            failures |= bit;
    }
    return failures + 1;
}

/* ---- the rate ---- */

/* ln x for x >= 1, by its series; so that whoever links the tree need not link libm. */
static double natural_logarithm(double x) {
    double sum = 0;
    for (; x > 1.5; x /= 1.5)
        sum += 0.405465108108164382; /* ln 1.5 */
    double z = (x - 1) / (x + 1), power = z;
    for (int i = 1; i < 40; i += 2, power *= z * z)
        sum += 2 * power / i;
    return sum;
}

/* Units that are hardly ever missed in a row. */
static uint64_t missed(const struct sticky_sampling *s) {
    return s->rate == 1 ? 0 : (uint64_t)((double)s->rate * s->log) + 1;
}

static void set_end(struct sticky_sampling *s) {
    double end = 2 * (double)s->rate * s->log * s->counters.tree->capacity;
    s->end = s->rate < RATE_MAX && end < 0x1p63 ? (uint64_t)end : UINT64_MAX;
}

/* What is left of f after r has doubled; 0: nothing. */
static uint64_t diminished(struct sticky_sampling *s, uint64_t f) {
    if (random_bits(s) & 1)
        return f;
    uint64_t lost = draw(s);
    return lost < f ? f - lost : 0;
}

/* The entry at place i, whose error grows by so much. False: it is gone, another is there now. */
static bool diminish(struct sticky_sampling *s, uint32_t i, uint64_t more) {
    struct mcct *tree = s->counters.tree;
    uint32_t node = s->list.node[i];
    const struct mcct_node *n = node_at(&tree->pool, node);
    uint64_t f = diminished(s, n->count - n->error);
    if (f > 0) {
        uint64_t error = add_saturating(n->error, more);
        tree_refuse(tree, node, n->count - n->error - f);
        tree_monitor(tree, node, add_saturating(f, error), error);
        return true;
    }
    s->list.node[i] = s->list.node[--s->list.n];
    s->counters.monitored--;
    tree_forget(tree, node); /* `unseen` covers it: it has grown as the entry's error would have */
    return false;
}

static void double_rate(struct sticky_sampling *s) {
    uint64_t before = missed(s);
    s->rate *= 2;
    uint64_t more = missed(s) - before;
    s->counters.unseen = add_saturating(s->counters.unseen, more);
    for (uint32_t i = 0; i < s->list.n;)
        i += diminish(s, i, more);
    s->skip = draw(s);
    set_end(s);
}

/* ---- the summary ---- */

static void destroy(void *summary) {
    struct sticky_sampling *s = summary;
    node_list_free(&s->list);
    free(s);
}

static void *create(struct mcct *tree, const struct mcct_params *params) {
    struct sticky_sampling *s = counters_new(tree, sizeof *s);
    if (s == NULL)
        return NULL;
    double phi = params->phi > 0 ? params->phi : PHI_EPSILON / tree->capacity;
    phi = phi > PHI_MIN ? phi : PHI_MIN;
    s->log = natural_logarithm(1 / ((phi < 1 ? phi : 1) * DELTA));
    s->rate = 1;
    s->random = params->seed;
    s->skip = draw(s);
    set_end(s);
    if (!node_list_reserve(&s->list, tree)) {
        destroy(s);
        return NULL;
    }
    return s;
}

static void forget_least(struct sticky_sampling *s, uint32_t keep) {
    uint64_t largest = s->counters.unseen;
    node_list_split(&s->list, s->counters.tree, keep);
    while (s->list.n > keep) {
        uint32_t node = s->list.node[--s->list.n];
        uint64_t count = tree_count(s->counters.tree, node);
        uint64_t later = add_saturating(count, missed(s)); /* before a unit is sampled again */
        largest = later > largest ? later : largest;
        tree_forget(s->counters.tree, node);
        s->counters.monitored--;
    }
    counters_raise(s, largest);
}

static bool shrink(void *summary) {
    struct sticky_sampling *s = summary;
    uint32_t keep = counters_keep(&s->counters);
    if (keep == s->list.n)
        return false;
    if (s->rate < RATE_MAX)
        double_rate(s);
    if (s->list.n > keep)
        forget_least(s, keep);
    return true;
}

/* Weight for a node that is not monitored. `error`: how much more there may have been. */
static bool adopt(void *summary, uint32_t node, uint64_t count, uint64_t error) {
    struct sticky_sampling *s = summary;
    uint64_t weight = count - error;
    if (!node_list_reserve(&s->list, s->counters.tree)) /* before the coin: no toss is taken back */
        return false;
    if (weight < s->skip) {
        s->skip -= weight;
        return true;
    }
    uint64_t f = weight - s->skip + 1;
    counters_monitor(&s->counters, node, add_saturating(f, error), error);
    s->list.node[s->list.n++] = node;
    s->skip = draw(s);
    return true;
}

static void trim(void *summary) {
    struct sticky_sampling *s = summary;
    while (s->counters.tree->total > s->end)
        double_rate(s);
}

static void update(void *summary, uint32_t node, uint64_t weight) {
    trim(summary);
    while (!adopt(summary, node, weight, 0))
        shrink(summary); /* the list is full, which is more than shrink() leaves alone */
}

const struct summary_kind summary_sticky_sampling = {
    .name = "sticky-sampling",
    .help = "a random sample that sticks; its errors are probable only, epsilon of the total",
    .create = create,
    .destroy = destroy,
    .update = update,
    .unseen = counters_unseen,
    .monitored = counters_monitored,
    .shrink = shrink,
    .raise = counters_raise,
    .adopt = adopt,
    .trim = trim,
};

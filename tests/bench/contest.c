/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * contest.c - see contest.h.
 */
#include "tests/bench/contest.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct contestant {
    const struct summary_kind *kind; /* NULL: the article's tree */
    double seconds;                  /* of the fastest round; 0: none yet */
    uint64_t nodes, monitored, bytes;
};

double contest_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double run_article(const struct contest *contest, double epsilon, struct contestant *c) {
    struct article_stats stats;
    struct article_tree *tree = article_new(epsilon);
    if (tree == NULL)
        abort();
    double seconds = contest->replay_article(contest->stream, tree);
    article_stats(tree, &stats);
    c->nodes = stats.nodes;
    c->monitored = stats.monitored;
    c->bytes = stats.bytes;
    article_free(tree);
    malloc_trim(0); /* each tree asks the kernel for its memory anew, as ours do */
    return seconds;
}

static double run_ours(const struct contest *contest, double epsilon, struct contestant *c) {
    struct mcct_stats stats;
    struct mcct_params params = {.summary = c->kind,
                                 .epsilon = epsilon != 0 ? epsilon : 0.5,
                                 .phi = epsilon != 0 ? 5 * epsilon : 0};
    struct mcct *tree = mcct_new(&params);
    if (tree == NULL)
        abort();
    double seconds = contest->replay(contest->stream, tree);
    mcct_stats(tree, &stats);
    c->nodes = stats.nodes;
    c->monitored = stats.monitored;
    c->bytes = stats.bytes;
    mcct_free(tree);
    return seconds;
}

static void run(const struct contest *contest, double epsilon, struct contestant *c) {
    double seconds =
        c->kind == NULL ? run_article(contest, epsilon, c) : run_ours(contest, epsilon, c);
    if (c->seconds == 0 || seconds < c->seconds)
        c->seconds = seconds;
}

/* first: the article's, NULL when it took no part. */
static void print(const struct contest *contest, double epsilon, const struct contestant *c,
                  const struct contestant *first) {
    char name[64], size[16] = "";
    if (epsilon != 0)
        snprintf(size, sizeof size, " %g", epsilon);
    snprintf(name, sizeof name, "%s%s",
             c->kind != NULL ? c->kind->name
             : epsilon != 0  ? "article, space saving"
                             : "article, exact",
             size);
    printf("  %-28s %7.1f M/s %10llu nodes %9llu monitored %6.1f bytes/node", name,
           (double)contest->events / c->seconds * 1e-6, (unsigned long long)c->nodes,
           (unsigned long long)c->monitored, (double)c->bytes / (double)c->nodes);
    if (c->kind != NULL && first != NULL)
        printf(" %5.2fx", first->seconds / c->seconds);
    printf("\n");
    fflush(stdout);
}

void contest_hold(const struct contest *contest, const struct summary_kind *const *kinds, size_t n,
                  double epsilon) {
    struct contestant *all = calloc(n + 1, sizeof *all);
    if (all == NULL)
        abort();
    for (size_t i = 0; i < n; i++)
        all[i + 1].kind = kinds[i];
    size_t first = contest->replay_article != NULL ? 0 : 1;
    for (unsigned round = 0; round < contest->rounds; round++)
        for (size_t i = first; i <= n; i++)
            run(contest, epsilon, &all[i]);
    for (size_t i = first; i <= n; i++)
        print(contest, epsilon, &all[i], first == 0 ? &all[0] : NULL);
    free(all);
}

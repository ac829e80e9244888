/*
 * exact.c - every context that ever had weight is monitored: the whole calling context tree, and
 * the oracle of the other summaries.
 *
 * Errors are 0 unless a merge had to leave contexts out for want of memory.
 */
#include "daemon/tree/summary.h"

#include <stdlib.h>

#include "daemon/tree/tree.h"

struct exact {
    struct mcct *tree;
    uint64_t unseen;
    uint32_t monitored;
};

static void *create(struct mcct *tree, uint32_t capacity) {
    (void)capacity;
    struct exact *exact = calloc(1, sizeof *exact);
    if (exact == NULL || !budget_take(&tree->budget, sizeof *exact)) {
        free(exact);
        return NULL;
    }
    exact->tree = tree;
    return exact;
}

static void update(void *summary, uint32_t node, uint64_t weight) {
    struct exact *exact = summary;
    tree_monitor(exact->tree, node, add_saturating(exact->unseen, weight), exact->unseen);
    exact->monitored++;
}

static uint64_t unseen(const void *summary) {
    return ((const struct exact *)summary)->unseen;
}

static uint32_t monitored(const void *summary) {
    return ((const struct exact *)summary)->monitored;
}

static void raise_unseen(void *summary, uint64_t bound) {
    struct exact *exact = summary;
    if (bound > exact->unseen)
        exact->unseen = bound;
}

static bool adopt(void *summary, uint32_t node, uint64_t count, uint64_t error) {
    struct exact *exact = summary;
    tree_monitor(exact->tree, node, add_saturating(count, exact->unseen),
                 add_saturating(error, exact->unseen));
    exact->monitored++;
    return true;
}

static void trim(void *summary) {
    (void)summary; /* all stay */
}

const struct summary_kind summary_exact = {
    .name = "exact",
    .help = "every context, in memory that grows with the run",
    .create = create,
    .destroy = free,
    .update = update,
    .unseen = unseen,
    .monitored = monitored,
    .raise = raise_unseen,
    .adopt = adopt,
    .trim = trim,
};

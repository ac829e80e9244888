/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * article_tree.c - first child, next sibling, a page-based allocator, and M as an unordered array.
 *
 * Nodes are linked by pointers. A node names its routine and its call site by address; siblings are
 * a plain list to whose front new ones go. A stack of nodes makes a return a subtraction. As there
 * is a counter only in monitored nodes, 0 says that a node is not, which is the article's flag
 * without bytes of its own: nodes of the exact tree, which need no parent, take 40 bytes, those of
 * the monitored one 48. M ends in a sentinel whose counter is `min`, so that the scan for it needs
 * no second comparison.
 */
#include "tests/bench/article_tree.h"

#include <stdlib.h>

#define PAGE_NODES 1024u
#define STACK_ROOM 1024u

struct cct_node {
    uintptr_t routine, site;
    struct cct_node *first_child, *next_sibling;
    uint32_t counter; /* 0: not monitored */
};

struct mcct_node {
    struct cct_node cct;
    struct cct_node *parent;
};

struct page {
    struct page *next;
    max_align_t nodes[];
};

struct article_tree {
    struct cct_node **stack, *root;
    size_t depth, room;
    bool exact;
    /* the queue */
    struct cct_node **m;
    uint32_t capacity, monitored, min, min_index;
    struct mcct_node sentinel;
    /* the pool */
    struct page *pages;
    struct cct_node *freed; /* through next_sibling */
    char *fresh;
    size_t node_size, fresh_nodes;
    uint64_t n_pages, nodes;
};

static struct cct_node **parent_of(struct cct_node *node) {
    return &((struct mcct_node *)node)->parent;
}

/* ---- the pool ---- */

static void add_page(struct article_tree *tree) {
    struct page *page = malloc(sizeof *page + PAGE_NODES * tree->node_size);
    if (page == NULL)
        abort();
    page->next = tree->pages;
    tree->pages = page;
    tree->n_pages++;
    tree->fresh = (char *)page->nodes;
    tree->fresh_nodes = PAGE_NODES;
}

static struct cct_node *take_node(struct article_tree *tree) {
    struct cct_node *node = tree->freed;
    tree->nodes++;
    if (node != NULL) {
        tree->freed = node->next_sibling;
        return node;
    }
    if (tree->fresh_nodes == 0)
        add_page(tree);
    node = (struct cct_node *)tree->fresh;
    tree->fresh += tree->node_size;
    tree->fresh_nodes--;
    return node;
}

static void give_node(struct article_tree *tree, struct cct_node *node) {
    node->next_sibling = tree->freed;
    tree->freed = node;
    tree->nodes--;
}

/* ---- life of a tree ---- */

static bool make_queue(struct article_tree *tree, double epsilon) {
    tree->capacity = (uint32_t)(1.0 / epsilon + 0.5);
    tree->m = malloc((tree->capacity + 1) * sizeof(struct cct_node *));
    if (tree->m == NULL)
        return false;
    tree->m[tree->capacity] = &tree->sentinel.cct;
    return true;
}

struct article_tree *article_new(double epsilon) {
    struct article_tree *tree = calloc(1, sizeof *tree);
    if (tree == NULL)
        return NULL;
    tree->exact = epsilon == 0;
    tree->node_size = tree->exact ? sizeof(struct cct_node) : sizeof(struct mcct_node);
    tree->room = STACK_ROOM;
    tree->stack = malloc(tree->room * sizeof(struct cct_node *));
    if (tree->stack == NULL || (!tree->exact && !make_queue(tree, epsilon))) {
        article_free(tree);
        return NULL;
    }
    tree->root = tree->stack[0] = take_node(tree);
    *tree->root = (struct cct_node){.counter = 1}; /* it is never pruned */
    return tree;
}

void article_free(struct article_tree *tree) {
    if (tree == NULL)
        return;
    while (tree->pages != NULL) {
        struct page *page = tree->pages;
        tree->pages = page->next;
        free(page);
    }
    free(tree->m);
    free(tree->stack);
    free(tree);
}

/* ---- lazy Space Saving ---- */

/* Algorithm 2: `min` and `min_index` may be out of date, as counters have grown since. */
static void find_min(struct article_tree *tree) {
    struct cct_node *const *m = tree->m;
    uint32_t min = tree->min, at = tree->min_index;
    while (m[at]->counter != min)
        at++;
    if (at == tree->capacity) {
        min = m[0]->counter;
        at = 0;
        for (uint32_t i = 1; i < tree->capacity; i++) {
            if (m[i]->counter < min) {
                min = m[i]->counter;
                at = i;
            }
        }
        tree->min = tree->sentinel.cct.counter = min;
    }
    tree->min_index = at;
}

static void unlink_node(struct cct_node *parent, const struct cct_node *node) {
    struct cct_node **link = &parent->first_child;
    while (*link != node)
        link = &(*link)->next_sibling;
    *link = node->next_sibling;
}

/* Algorithm 1. The current context is monitored, so that it stays, and its ancestors with it. */
static void prune(struct article_tree *tree, struct cct_node *node) {
    while (node->first_child == NULL && node->counter == 0) {
        struct cct_node *parent = *parent_of(node);
        unlink_node(parent, node);
        give_node(tree, node);
        node = parent;
    }
}

/* A node that is not monitored gains its first call. */
static void monitor(struct article_tree *tree, struct cct_node *node) {
    if (tree->exact || tree->monitored < tree->capacity) {
        node->counter = 1;
        if (!tree->exact)
            tree->m[tree->monitored] = node;
        tree->monitored++;
        return;
    }
    find_min(tree);
    struct cct_node *victim = tree->m[tree->min_index];
    tree->m[tree->min_index] = node;
    node->counter = tree->min + 1;
    victim->counter = 0;
    prune(tree, victim);
}

/* ---- the cursor ---- */

static struct cct_node *add_child(struct article_tree *tree, struct cct_node *parent,
                                  uintptr_t routine, uintptr_t site) {
    struct cct_node *node = take_node(tree);
    node->routine = routine;
    node->site = site;
    node->first_child = NULL;
    node->next_sibling = parent->first_child;
    node->counter = 0;
    if (!tree->exact)
        *parent_of(node) = parent;
    parent->first_child = node;
    return node;
}

static struct cct_node *find_child(const struct cct_node *parent, uintptr_t routine,
                                   uintptr_t site) {
    struct cct_node *node = parent->first_child;
    while (node != NULL && (node->routine != routine || node->site != site))
        node = node->next_sibling;
    return node;
}

static void deepen(struct article_tree *tree) {
    tree->room *= 2;
    struct cct_node **grown = realloc(tree->stack, tree->room * sizeof(struct cct_node *));
    if (grown == NULL)
        abort();
    tree->stack = grown;
}

void article_enter(struct article_tree *tree, uintptr_t routine, uintptr_t site) {
    struct cct_node *parent = tree->stack[tree->depth];
    struct cct_node *node = find_child(parent, routine, site);
    if (node == NULL)
        node = add_child(tree, parent, routine, site);
    if (++tree->depth == tree->room)
        deepen(tree);
    tree->stack[tree->depth] = node;
    if (node->counter != 0)
        node->counter++;
    else
        monitor(tree, node);
}

void article_leave(struct article_tree *tree, uint32_t n) {
    tree->depth -= n;
}

/* ---- what is in it ---- */

void article_stats(const struct article_tree *tree, struct article_stats *stats) {
    *stats = (struct article_stats){
        .nodes = tree->nodes,
        .monitored = tree->monitored,
        .bytes = tree->n_pages * (sizeof(struct page) + PAGE_NODES * tree->node_size) +
                 tree->room * sizeof *tree->stack + sizeof *tree,
    };
    if (tree->m != NULL)
        stats->bytes += (tree->capacity + 1) * sizeof *tree->m;
}

bool article_find(const struct article_tree *tree, const uint32_t *frames, size_t n,
                  uint32_t *count) {
    const struct cct_node *node = tree->root;
    for (size_t i = 0; i < n && node != NULL; i++)
        node = find_child(node, frames[i], frames[i]);
    *count = node != NULL ? node->counter : 0;
    return node != NULL;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_choose.c - candidates in order of weight; the order in which a tree is printed decides
 * between equal ones, which puts callers before their callees.
 */
#include "common/render/text_choose.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

#define JOINED_LOSS 10 /* a row loses less than this part of its weight on the way */

struct candidates {
    struct choice *choice;
    uint32_t *stack;
    uint32_t depth, room;
};

static bool is_candidate(const struct choice *choice, uint32_t node) {
    uint64_t weight = choice->view->inclusive[node];
    return weight > 0 && weight >= choice->floor &&
           !profile_is_pruned(choice->profile, choice->profile->nodes[node].location);
}

/* The candidates below a node go onto the stack, the heaviest uppermost. */
static void push_below(struct candidates *c, uint32_t node) {
    const struct tree_view *view = c->choice->view;
    for (uint32_t i = view->first[node + 1]; i > view->first[node]; i--) {
        uint32_t child = view->child[i - 1];
        if (!is_candidate(c->choice, child))
            continue;
        c->stack = memory_grow(c->stack, c->depth, &c->room, sizeof *c->stack, "a report");
        c->stack[c->depth++] = child;
    }
}

/* Appends the candidates of a tree, as they would be printed; rank is that position for now. */
static void list_tree(struct candidates *c, uint32_t root) {
    struct choice *choice = c->choice;
    push_below(c, root);
    while (c->depth > 0) {
        uint32_t node = c->stack[--c->depth];
        choice->rank[node] = choice->n;
        choice->order[choice->n++] = node;
        push_below(c, node);
    }
}

static int compare(const void *a, const void *b, void *arg) {
    const struct choice *choice = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    uint64_t x = choice->view->inclusive[i], y = choice->view->inclusive[k];
    if (x != y)
        return x > y ? -1 : 1;
    return choice->rank[i] < choice->rank[k] ? -1 : choice->rank[i] > choice->rank[k];
}

void choose_make(struct choice *choice, const struct profile *profile, const struct tree_view *view,
                 const uint32_t *roots, uint32_t n_roots, uint64_t floor) {
    struct candidates candidates = {.choice = choice};
    *choice = (struct choice){.profile = profile, .view = view, .floor = floor};
    choice->order = memory_new(profile->n_nodes, sizeof *choice->order, "a report");
    choice->rank = memory_new(profile->n_nodes, sizeof *choice->rank, "a report");
    memset(choice->rank, 0xff, profile->n_nodes * sizeof *choice->rank);
    for (uint32_t i = 0; i < n_roots; i++)
        list_tree(&candidates, roots[i]);
    free(candidates.stack);
    qsort_r(choice->order, choice->n, sizeof *choice->order, compare, choice);
    for (uint32_t i = 0; i < choice->n; i++)
        choice->rank[choice->order[i]] = i;
    choose_set(choice, 0, 0);
}

void choose_free(struct choice *choice) {
    free(choice->order);
    free(choice->rank);
}

void choose_set(struct choice *choice, uint32_t n, uint64_t min_noise) {
    choice->chosen = n;
    choice->least = choice->floor;
    if (n > 0 && n < choice->n)
        choice->least = choice->view->inclusive[choice->order[n - 1]];
    choice->noise = choice->least > min_noise ? choice->least : min_noise;
}

bool choose_has(const struct choice *choice, uint32_t node) {
    return choice->rank[node] < choice->chosen;
}

struct callees choose_callees(const struct choice *choice, uint32_t node) {
    const struct tree_view *view = choice->view;
    const struct profile *profile = choice->profile;
    struct callees callees = {0};

    for (uint32_t i = view->first[node]; i < view->first[node + 1]; i++) {
        uint32_t child = view->child[i];
        bool pruned = profile_is_pruned(profile, profile->nodes[child].location);
        if (callees.first == 0 && !pruned)
            callees.first = child;
        if (choose_has(choice, child)) {
            callees.chosen++;
            continue;
        }
        callees.hidden += view->inclusive[child];
        callees.hidden_is_pruned |= pruned;
        callees.n_hidden += !pruned && view->inclusive[child] > 0;
    }
    return callees;
}

uint32_t choose_joined(const struct choice *choice, uint32_t node, uint64_t weight) {
    struct callees callees = choose_callees(choice, node);
    uint64_t lost;
    if (callees.chosen > 1 || callees.first == 0)
        return 0;
    lost = weight - choice->view->inclusive[callees.first];
    return lost == 0 || (lost < choice->noise && lost < weight / JOINED_LOSS) ? callees.first : 0;
}

uint32_t choose_row_end(const struct choice *choice, uint32_t node) {
    uint64_t weight = choice->view->inclusive[node];
    uint32_t next;
    while ((next = choose_joined(choice, node, weight)) != 0)
        node = next;
    return node;
}

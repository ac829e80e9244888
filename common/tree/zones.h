/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * zones.h - a partition of a calling context tree into at most ZONES_MAX connected parts.
 *
 * A zone is named by a context, and contains all contexts below that one, except what is in
 * another zone: a context is in the zone of its nearest caller that names one. Zone 0 is the
 * root's and always exists, so that each context is in exactly one zone.
 *
 * zones_choose() makes new zones where a sample of contexts has much of its weight: going from the
 * callees to their callers, a context names a zone as soon as what is below it, and in no zone yet,
 * weighs one part in ZONES_CUT of the sample. So fewer than ZONES_CUT are made, and of what is
 * below any context less than one part in ZONES_CUT of the sample is in the zone of that context,
 * unless it names one.
 *
 * The contexts between the root and those that name zones are nodes here, found by the hash of
 * (caller, frame). Everything else is described by its zone alone, and zones_below() costs one
 * comparison for it.
 *
 * Not thread-safe. Memory is taken from the tree's budget.
 */
#ifndef HCCT_ZONES_H
#define HCCT_ZONES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/tree/budget.h"

#define ZONES_MAX  64u
#define ZONES_CUT  (ZONES_MAX / 2)
#define ZONES_ROOT 0u

struct zone_node {
    uint32_t parent, frame; /* parent: index of a node; the root's is itself */
    uint8_t zone;           /* its own, or that of its nearest caller that has one */
    bool named;             /* it names that zone */
    bool inner;             /* some of its callees are nodes, too */
};

struct zones {
    struct budget *budget;
    uint64_t factor; /* of the hash: odd and random */
    struct zone_node *node;
    uint32_t *slot;           /* nodes by (parent, frame); 0: free */
    uint32_t n, room;         /* of `node`, whose [0] is no node; slots are twice as many */
    uint32_t at[ZONES_MAX];   /* the node that names it; 0: no zone has that number */
    double weight[ZONES_MAX]; /* what samples had in it, for what they stood for */
};

/* What there is to know of a context to find the zones of what it calls: the zone of its callees,
 * plus ZONES_MAX times its node, or 0 where none of its callees is a node. */
typedef uint32_t zone_place;

#define ZONES_NODE_ROOT 1u /* the index of the root's node; 0 is none */

/* A tree of contexts, callers before callees; the weight of each is what its callees weigh (not
 * what is below them). [0] is the root of the tree, its own parent. */
struct zone_sample {
    const uint32_t *parent, *frame;
    uint64_t *weight; /* overwritten */
    uint32_t n;
    double stands_for; /* weight that went to the tree since the last sample */
};

void zones_init(struct zones *zones, struct budget *budget, uint64_t factor);
void zones_free(struct zones *zones);

/* Makes new zones. If there may not be enough numbers for them, the zones with the least weight are
 * dissolved first, and become part of the zones around them: whoever has numbers of zones replaces
 * each `zone` by became[zone]. False: that is not needed. Where there is no memory, no zone is
 * made.
 */
bool zones_choose(struct zones *zones, const struct zone_sample *sample, uint8_t became[ZONES_MAX]);

/* The zone that surrounds this one; ZONES_ROOT for itself. */
static inline uint8_t zones_around(const struct zones *zones, uint8_t zone) {
    return zone == ZONES_ROOT ? ZONES_ROOT : zones->node[zones->node[zones->at[zone]].parent].zone;
}

static inline uint8_t zone_of(zone_place place) {
    return place % ZONES_MAX;
}

/* The node of what that node calls, 0: there is none. */
uint32_t zones_node(const struct zones *zones, uint32_t node, uint32_t frame);

/* Private: of zones_below(). */
zone_place zones_find(const struct zones *zones, uint32_t node, uint32_t frame);

/* Where the root of the tree is. */
static inline zone_place zones_root(const struct zones *zones) {
    return zones->n > ZONES_NODE_ROOT + 1 ? ZONES_NODE_ROOT * ZONES_MAX : ZONES_ROOT;
}

/* The place of what a context calls. */
static inline zone_place zones_below(const struct zones *zones, zone_place caller, uint32_t frame) {
    return caller < ZONES_MAX ? caller : zones_find(zones, caller / ZONES_MAX, frame);
}

#endif

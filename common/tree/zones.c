/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * zones.c - the nodes are in an array, callers before callees, and in a hash table with linear
 * probing, half full at most.
 */
#include "common/tree/zones.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 64u
#define ROOM_MAX   16384u
#define ENOUGH     (ZONES_MAX - ZONES_CUT) /* zones, so that there are numbers for all new ones */

/* ---- nodes ---- */

static size_t bytes_of(uint32_t room) {
    return room * (sizeof(struct zone_node) + 2 * sizeof(uint32_t));
}

void zones_init(struct zones *zones, struct budget *budget, uint64_t factor) {
    *zones = (struct zones){.budget = budget, .factor = factor};
}

void zones_free(struct zones *zones) {
    free(zones->node);
    free(zones->slot);
    budget_give(zones->budget, bytes_of(zones->room));
    zones_init(zones, zones->budget, zones->factor);
}

/* Where that node is, or else where it belongs. */
static uint32_t *slot_of(const struct zones *zones, uint32_t parent, uint32_t frame) {
    uint32_t mask = 2 * zones->room - 1;
    uint64_t spread = ((uint64_t)parent << 32 | frame) * zones->factor;
    for (uint32_t i = (uint32_t)(spread >> 32) & mask;; i = (i + 1) & mask) {
        const struct zone_node *node = &zones->node[zones->slot[i]];
        if (zones->slot[i] == 0 || (node->parent == parent && node->frame == frame))
            return &zones->slot[i];
    }
}

static bool make_room(struct zones *zones, uint32_t room) {
    size_t more = bytes_of(room) - bytes_of(zones->room);
    if (room > ROOM_MAX || !budget_take(zones->budget, more))
        return false;
    struct zone_node *node = realloc(zones->node, room * sizeof *node);
    zones->node = node != NULL ? node : zones->node;
    uint32_t *slot = node != NULL ? calloc(2 * room, sizeof *slot) : NULL;
    if (slot == NULL) {
        budget_give(zones->budget, more);
        return false;
    }
    free(zones->slot);
    zones->slot = slot;
    zones->room = room;
    for (uint32_t i = ZONES_NODE_ROOT + 1; i < zones->n; i++)
        *slot_of(zones, node[i].parent, node[i].frame) = i;
    return true;
}

/* 0: no memory. */
static uint32_t add_node(struct zones *zones, uint32_t parent, uint32_t frame) {
    if (zones->n == zones->room && !make_room(zones, 2 * zones->room))
        return 0;
    uint32_t i = zones->n++;
    zones->node[i] = (struct zone_node){.parent = parent, .frame = frame};
    zones->node[parent].inner = true;
    *slot_of(zones, parent, frame) = i;
    return i;
}

/* The root's node. False: no memory. */
static bool begin(struct zones *zones) {
    if (zones->n != 0)
        return true;
    if (!make_room(zones, ROOM_FIRST))
        return false;
    zones->n = ZONES_NODE_ROOT + 1;
    memset(zones->node, 0, zones->n * sizeof *zones->node);
    zones->node[ZONES_NODE_ROOT] = (struct zone_node){.parent = ZONES_NODE_ROOT, .named = true};
    zones->at[ZONES_ROOT] = ZONES_NODE_ROOT;
    return true;
}

uint32_t zones_node(const struct zones *zones, uint32_t node, uint32_t frame) {
    return *slot_of(zones, node, frame);
}

zone_place zones_find(const struct zones *zones, uint32_t node, uint32_t frame) {
    uint32_t found = *slot_of(zones, node, frame);
    if (found == 0)
        return zones->node[node].zone;
    return (zones->node[found].inner ? found * ZONES_MAX : 0) + zones->node[found].zone;
}

/* Each node's zone, from those that name one. */
static void spread(struct zones *zones) {
    for (uint32_t z = 0; z < ZONES_MAX; z++)
        if (zones->at[z] != 0)
            zones->node[zones->at[z]].zone = (uint8_t)z;
    for (uint32_t i = ZONES_NODE_ROOT + 1; i < zones->n; i++)
        if (!zones->node[i].named)
            zones->node[i].zone = zones->node[zones->node[i].parent].zone;
}

/* ---- fewer zones ---- */

/* Only nodes that lead to zones stay. */
static void drop_nodes(struct zones *zones) {
    uint32_t *now = calloc(zones->n, sizeof *now), n = ZONES_NODE_ROOT + 1;
    if (now == NULL)
        return;
    for (uint32_t i = zones->n; i-- > ZONES_NODE_ROOT;) {
        now[i] |= zones->node[i].named;
        now[zones->node[i].parent] |= now[i];
    }
    now[ZONES_NODE_ROOT] = ZONES_NODE_ROOT;
    for (uint32_t i = ZONES_NODE_ROOT; i < zones->n; i++)
        zones->node[i].inner = false;
    for (uint32_t i = ZONES_NODE_ROOT + 1; i < zones->n; i++) {
        struct zone_node node = zones->node[i];
        if (now[i] == 0)
            continue;
        now[i] = n;
        node.parent = now[node.parent];
        zones->node[node.parent].inner = true;
        if (node.named)
            zones->at[node.zone] = n;
        zones->node[n++] = node;
    }
    zones->n = n;
    memset(zones->slot, 0, 2 * zones->room * sizeof *zones->slot);
    for (uint32_t i = ZONES_NODE_ROOT + 1; i < n; i++)
        *slot_of(zones, zones->node[i].parent, zones->node[i].frame) = i;
    free(now);
}

static uint32_t count_zones(const struct zones *zones, double *weight) {
    uint32_t n = 0;
    for (uint32_t z = 1; z < ZONES_MAX; z++)
        if (zones->at[z] != 0) {
            n++;
            *weight += zones->weight[z];
        }
    return n;
}

/* By node: what the zones weigh that it is to have instead of them, 0: it is to name none. As items
 * are chosen, from the callees to the callers. */
static void gather(const struct zones *zones, double least, double *weight) {
    for (uint32_t z = 1; z < ZONES_MAX; z++)
        if (zones->at[z] != 0)
            weight[zones->at[z]] = zones->weight[z];
    for (uint32_t i = zones->n; i-- > ZONES_NODE_ROOT + 1;)
        if (weight[i] < least) {
            weight[zones->node[i].parent] += weight[i];
            weight[i] = 0;
        }
}

/* The node names the zone of that number, unless it names one already. */
static void hand_over(struct zones *zones, uint32_t node, uint8_t zone, double weight) {
    if (zones->node[node].named)
        return;
    zones->node[node].named = true;
    zones->node[node].zone = zone;
    zones->at[zone] = node;
    zones->weight[zone] = weight;
}

/* Zones that are too light become one of a caller of them all, which takes one of their numbers. */
static bool dissolve(struct zones *zones, uint8_t became[ZONES_MAX]) {
    double sum = 0, *weight;
    uint32_t was[ZONES_MAX];
    if (count_zones(zones, &sum) <= ENOUGH)
        return false;
    weight = calloc(zones->n, sizeof *weight);
    if (weight == NULL)
        return false;
    gather(zones, sum / ENOUGH, weight);
    memcpy(was, zones->at, sizeof was);
    for (uint32_t z = 1; z < ZONES_MAX; z++)
        if (was[z] != 0 && weight[was[z]] == 0) {
            zones->node[was[z]].named = false;
            zones->at[z] = 0;
        } else if (was[z] != 0) {
            zones->weight[z] = weight[was[z]];
        }
    for (uint32_t z = 1; z < ZONES_MAX; z++) {
        uint32_t node = was[z];
        while (node > ZONES_NODE_ROOT && weight[node] == 0)
            node = zones->node[node].parent;
        if (node > ZONES_NODE_ROOT)
            hand_over(zones, node, (uint8_t)z, weight[node]);
    }
    spread(zones);
    for (uint32_t z = 0; z < ZONES_MAX; z++)
        became[z] = zones->node[was[z]].zone;
    drop_nodes(zones);
    free(weight);
    return true;
}

/* ---- more zones ---- */

static uint64_t sum_of(const struct zone_sample *sample) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < sample->n; i++)
        sum += sample->weight[i];
    return sum;
}

/* By item of the sample: its node, 0: it has none. */
static void find_nodes(const struct zones *zones, const struct zone_sample *sample,
                       uint32_t *node) {
    node[0] = ZONES_NODE_ROOT;
    for (uint32_t i = 1; i < sample->n; i++) {
        uint32_t caller = node[sample->parent[i]];
        node[i] = caller != 0 ? *slot_of(zones, caller, sample->frame[i]) : 0;
    }
}

/* Whether the items are to name a zone, and what samples had in those that do. */
static void choose(struct zones *zones, const struct zone_sample *sample, const uint32_t *node,
                   bool *chosen) {
    uint64_t sum = sum_of(sample), least = sum / ZONES_CUT + 1;
    double scale = sample->stands_for / (double)sum;
    for (uint32_t i = sample->n; i-- > 0;) {
        const struct zone_node *has = &zones->node[node[i]];
        if (node[i] != 0 && has->named)
            zones->weight[has->zone] += (double)sample->weight[i] * scale;
        else if (sample->weight[i] >= least)
            chosen[i] = true;
        else
            sample->weight[sample->parent[i]] += sample->weight[i];
    }
}

/* Nodes for all that are chosen and for their callers, as far as there is memory. */
static void make_nodes(struct zones *zones, const struct zone_sample *sample, uint32_t *node,
                       const bool *chosen, bool *needed) {
    for (uint32_t i = sample->n; i-- > 1;) {
        needed[i] |= chosen[i];
        needed[sample->parent[i]] |= needed[i];
    }
    for (uint32_t i = 1; i < sample->n; i++) {
        uint32_t caller = node[sample->parent[i]];
        if (needed[i] && node[i] == 0 && caller != 0)
            node[i] = add_node(zones, caller, sample->frame[i]);
    }
}

static void name_zone(struct zones *zones, uint32_t node, double weight) {
    uint32_t z = 1;
    while (z < ZONES_MAX && zones->at[z] != 0)
        z++;
    if (z == ZONES_MAX) /* without memory there are as many as before */
        return;
    zones->at[z] = node;
    zones->node[node].named = true;
    zones->weight[z] = weight;
}

static void name_zones(struct zones *zones, const struct zone_sample *sample, const uint32_t *node,
                       const bool *chosen, double scale) {
    for (uint32_t i = 1; i < sample->n; i++)
        if (chosen[i] && node[i] != 0)
            name_zone(zones, node[i], (double)sample->weight[i] * scale);
    spread(zones);
}

bool zones_choose(struct zones *zones, const struct zone_sample *sample,
                  uint8_t became[ZONES_MAX]) {
    uint64_t sum = sum_of(sample);
    if (sum == 0 || !begin(zones))
        return false;
    bool fewer = dissolve(zones, became);
    uint32_t *node = calloc(sample->n, sizeof *node);
    bool *chosen = calloc(sample->n, sizeof *chosen), *needed = calloc(sample->n, sizeof *needed);
    if (node != NULL && chosen != NULL && needed != NULL) {
        find_nodes(zones, sample, node);
        choose(zones, sample, node, chosen);
        make_nodes(zones, sample, node, chosen, needed);
        name_zones(zones, sample, node, chosen, sample->stands_for / (double)sum);
    }
    free(node);
    free(chosen);
    free(needed);
    return fewer;
}

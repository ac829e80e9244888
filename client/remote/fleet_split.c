/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_split.c - host by host: a context's callers are looked up once for each, not once for each
 * of the contexts below them.
 */
#include "client/remote/fleet_split.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/profile/copy.h"

struct split {
    const struct profile *from;
    struct profile *to;
    uint32_t *place;  /* by location of `from`: that of `to`, 0: not there yet */
    uint32_t *copy;   /* by node of `from`: that of `to`, of one host */
    uint64_t *weight; /* by node, the same */
    bool *used;       /* by node: is it, or one below it, of that host? */
};

void fleet_parts_add(struct fleet_parts *parts, struct fleet_part part) {
    parts->list = memory_grow(parts->list, parts->n, &parts->room, sizeof part, "parts of hosts");
    parts->list[parts->n++] = part;
}

static int by_host(const void *a, const void *b) {
    const struct fleet_part *one = a, *other = b;
    return (one->host > other->host) - (one->host < other->host);
}

static uint32_t place(struct split *s, uint32_t location) {
    if (s->place[location] == 0)
        s->place[location] = copy_location(s->to, s->from, location);
    return s->place[location];
}

static void mark(struct split *s, const struct fleet_part *part) {
    s->weight[part->node] += part->weight;
    for (uint32_t at = part->node; !s->used[at]; at = s->from->nodes[at].parent) {
        s->used[at] = true;
        if (s->from->nodes[at].parent == 0)
            break;
    }
}

/* Of a host whose parts are marked, which are none of the next one's. */
static void add_host(struct split *s, uint32_t label) {
    for (uint32_t i = 1; i < s->from->n_nodes; i++) {
        const struct profile_node *node = &s->from->nodes[i];
        if (!s->used[i])
            continue;
        bool is_root = node->parent == 0;
        uint32_t parent = is_root ? profile_root(s->to, node->process) : s->copy[node->parent];
        s->copy[i] = profile_add_node(s->to, parent, place(s, is_root ? label : node->location),
                                      s->weight[i], 0);
        s->weight[i] = 0;
        s->used[i] = false;
    }
}

struct profile *fleet_split(const struct profile *from, struct fleet_parts *parts,
                            const uint32_t *labels) {
    struct split s = {
        .from = from,
        .to = copy_begin(from),
        .place = memory_new(from->n_locations, sizeof *s.place, "locations"),
        .copy = memory_new(from->n_nodes, sizeof *s.copy, "contexts"),
        .weight = memory_new(from->n_nodes, sizeof *s.weight, "contexts"),
        .used = memory_new(from->n_nodes, sizeof *s.used, "contexts"),
    };
    if (parts->n > 0)
        qsort(parts->list, parts->n, sizeof *parts->list, by_host);
    for (uint32_t i = 0; i < parts->n; i++) {
        mark(&s, &parts->list[i]);
        if (i + 1 == parts->n || parts->list[i + 1].host != parts->list[i].host)
            add_host(&s, labels[parts->list[i].host]);
    }
    free(s.place);
    free(s.copy);
    free(s.weight);
    free(s.used);
    return s.to;
}

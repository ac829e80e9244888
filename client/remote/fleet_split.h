/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_split.h - contexts of all hosts, as those of each.
 */
#ifndef HCCT_FLEET_SPLIT_H
#define HCCT_FLEET_SPLIT_H

#include "common/profile/profile.h"

/* What a host has of a context. */
struct fleet_part {
    uint32_t host, node;
    uint64_t weight;
};

struct fleet_parts {
    struct fleet_part *list;
    uint32_t n, room;
};

void fleet_parts_add(struct fleet_parts *parts, struct fleet_part part);

/* A new profile with the parts instead of the weights of `from`: those of a host below its label,
 * which is a location of `from`. Sorts them. */
struct profile *fleet_split(const struct profile *from, struct fleet_parts *parts,
                            const uint32_t *labels);

#endif

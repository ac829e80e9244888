/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * path_hash.h - the hash of a context, which is that of the frames from the root to it: beside each
 * node, for a summary that has to tell contexts apart that have none.
 *
 * The same for the same frames in every run, as results depend on it. Who chooses frames so that
 * they collide loses precision, and no more.
 */
#ifndef HCCT_PATH_HASH_H
#define HCCT_PATH_HASH_H

#include "common/tree/tree.h"

#define PATH_HASH_BYTES 4u /* beside a node: side_bytes of a kind that wants it */
#define PATH_HASH_ROOT  0u

static inline uint32_t path_hash_below(uint32_t parent, uint32_t frame) {
    uint64_t spread = parent + ((uint64_t)frame << 32 | frame);
    return (uint32_t)(spread * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static inline uint32_t *path_hash_at(const struct mcct *tree, uint32_t node) {
    return node_pool_beside(&tree->pool, node, PATH_HASH_BYTES);
}

/* From now on each node of the tree has its hash, and `has_paths` is set. False: no memory. */
bool path_hash_begin(struct mcct *tree);

#endif

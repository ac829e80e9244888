/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * profile_contexts.c - from handles to nodes.
 */
#include "common/profile/profile_contexts.h"

#include <stdlib.h>

#include "common/base/memory.h"

static bool add(struct profile *profile, uint32_t *node, uint32_t known,
                const struct profile_context *context) {
    if (context->parent == 0 || context->parent >= known ||
        context->location >= profile->n_locations)
        return false;
    node[known] = profile_add_node(profile, node[context->parent], context->location,
                                   context->count, context->error);
    return true;
}

bool profile_contexts_add(struct profile *profile, FILE *in, uint64_t n) {
    struct profile_context context;
    uint32_t known = profile->n_nodes, *node; /* by handle */
    bool all = true;
    if (n > UINT32_MAX - known)
        return false;
    node = memory_new(known + n, sizeof *node, "contexts");
    for (uint32_t i = 1; i < known; i++)
        node[i] = i;
    for (; n > 0 && all; n--)
        all = fread(&context, sizeof context, 1, in) == 1 && add(profile, node, known++, &context);
    free(node);
    return all;
}

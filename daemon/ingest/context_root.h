/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * context_root.h - what the contexts of a thread begin with: its name, where that is asked for, and
 * the labels that the program has given it.
 */
#ifndef HCCT_CONTEXT_ROOT_H
#define HCCT_CONTEXT_ROOT_H

#include <stdint.h>

#include "common/wire/wire.h"
#include "daemon/ingest/addresses.h"

struct context_root {
    char thread[THREAD_NAME_ROOM]; /* empty: none */
    uint16_t labels;
    uint16_t label[WIRE_LABELS]; /* their numbers, outermost first */
};

#define CONTEXT_ROOT_FRAMES (1u + WIRE_LABELS)

/* Puts the frames that stand for it, outermost first; returns how many. */
static inline unsigned context_root_frames(struct addresses *map, const struct context_root *root,
                                           uint32_t frame[CONTEXT_ROOT_FRAMES]) {
    unsigned n = 0;
    if (root->thread[0] != '\0')
        frame[n++] = addresses_thread(map, root->thread);
    for (unsigned i = 0; i < root->labels; i++)
        frame[n++] = addresses_frame(map, WIRE_LABEL | root->label[i], 0);
    return n;
}

#endif

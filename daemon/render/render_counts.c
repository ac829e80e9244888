/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * render_counts.c - one number for each.
 */
#include "daemon/render/render_counts.h"

#include <stdatomic.h>

static _Atomic uint64_t counts[RENDER_ENDS];

void render_count(enum render_end end) {
    atomic_fetch_add_explicit(&counts[end], 1, memory_order_relaxed);
}

uint64_t render_counted(enum render_end end) {
    return atomic_load_explicit(&counts[end], memory_order_relaxed);
}

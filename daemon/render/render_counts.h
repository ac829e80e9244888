/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * render_counts.h - what became of the answers that were to be rendered. Any thread may call.
 */
#ifndef HCCT_RENDER_COUNTS_H
#define HCCT_RENDER_COUNTS_H

#include <stdint.h>

enum render_end {
    RENDER_END_WHOLE,
    RENDER_END_REFUSED, /* by the renderer: no memory, no such filter */
    RENDER_END_LATE,
    RENDER_END_KILLED, /* or crashed */
    RENDER_ENDS,
};

void render_count(enum render_end end);
uint64_t render_counted(enum render_end end);

#endif

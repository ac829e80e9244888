/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * frame_sweep.h - a thread that gives back the frame ids, and names of generated functions, of a
 * user that are in use no more: by no tree of a process, live, finished or folded, and by no
 * window. Then modules (module_sweep.h).
 */
#ifndef HCCT_FRAME_SWEEP_H
#define HCCT_FRAME_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

bool frame_sweep_start(void); /* false: no thread can be had */
void frame_sweep_stop(void);

/* How many there were. */
uint64_t frame_sweeps(void);

#endif

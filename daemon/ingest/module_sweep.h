/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * module_sweep.h - gives back the modules that are in use no more: mapped by no process that is
 * read, and in no frame. It goes with sweeps of frames (frame_sweep.h): one before it makes frames
 * of what is long forgotten go, and their modules with them.
 */
#ifndef HCCT_MODULE_SWEEP_H
#define HCCT_MODULE_SWEEP_H

#include <stdint.h>

/* Sweeps, if that is due. One thread. */
void module_sweep(void);

/* How many there were. Any thread. */
uint64_t module_sweeps(void);

#endif

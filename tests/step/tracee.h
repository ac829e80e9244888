/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tracee.h - a program that is executed step by step.
 */
#ifndef HCCT_STEP_TRACEE_H
#define HCCT_STEP_TRACEE_H

#include <sys/types.h>

/* Starts argv[0] and stops it at its entry point, with its libraries loaded and nothing of its own
 * executed. Its threads to come are traced too, and it ends with its tracer. -1 and errno: it could
 * not be traced (EPERM and such), or not started. */
pid_t tracee_start(char *const argv[]);

#endif

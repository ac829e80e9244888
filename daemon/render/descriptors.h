/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * descriptors.h - which descriptors a child goes on with.
 */
#ifndef HCCT_DESCRIPTORS_H
#define HCCT_DESCRIPTORS_H

#include <stdbool.h>

#define DESCRIPTORS_KEPT_MAX 64

/* The n descriptors stand from `first` on, in their order; those below are left as they are, all
 * above are closed. For a process of one thread. False: it can't be. */
bool descriptors_keep(const int *fds, unsigned n, int first);

#endif

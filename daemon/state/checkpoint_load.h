/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * checkpoint_load.h - the processes of a checkpoint.
 */
#ifndef HCCT_CHECKPOINT_LOAD_H
#define HCCT_CHECKPOINT_LOAD_H

#include <stddef.h>

#include "common/tree/mcct.h"
#include "daemon/ingest/process.h"

/* Reads the file; each tree is made anew with these parameters. *list, malloc'ed, gets the *n
 * processes, all of them finished, with one reference each, oldest first; those that may still run
 * are `waiting`. NULL, or what is wrong with the file (errno ENOENT: there is none): then there are
 * no processes. */
const char *checkpoint_load(const char *path, const struct mcct_params *tree,
                            struct process ***list, size_t *n);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * batch_run.h - what a batch has gathered becomes a run of its packed tree.
 */
#ifndef HCCT_BATCH_RUN_H
#define HCCT_BATCH_RUN_H

#include "common/tree/batch.h"

/* As batch_merge(). False: there is no memory; nothing was added, and the tree is not packed any
 * more. */
bool batch_run(struct mcct_batch *batch);

#endif

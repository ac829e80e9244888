/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * batch_merge.h - what a batch has gathered goes into its tree.
 */
#ifndef HCCT_BATCH_MERGE_H
#define HCCT_BATCH_MERGE_H

#include "common/tree/batch.h"

/* Adds the weights of all items to the cursor's tree. The frame and the weight of each are given,
 * the nodes of the first `carried` items are in `node`. The cursor stays where it is. */
void batch_merge(struct mcct_batch *batch);

#endif

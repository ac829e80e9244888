/*
 * batch_merge.h - what a batch has gathered goes into its tree.
 */
#ifndef HCCT_BATCH_MERGE_H
#define HCCT_BATCH_MERGE_H

#include "daemon/tree/batch.h"

/* Adds the weights of all items to the cursor's tree, frees their slots but the first one's, and
 * leaves the frame of each in `frame`. The nodes of the first `carried` items are given in `node`.
 * The cursor stays where it is. */
void batch_merge(struct mcct_batch *batch);

#endif

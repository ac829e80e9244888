/*
 * tree_delta.h - what was added to a tree between two copies of it, context by context.
 *
 * A context's weight at the start lies in [c1 - e1, c1] (in [0, unseen] where it was not
 * monitored), at the end in [c2 - e2, c2]. So what it gained lies in
 *
 *     [c2 - e2 - c1, c2 - (c1 - e1)]
 *
 * A summary that is `steady` allows more: it leaves a context's error alone as long as it monitors
 * the context, and gives it a larger one when it comes back. Then
 *
 *     e2 == e1             it was monitored all the time and gained c2 - c1, exactly
 *     otherwise            it came (back) after the start: all of c2 - e2 was gained since then
 *
 * The copy at the end becomes the tree of gains, in the usual form: count - error <= gained <=
 * count. Contexts that may have gained nothing (count <= error) are monitored no more, and `unseen`
 * rises to what they may have gained. Residuals have no weight: what contexts gained that are not
 * kept is in the total alone. The total is exact. The counts of a summary that had to give
 * precision away may add up to more than it.
 */
#ifndef HCCT_TREE_DELTA_H
#define HCCT_TREE_DELTA_H

#include <stdbool.h>

#include "daemon/tree_copy.h"

/* Takes `start` away from `end`, a later copy of the same tree, or of one into which that was
 * merged since (then it is not `steady`; one call for each part). False: no memory, and `end` is as
 * it was. Nothing is shared between calls. */
bool tree_delta(struct tree_copy *end, const struct tree_copy *start, bool steady);

#endif

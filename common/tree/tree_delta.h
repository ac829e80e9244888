/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tree_delta.h - what was added to a tree between two copies of it, context by context.
 *
 * A context's weight at the start lies in [c1 - e1, c1] (in [0, unseen] where it was not
 * monitored), at the end in [c2 - e2, c2]. Weight that is certain of a context stays so, or becomes
 * a residual of one of its callers (residual.h), and never comes back to a counter. So what a
 * context gained lies in
 *
 *     [c2 - e2 - (c1 - e1), c2 - (c1 - e1)]
 *
 * A summary that is `steady` allows more: as long as it monitors a context it counts all that this
 * gains, and when the context comes back, its error is at least what its count was. Then
 *
 *     e2 < c1              it was monitored all the time and gained c2 - c1, exactly
 *     otherwise            it came (back) after the start: all of c2 - e2 was gained since then
 *
 * A residual moves to callers of its node only, and keeps its frame. So what the start had of a
 * frame, as residuals or in counters that do not have it any more, stands in residuals of that
 * frame at the same node or above. It is taken from the deepest that can have it, where it can have
 * been most of: then what is left below any node has been gained there for certain, and residuals
 * of the difference mean what residuals mean. Why the upper bound holds as well: whatever lies
 * beside a node and its callers has gained what is certain there, so that the node gained no more
 * than the rest, which is what is certain below it, its callers' residuals, and what no context
 * has.
 *
 * The copy at the end becomes the tree of gains, in the usual form: count - error <= gained <=
 * count. Contexts that may have gained nothing (count <= error) are monitored no more, and `unseen`
 * rises to what they may have gained. Residuals may have no weight. The total is exact. The counts
 * of a summary that had to give precision away may add up to more than it.
 */
#ifndef HCCT_TREE_DELTA_H
#define HCCT_TREE_DELTA_H

#include <stdbool.h>

#include "common/tree/tree_copy.h"

/* Takes `start` away from `end`, a later copy of the same tree, or of one into which that was
 * merged since (then it is not `steady`; one call for each part). The tree was flushed
 * (mcct_flush()) before `start` was taken: what is only gathered is counted in another way once
 * there is more of it, and weight that was a residual may be a counter's then. False: no memory,
 * and `end` is as it was. Nothing is shared between calls. */
bool tree_delta(struct tree_copy *end, const struct tree_copy *start, bool steady);

#endif

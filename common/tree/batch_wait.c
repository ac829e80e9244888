/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * batch_wait.c - batches between calls that come a few at a time.
 *
 * To merge a batch costs as much for few calls as for many, if their contexts are the same; and the
 * contexts of one moment are mostly those of the one before. A batch that waits is known to its
 * cursor and to its tree, and no cursor with one is the active one: so it is where tree_activate()
 * is called that it ends, and what is done to the active cursor need not ask.
 *
 * Batches are few in the whole program. Half of them may wait, so that a thread that comes next
 * finds one.
 */
#include "common/tree/batch.h"

#include <stdatomic.h>

#include "common/tree/tree.h"

static _Atomic unsigned waiting;

static bool may_wait(void) {
    bool room = atomic_fetch_add(&waiting, 1) < BATCHES_WAIT;
    if (!room)
        atomic_fetch_sub(&waiting, 1);
    return room;
}

void mcct_batch_wait(struct mcct_batch *batch, struct mcct_batch_level *level) {
    if (batch == NULL)
        return;
    struct mcct *tree = batch->cursor->tree;
    if (batch->direct || !may_wait()) {
        mcct_batch_end(batch, level);
        return;
    }
    batch->waits_at = level;
    batch->next = tree->waiting;
    batch->link = &tree->waiting;
    if (batch->next != NULL)
        batch->next->link = &batch->next;
    tree->waiting = batch->cursor->waiting = batch;
    if (tree->active == batch->cursor)
        tree_activate(tree, NULL);
}

struct mcct_batch *mcct_batch_go_on(struct mcct_cursor *cursor, struct mcct_batch_level **level) {
    struct mcct_batch *batch = cursor->waiting;
    if (batch == NULL)
        return NULL;
    *batch->link = batch->next;
    if (batch->next != NULL)
        batch->next->link = batch->link;
    cursor->waiting = NULL;
    atomic_fetch_sub(&waiting, 1);
    *level = batch->waits_at;
    tree_activate(cursor->tree, cursor);
    return batch;
}

void mcct_batch_wait_no_more(struct mcct_cursor *cursor) {
    struct mcct_batch_level *level = NULL;
    struct mcct_batch *batch = mcct_batch_go_on(cursor, &level);
    mcct_batch_end(batch, level);
}

void tree_end_waiting_now(const struct mcct *tree) {
    while (tree->waiting != NULL)
        mcct_batch_wait_no_more(tree->waiting->cursor);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * commit.c - what a report has sent, also where it was left in the middle.
 *
 * A signal handler of the application may leave a report at any of its instructions, by longjmp or
 * by an exception, and the next report goes on with what it finds. What the daemon has been given
 * can't be taken back: so the position that was published last is the truth, and one store makes
 * it. Whatever belongs to a word, or to words that make sense together only, is written before that
 * store where it says what is to come, and after it where it says what has been:
 *
 *   the hot path   the word; the position; then the open call, `cursor`, `at` and `top`, in this
 *                  order. Where `at` is behind the position, the word was sent, and the rest not
 *                  done: the daemon's cursor is at a call after `top`, of which nothing is known.
 *   the others     the words; `cursor_then` and `committing`; the position; then `head` and
 *                  `cursor`.
 */
#include "preload/calls/calls.h"

#include "common/wire/ring.h"

/* The compiler keeps the order of stores; a handler on the same thread sees no other. */
#define IN_ORDER() atomic_signal_fence(memory_order_seq_cst)

static bool is_committed(const struct calls *c, uint64_t head) {
    return c->committing != 0 && c->committing == head;
}

/* The hot path's, or the one for redirected calls, which may send several words at a time. */
static void read_hot(struct calls *c, uint64_t head) {
    if (head == (uint64_t)(c->at - c->zero)) {
        c->common = c->cursor;
        return;
    }
    c->cursor = is_committed(c, head) ? c->cursor_then : c->top + 1;
    c->common = c->top;
}

static void read_committed(struct calls *c, uint64_t head) {
    if (!is_committed(c, head))
        return;
    c->cursor = c->cursor_then;
    if (c->common > c->cursor)
        c->common = c->cursor;
}

/* May itself be left, and is done again then. */
void calls_write_back(struct calls *c) {
    calls_finish_change(c);
    if (c->slot == NULL)
        return;
    uint64_t head = atomic_load_explicit(&c->slot->head, memory_order_relaxed);
    if (c->at != NULL)
        read_hot(c, head);
    else
        read_committed(c, head);
    c->head = head;
    c->limit = NULL;
    IN_ORDER();
    c->at = NULL;
    IN_ORDER();
    c->committing = 0;
}

void calls_commit(struct calls *c, uint64_t words, struct calls_frame *cursor) {
    uint64_t head = c->head + words;
    c->cursor_then = cursor;
    IN_ORDER();
    c->committing = head;
    IN_ORDER();
    ring_publish(c->slot, head);
    IN_ORDER();
    c->head = head;
    c->cursor = cursor;
    IN_ORDER();
    c->committing = 0;
}

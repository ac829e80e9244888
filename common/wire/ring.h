/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ring.h - one writer (a thread of the application), one reader (the daemon), a ring of words.
 *
 *   call             who                  may run beside
 *   ring_room        writer, any context  reader's calls
 *   ring_put         writer, any context  reader's calls
 *   ring_publish     writer, any context  reader's calls
 *   ring_unread      writer, any context  none
 *   ring_available   reader               writer's calls
 *   ring_word        reader               writer's calls
 *   ring_consume     reader               writer's calls
 *
 * All are wait-free. Positions count words since the ring began and never wrap (64 bits).
 * The release store in ring_publish pairs with the acquire load in ring_available: the reader sees
 * the words before it sees that they are there. The release store in ring_consume pairs with the
 * acquire load in ring_room: the writer reuses a word only after it was read.
 *
 * The reader trusts neither position: a writer that lies gets ring_available() == RING_BROKEN.
 */
#ifndef HCCT_RING_H
#define HCCT_RING_H

#include "common/wire/wire.h"

#define RING_BROKEN UINT64_MAX

static inline uint64_t *ring_words(struct wire_slot *slot) {
    return (uint64_t *)(void *)(slot + 1);
}

/* Writer: words that can be written before the reader must catch up, in a ring of `size` words.
 * `at` is the writer's own position, which may be ahead of what it has published. */
static inline uint64_t ring_room(struct wire_slot *slot, uint64_t size, uint64_t at) {
    uint64_t used = at - atomic_load_explicit(&slot->tail, memory_order_acquire);
    return used <= size ? size - used : 0;
}

/* Writer: store one word at `at`, which must be within the room. Not visible before publish. */
static inline void ring_put(struct wire_slot *slot, uint64_t size, uint64_t at, uint64_t word) {
    ring_words(slot)[at % size] = word;
}

/* Writer: everything before `at` is the reader's now. */
static inline void ring_publish(struct wire_slot *slot, uint64_t at) {
    atomic_store_explicit(&slot->head, at, memory_order_release);
}

/* Writer, when there is no reader any more: the weights of all credits before `at`, its own
 * position, that were not read. A record that was not published whole counts for nothing. */
static inline uint64_t ring_unread(struct wire_slot *slot, uint64_t size, uint64_t at) {
    uint64_t next = atomic_load_explicit(&slot->tail, memory_order_acquire), weight = 0;
    while (at - next <= size && next < at) {
        uint64_t word = ring_words(slot)[next++ % size];
        if ((word & WIRE_CALL) != 0)
            weight++;
        else if (word >> WIRE_VERB_SHIFT == WIRE_PUSH)
            next++; /* its site */
        else if (word >> WIRE_VERB_SHIFT == WIRE_CREDIT)
            weight += word & WIRE_WEIGHT_MASK;
    }
    return weight;
}

/* Reader: words that can be read from `at` (the reader's own position) on, or RING_BROKEN. */
static inline uint64_t ring_available(struct wire_slot *slot, uint64_t size, uint64_t at) {
    uint64_t n = atomic_load_explicit(&slot->head, memory_order_acquire) - at;
    return n <= size ? n : RING_BROKEN;
}

/* Reader: the word at `at`, which must be within what is available. One volatile load: the writer
 * may be hostile and change it between two. */
static inline uint64_t ring_word(struct wire_slot *slot, uint64_t size, uint64_t at) {
    return *(volatile uint64_t *)&ring_words(slot)[at % size];
}

/* Reader: everything before `at` may be overwritten. */
static inline void ring_consume(struct wire_slot *slot, uint64_t at) {
    atomic_store_explicit(&slot->tail, at, memory_order_release);
}

#endif

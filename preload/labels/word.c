/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * word.c - up to four numbers in a row.
 */
#include "preload/labels/word.h"

#include "preload/labels/table.h"
#include "preload/labels/thread.h"

/* Where the label of that key is, WIRE_LABELS: there is none. */
static unsigned find(uint64_t labels, const char *key, size_t length) {
    for (unsigned i = 0; i < WIRE_LABELS && labels_nth(labels, i) != 0; i++)
        if (label_is_of(label_at(labels_nth(labels, i)), key, length))
            return i;
    return WIRE_LABELS;
}

static uint64_t below(uint64_t labels, unsigned i) {
    return labels & ((1ull << i * LABEL_BITS) - 1);
}

static uint64_t removed(uint64_t labels, unsigned i) {
    uint64_t above = i + 1 < WIRE_LABELS ? labels >> (i + 1) * LABEL_BITS : 0;
    return below(labels, i) | above << i * LABEL_BITS;
}

/* There is room for it. */
static uint64_t inserted(uint64_t labels, uint32_t id) {
    unsigned i = 0;
    while (labels_nth(labels, i) != 0 &&
           label_is_before(label_at(labels_nth(labels, i)), label_at(id)))
        i++;
    uint64_t above = labels >> i * LABEL_BITS;
    uint64_t moved = i + 1 < WIRE_LABELS ? above << (i + 1) * LABEL_BITS : 0;
    return below(labels, i) | (uint64_t)id << i * LABEL_BITS | moved;
}

bool labels_change(uint64_t *labels, const char *key, size_t length, uint32_t id) {
    unsigned i = find(*labels, key, length);
    if (i != WIRE_LABELS && id != 0)
        *labels ^= (uint64_t)(id ^ labels_nth(*labels, i)) << i * LABEL_BITS;
    else if (i != WIRE_LABELS)
        *labels = removed(*labels, i);
    else if (id != 0 && labels_nth(*labels, WIRE_LABELS - 1) != 0)
        return false;
    else if (id != 0)
        *labels = inserted(*labels, id);
    return true;
}

uint64_t labels_without(uint64_t labels, const char *key, size_t length) {
    (void)labels_change(&labels, key, length, 0);
    return labels;
}

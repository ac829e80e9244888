/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * said.c - what the application says to the agent: the functions behind hcct.h, and the same by the
 * names that hcct.h has for them, for languages that look functions up.
 */
#include <stddef.h>

#include "common/wire/compiler.h"
#include "preload/labels/said.h"
#include "preload/labels/table.h"
#include "preload/labels/thread.h"
#include "preload/life/agent.h"

__thread _Atomic uint64_t labels_self;

/* ---- a thread's labels as one word ---- */

static uint64_t get(void) {
    return atomic_load_explicit(&labels_self, memory_order_relaxed);
}

static void set(uint64_t labels) {
    atomic_store_explicit(&labels_self, labels, memory_order_relaxed);
}

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
    if (i == WIRE_LABELS)
        return labels;
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

/* ---- what is exported ---- */

static void count_other(void) {
    if (agent.process != NULL)
        atomic_fetch_add_explicit(&agent.process->labels_other, 1, memory_order_relaxed);
}

void hcct_agent_label_clear(const char *key) {
    if (key != NULL)
        set(removed(get(), find(get(), key, label_key_length(key))));
}

void hcct_agent_label_set(const char *key, const char *value) {
    bool placed;
    if (key == NULL || value == NULL) {
        hcct_agent_label_clear(key);
        return;
    }
    size_t length = label_key_length(key);
    uint32_t id = label_intern(key, length, value, &placed);
    uint64_t labels = get();
    unsigned i = find(labels, key, length);
    bool is_new = i == WIRE_LABELS;
    if (!placed || (is_new && labels_nth(labels, WIRE_LABELS - 1) != 0))
        count_other();
    if (id == 0)
        set(removed(labels, i));
    else if (!is_new)
        set(labels ^ (uint64_t)(id ^ labels_nth(labels, i)) << i * LABEL_BITS);
    else if (labels_nth(labels, WIRE_LABELS - 1) == 0)
        set(inserted(labels, id));
}

void hcct_agent_start(void) {
    atomic_store(&agent.stopped, 0);
}

void hcct_agent_stop(void) {
    atomic_store(&agent.stopped, 1);
}

void hcct_label_set(const char *key, const char *value)
    __attribute__((alias("hcct_agent_label_set")));
void hcct_label_clear(const char *key) __attribute__((alias("hcct_agent_label_clear")));
void hcct_start(void) __attribute__((alias("hcct_agent_start")));
void hcct_stop(void) __attribute__((alias("hcct_agent_stop")));

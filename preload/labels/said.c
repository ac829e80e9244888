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
#include "preload/labels/word.h"
#include "preload/life/agent.h"

__thread _Atomic uint64_t labels_self;

static uint64_t get(void) {
    return atomic_load_explicit(&labels_self, memory_order_relaxed);
}

static void set(uint64_t labels) {
    atomic_store_explicit(&labels_self, labels, memory_order_relaxed);
}

/* ---- what is exported ---- */

/* It has no place, or can have none. */
static void count_unplaced(const char *key, size_t length) {
    struct agent_process *process = agent.process;
    if (process != NULL)
        atomic_fetch_add_explicit(label_is_key(key, length) ? &process->labels_other
                                                            : &process->labels_invalid,
                                  1, memory_order_relaxed);
}

void hcct_agent_label_clear(const char *key) {
    if (key != NULL)
        set(labels_without(get(), key, label_key_length(key)));
}

void hcct_agent_label_set(const char *key, const char *value) {
    bool placed;
    if (key == NULL || value == NULL) {
        hcct_agent_label_clear(key);
        return;
    }
    size_t length = label_key_length(key);
    uint64_t labels = get();
    uint32_t id = label_intern(key, length, value, &placed);
    placed &= labels_change(&labels, key, length, id);
    set(labels);
    if (!placed)
        count_unplaced(key, length);
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

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shallow.c - one level after the other: first calls of functions that call nothing, or that are in
 * modules whose calls are not led anywhere; then calls of functions all of whose calls are of lower
 * levels.
 */
#include "preload/encode/shallow.h"

#include "preload/context/exports.h"
#include "preload/redirect/redirect.h"
#include "preload/redirect/stub.h"

/* Sites are in the order of their addresses, those of a function follow each other. */
static uint32_t first_behind(const struct redirect_module *m, uint64_t address) {
    uint32_t low = 0, high = m->sites;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->text + m->site[middle].back <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_in(const struct redirect_module *m, uint64_t function) {
    return function - m->text < m->bytes - STUB_BINDER_BYTES;
}

/* The function of this module has only calls of lower levels. */
static bool is_below(const struct redirect_module *m, uint64_t function, uint32_t level) {
    for (uint32_t i = first_behind(m, function); i < m->sites && m->site[i].routine == function;
         i++)
        if (m->site[i].level >= level)
            return false;
    return true;
}

/* The functions that ask are not to be far from an open call: a number is wanted in no time. */
static bool asks_for_context(uint64_t function) {
    return function == (uintptr_t)hcct_agent_context || function == (uintptr_t)hcct_context;
}

bool shallow_asks(const struct redirect_module *m, const struct redirect_site *site) {
    const struct redirect_callee *k = &m->callee[site->callee & REDIRECT_CALLEE];
    return k->word != NULL && asks_for_context(*(const volatile uint64_t *)k->word);
}

/* What the loader has not bound yet may be anything. */
static bool is_of_level(const struct redirect_module *m, const struct redirect_site *site,
                        uint32_t level) {
    const struct redirect_callee *k = &m->callee[site->callee & REDIRECT_CALLEE];
    uint64_t function = k->word != NULL ? *(const volatile uint64_t *)k->word : k->target;
    if (asks_for_context(function))
        return false;
    if (!is_in(m, function))
        return !redirect_means_at(function);
    if (k->word != NULL && stub_is_binder((const uint8_t *)function))
        return false;
    return is_below(m, function, level);
}

void shallow_find(const struct redirect_module *m) {
    for (uint32_t i = 0; i < m->sites; i++)
        m->site[i].level = SHALLOW_LEVELS;
    for (uint32_t level = 0; level < SHALLOW_LEVELS; level++)
        for (uint32_t i = 0; i < m->sites; i++)
            if (m->site[i].level == SHALLOW_LEVELS && is_of_level(m, &m->site[i], level))
                m->site[i].level = level;
}

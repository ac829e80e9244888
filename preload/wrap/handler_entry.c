/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_entry.c - which handler has which entry.
 */
#include "preload/wrap/handler_entry.h"

#include <stdbool.h>
#include <stddef.h>

_Atomic(uintptr_t) handler_entries[HANDLER_ENTRIES];

static bool is_handler(signal_handler *handler) {
    return handler != SIG_DFL && handler != SIG_IGN && handler != SIG_HOLD && handler != SIG_ERR;
}

/* Several threads may look for the same one. */
static bool has(unsigned which, uintptr_t handler) {
    uintptr_t none = 0;
    return handler_entries[which] == handler ||
           atomic_compare_exchange_strong(&handler_entries[which], &none, handler) ||
           none == handler;
}

signal_handler *handler_entry_of(signal_handler *handler) {
    if (!is_handler(handler) || handler_entry_handler(handler) != handler)
        return handler;
    for (unsigned i = 0; i < HANDLER_ENTRIES; i++)
        if (has(i, (uintptr_t)handler))
            return (signal_handler *)handler_entry_address(i);
    return handler;
}

signal_handler *handler_entry_handler(signal_handler *in_kernel) {
    uintptr_t first = handler_entry_address(0), address = (uintptr_t)in_kernel;
    if (address < first || address > handler_entry_address(HANDLER_ENTRIES - 1))
        return in_kernel;
    size_t bytes = handler_entry_address(1) - first;
    return (signal_handler *)handler_entries[(address - first) / bytes];
}

void handler_entry_use(struct sigaction *action) {
    action->sa_handler = handler_entry_of(action->sa_handler);
}

void handler_entry_hide(struct sigaction *old) {
    old->sa_handler = handler_entry_handler(old->sa_handler);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * slot.h - the code around a call that keeps the thread's context stack.
 *
 * The one part of this room that knows the machine's instructions. A call instruction becomes a
 * jump to a slot of 64 bytes:
 *
 *   0   call slot_enter       which puts the call on the thread's stack of them
 *   5   call function
 *   11  call slot_leave       which takes it off
 *   16  jmp to behind the call instruction
 *   48  the address of that
 *
 * In all of a slot the stack pointer is the caller's own at the call, so arguments on the stack are
 * where the function looks for them; calls and returns stay in pairs. No register changes, and no
 * flag that is not dead at a call. The function's return address is in the slot.
 *
 * Slots lie in pages of their own; the place of each page's first one has what they share.
 */
#ifndef HCCT_SLOT_H
#define HCCT_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"
#include "preload/redirect/module.h"

#define SLOT_BYTES    64u
#define SLOT_PER_PAGE (WIRE_PAGE / SLOT_BYTES - 1)
#define SLOT_BACK     11u /* in a slot: where the function returns to */

/* One open call. */
struct slot_entry {
    uint64_t place; /* where its return address is on the program's stack */
    uint64_t from;  /* an address in its slot */
    uint64_t fp;    /* the caller's frame pointer */
    /* of the context in which it is made (context/table.h), once somebody has asked; else 0, or
     * one that does not hold any more */
    uint64_t number;
};

/* What a thread has of it. The code knows the layout. */
struct slot_self {
    struct slot_entry *top; /* the innermost; below all is one whose place is UINT64_MAX */
    struct slot_entry *limit;
    uint64_t low, span; /* of the stack whose calls are kept */
};

/* NULL: the calling thread's calls are not kept. */
extern __thread struct slot_self *slot_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* What slots are made by; NULL: this machine has none. */
struct redirect_form;
const struct redirect_form *slot_form(void);

struct slot_page {
    const struct redirect_module *module;
    uint64_t first; /* number of the first slot */
    uint64_t enter, leave;
    uint8_t jump[2][8]; /* to the one and the other */
    uint64_t unused[2];
};

_Static_assert(sizeof(struct slot_page) == SLOT_BYTES, "it has the place of a slot");

static inline const struct slot_page *slot_page_of(uint64_t address) {
    return (const struct slot_page *)(address & ~(uint64_t)(WIRE_PAGE - 1));
}

static inline uint64_t slot_start(uint64_t address) {
    return address & ~(uint64_t)(SLOT_BYTES - 1);
}

/* Of the slot that has this address. */
static inline const struct redirect_site *slot_site(uint64_t address) {
    const struct slot_page *page = slot_page_of(address);
    return &page->module->site[page->first + address % WIRE_PAGE / SLOT_BYTES - 1];
}

/* What it calls. */
static inline struct redirect_callee *slot_callee(uint64_t address) {
    return &slot_page_of(address)->module->callee[slot_site(address)->callee & REDIRECT_CALLEE];
}

/* The return address of the call as the program has it. */
static inline uint64_t slot_back(uint64_t address) {
    return slot_page_of(address)->module->text + slot_site(address)->back;
}

/* An interrupted thread is in the code that all slots share: how many bytes its stack pointer is
 * below what it was in the slot. 0: it is elsewhere. Any context. */
uint64_t slot_helper_depth(uint64_t pc);
/* In the part of a page that all its slots share. */
static inline bool slot_is_head(uint64_t address) {
    return address % WIRE_PAGE < SLOT_BYTES;
}

#endif

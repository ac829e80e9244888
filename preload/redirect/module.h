/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * module.h - a module whose calls are redirected. Private to this room.
 */
#ifndef HCCT_REDIRECT_MODULE_H
#define HCCT_REDIRECT_MODULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/redirect/stub.h"

/* Half a cache line: what a call needs of its site. */
struct redirect_site {
    uint64_t routine;  /* the function that it is in */
    uint64_t function; /* that it calls, as when last reported; 0: it was never */
    uint32_t back;     /* the return address, from the module's text */
    uint32_t callee;   /* index, with REDIRECT_* */
    int32_t cfa;
    uint32_t level; /* encode/shallow.h */
};

#define REDIRECT_BY_FP   (1u << 31) /* the frame goes by the frame pointer */
#define REDIRECT_BY_WORD (1u << 30) /* the function is where a word of the GOT leads */
#define REDIRECT_CALLEE  (REDIRECT_BY_WORD - 1)

struct redirect_callee {
    _Atomic uint64_t routine; /* known to the daemon; through a word: as it was when last seen */
    const uint64_t *word;     /* of the GOT, where the function's address is; NULL: a direct call */
    uint64_t target;          /* of the call instruction; 0: it is through the word itself */
    _Atomic bool dear;        /* encode/dear.h */
};

struct redirect_form;

struct redirect_module {
    const struct redirect_form *form;
    uint64_t text, bytes;
    struct redirect_site *site;
    struct redirect_callee *callee;
    uint32_t sites, callees;
    uint64_t start;       /* of the object */
    const void *eh_frame; /* tells it from another one at the same place */
    uint64_t stubs, stub_bytes;
    struct stub_unwind unwind; /* what an unwinder needs to know of the stubs */
    uint64_t copy;             /* where the text with redirected calls rests */
    uint64_t spare;            /* where the file's text rests meanwhile */
    bool on;
    _Atomic bool stale;     /* other calls are to lead there than those that do in the copy */
    _Atomic uint32_t there; /* all of this is filled, and the object has not gone: its number,
                             * which no other has; else 0 */
};

#endif

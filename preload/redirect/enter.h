/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * enter.h - a redirected call: who has made it, and its report.
 */
#ifndef HCCT_REDIRECT_ENTER_H
#define HCCT_REDIRECT_ENTER_H

#include <stdint.h>

#include "preload/calls/calls.h"
#include "preload/sample/unwind.h"
#include "preload/sample/stack.h"

struct redirect_module;
struct redirect_site;

/* From a stub, which goes on at `back`: the return address of the call is at `slot`, `fp` is the
 * frame pointer there. Uses no register but those for general use. Thread context. */
void redirect_enter(uint64_t back, uint64_t slot, uint64_t fp)
    __attribute__((visibility("hidden")));

struct redirect_call {
    struct calls *calls;
    const struct redirect_module *module;
    const struct redirect_site *site;
    uint64_t slot, fp;
};

#define REDIRECT_STACK_BYTES 32768u

/* What a thread keeps for its redirected calls; stays with its context. */
struct redirect_thread {
    _Alignas(64) struct unwind_cached cache[1u << UNWIND_CACHE_BITS];
    struct calls_frame found[WIRE_MAX_FRAMES];        /* by the walk being made, innermost first */
    _Alignas(64) uint8_t stack[REDIRECT_STACK_BYTES]; /* for what can't be on the program's */
    struct stack_probe probe;
    uint32_t epoch, validity; /* of the rules in the cache */
    _Atomic bool uses;        /* of the text copies: redirect_use */
    struct {                  /* a call through a word that was not bound yet */
        const uint64_t *word; /* NULL: none */
        uint64_t site, slot;
        const struct redirect_module *module; /* the word's, and its number then */
        uint32_t number;
    } unnamed;
    _Alignas(64) uint8_t area[]; /* stub_area_bytes() */
};

/* What redirect_enter can't do in its way: on a stack of its own, all signals blocked. `call` is a
 * struct redirect_call. */
void redirect_enter_rarely(void *call);
/* Compares what was found out with a walk of the whole stack (HCCT_CHECK). As above. */
void redirect_check(void *call);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * enter.h - a redirected call: who has made it, and its report.
 */
#ifndef HCCT_REDIRECT_ENTER_H
#define HCCT_REDIRECT_ENTER_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/calls/calls.h"
#include "preload/sample/unwind.h"

struct redirect_module;
struct redirect_site;

/* What is left as it is for the caller, who has not saved it. */
#if defined(__x86_64__)
#define REDIRECT_SAVES_ALL __attribute__((no_caller_saved_registers))
#else
#define REDIRECT_SAVES_ALL
#endif

/* From a stub, which goes on at `back`: the return address of the call is at `slot`, `fp` is the
 * frame pointer there. Uses no register but those for general use. Thread context. */
void redirect_enter(uint64_t back, uint64_t slot, uint64_t fp)
    __attribute__((visibility("hidden")));
/* The same in the usual case; false: it is another, and nothing has changed. Finds its arguments on
 * the stack, as below, and changes no register but that of its result. */
bool redirect_enter_usual(void) __attribute__((visibility("hidden"))) REDIRECT_SAVES_ALL;

/* From where its frame is on. */
struct redirect_stack {
    uint64_t fp;      /* as the program had it */
    uint64_t to_stub; /* return addresses: of redirect_enter_usual */
    uint64_t result;  /* the register's value */
    uint64_t back;    /* of the common entry */
    uint64_t slot[];  /* of the program's call */
};

struct redirect_call {
    struct calls *calls;
    const struct redirect_module *module;
    struct redirect_site *site;
    uint64_t slot, fp;
};

#define REDIRECT_STACK_BYTES 32768u

/* What a thread keeps for its redirected calls; stays with its context. */
struct redirect_thread {
    _Alignas(64) struct unwind_cached cache[1u << UNWIND_CACHE_BITS];
    struct calls_frame found[WIRE_MAX_FRAMES];        /* by the walk being made, innermost first */
    _Alignas(64) uint8_t stack[REDIRECT_STACK_BYTES]; /* for what can't be on the program's */
    uint32_t epoch, validity;                         /* of the rules in the cache */
    _Atomic bool uses;                                /* of the text copies: redirect_use */
    _Atomic bool dozes;       /* and is in a call that can sleep: it needs none meanwhile */
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

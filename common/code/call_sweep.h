/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_sweep.h - decodes the code of an ELF object, one unwind entry after the other, and finds its
 * calls. x86-64 only.
 *
 * Each entry's code is decoded from its first byte to its last. Compilers put no data between
 * instructions; where code does not decode as a whole, so that instructions after some place are
 * guessed, none of its calls is to be touched.
 */
#ifndef HCCT_CALL_SWEEP_H
#define HCCT_CALL_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/call_targets.h"
#include "common/wire/call_sites.h"

/* A direct call, or one through a word of the GOT. */
struct swept_call {
    uint64_t at;      /* address of its e8, or of its second byte */
    uint64_t target;  /* address; by_word: of the word */
    uint64_t routine; /* address of the unwind entry */
    int32_t cfa;
    bool by_word;
    uint8_t frame; /* enum call_site_frame */
    uint8_t left;  /* enum call_sites_left; CALL_LEFT_REASONS: nothing is known against it */
};

struct call_sweep {
    struct swept_call *calls; /* sorted by address */
    size_t n_calls, room_calls;
    uint64_t covered;                 /* bytes of code in unwind entries */
    uint64_t left[CALL_LEFT_REASONS]; /* INDIRECT, TAIL and NO_ENTRY; the rest is said of `calls` */
};

/* False: no memory. To be cleared in any case. */
bool call_sweep_run(struct call_sweep *sweep, const struct call_targets *targets);
void call_sweep_clear(struct call_sweep *sweep);

#endif

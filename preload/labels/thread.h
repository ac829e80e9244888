/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thread.h - the labels of a thread: what it has said, and what the daemon knows of it.
 */
#ifndef HCCT_LABELS_THREAD_H
#define HCCT_LABELS_THREAD_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define LABEL_BITS 16 /* of a number, four to a word: outermost lowest, 0 where there is none */

_Static_assert(WIRE_LABELS *LABEL_BITS == 64 && WIRE_LABEL_IDS <= 1u << LABEL_BITS, "one word");

/* The calling thread's. Only it writes, in one store, and its handler reads. */
extern __thread _Atomic uint64_t labels_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline uint32_t labels_nth(uint64_t labels, unsigned i) {
    return (uint32_t)(labels >> i * LABEL_BITS) & ((1u << LABEL_BITS) - 1);
}

/* What a stream has sent of them. */
struct labels_sent {
    uint64_t now;                        /* those of the daemon's cursor */
    uint64_t named[WIRE_LABEL_IDS / 64]; /* bit by number: its text was sent */
};

#endif

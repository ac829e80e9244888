/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_names_of.h - what generated code is called, now or after a while.
 */
#ifndef HCCT_TEST_JIT_NAMES_OF_H
#define HCCT_TEST_JIT_NAMES_OF_H

#include <poll.h>
#include <string.h>

#include "common/code/jit_code.h"
#include "common/code/jit_names.h"

/* Times 10 ms: readings are rare where they take long, and one of a list that is a circle takes a
 * slow machine 0.2 s. */
#define PATIENCE 6000

static inline const char *name_at(struct jit_code *jit, uint64_t address) {
    return jit_name(jit_code_name(jit, address));
}

/* The name in the end. */
static inline const char *awaited(struct jit_code *jit, uint64_t address, const char *name) {
    for (unsigned i = 0; i < PATIENCE && strcmp(name_at(jit, address), name) != 0; i++) {
        poll(NULL, 0, 10);
        jit_code_poll(jit);
    }
    return name_at(jit, address);
}

#endif

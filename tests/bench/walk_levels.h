/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * walk_levels.h - a recursion through functions whose frames differ, as the compiler makes them,
 * once without frame pointers and once with.
 */
#ifndef HCCT_TESTS_WALK_LEVELS_H
#define HCCT_TESTS_WALK_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

struct route {
    const uint32_t *turn; /* which function and which of its calls, for each level: any number */
    bool framed;          /* through functions that keep a frame pointer */
    void (*bottom)(void *arg);
    void *arg;
};

/* Calls route->bottom `levels` levels deep. Any thread. */
uint64_t walk_levels(const struct route *route, uint32_t levels);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * places.h - locations of many profiles as those of one: what their address tells is one place,
 * with whatever symbols the profiles had for it; the better ones are kept.
 */
#ifndef HCCT_PLACES_H
#define HCCT_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/intern.h"
#include "common/profile/profile.h"

/* All zero but `to` is an empty one. */
struct places {
    struct profile *to;
    struct intern by_place; /* locations that their address tells */
    uint32_t *list;
    uint32_t n, room;
};

/* The location of places->to that stands for that of `from`, made where there is none. *better: it
 * was there, and has the lines of `from` from now on, which have names; NULL is allowed. */
uint32_t places_add(struct places *places, const struct profile *from, uint32_t location,
                    bool *better);
/* A location that places->to has. */
void places_know(struct places *places, uint32_t location);
void places_free(struct places *places);

#endif

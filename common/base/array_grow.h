/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * array_grow.h - room for one more in an array that doubles.
 */
#ifndef HCCT_ARRAY_GROW_H
#define HCCT_ARRAY_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* `items` is the address of the pointer to an array of n items with room for *room. False, and
 * nothing changed: no memory. */
bool array_grow(void *items, size_t n, size_t *room, size_t item_bytes);

#endif

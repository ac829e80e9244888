/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * array_grow.c - room for one more in an array that doubles.
 */
#include "common/base/array_grow.h"

#include <stdlib.h>
#include <string.h>

#include "common/wire/compiler.h"

#define ROOM_FIRST 64

bool array_grow(void *items, size_t n, size_t *room, size_t item_bytes) {
    if (hcct_likely(n < *room))
        return true;
    size_t wanted = *room == 0 ? ROOM_FIRST : *room * 2;
    void *array; /* copied in and out, as the caller's pointer is of a type not known here */
    memcpy(&array, items, sizeof array);
    array = reallocarray(array, wanted, item_bytes);
    if (array == NULL)
        return false;
    memcpy(items, &array, sizeof array);
    *room = wanted;
    return true;
}

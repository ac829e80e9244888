/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * table.h - the labels of a process: one small number for each text "key=value".
 *
 * Labels are only added, without a lock, and stay for good, in children of fork, too. So there are
 * LABEL_VALUES of them: a key's values beyond become one, "key=[other]". Who sets identifiers as
 * values has that, and pays for no more.
 */
#ifndef HCCT_LABELS_TABLE_H
#define HCCT_LABELS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/wire/wire.h"

#define LABEL_VALUES    1000u /* of all keys together, the keys' "[other]" included */
#define LABEL_KEYS      16u
#define LABEL_KEY_BYTES 31u /* longer ones are none */

struct label {
    uint32_t hash;
    uint32_t length;
    char text[WIRE_LABEL_ROOM];
};

_Static_assert(sizeof(struct label) == 128, "two cache lines");

/* The bytes of a key; of one that is too long more than LABEL_KEY_BYTES. */
static inline size_t label_key_length(const char *key) {
    return strnlen(key, LABEL_KEY_BYTES + 1);
}

/* Whether a label can have that key: 1 to LABEL_KEY_BYTES letters, digits and "_.-", a letter
 * first. Any context. */
bool label_is_key(const char *key, size_t length);

/* The number of a label, made on first sight, of a key of so many bytes; long values are cut
 * between characters. 0: the key is none, or there is no room for it. `*placed`: the value has its
 * own. Makes a system call at the first label: thread context, and any once there is a label. */
uint32_t label_intern(const char *key, size_t length, const char *value, bool *placed);

/* One that label_intern has given. Any context. */
const struct label *label_at(uint32_t id);

/* Where labels of that key stand among others in a thread: by name, the same in all runs. Any
 * context. */
bool label_is_before(const struct label *label, const struct label *other);
/* Whether it is one of that key. Any context. */
static inline bool label_is_of(const struct label *label, const char *key, size_t length) {
    return label->length > length && label->text[length] == '=' &&
           memcmp(label->text, key, length) == 0;
}

#endif

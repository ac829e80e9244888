/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tags.h - what the user calls a run: KEY=VALUE,KEY=VALUE, such as build=417,host=db1.
 */
#ifndef HCCT_TAGS_H
#define HCCT_TAGS_H

#include <stdbool.h>
#include <stddef.h>

#define TAGS_ROOM 256u /* bytes of a text, its end included */

/* What TAGS can be, for messages. */
#define TAGS_EXPECTED "KEY=VALUE,KEY=VALUE of up to 255 bytes, such as build=417,host=db1"

/* One tag: parts of the text, not terminated. */
struct tag {
    const char *key, *value;
    size_t key_length, value_length;
};

/* Whether `text` is tags, one at least: keys of letters, digits and _.- that begin with a letter
 * (and are neither process nor pid, which profiles say by themselves), values of one character at
 * least without commas, quotes, backslashes and control characters. Any context. */
bool tags_check(const char *text);

/* The next tag of `*text`, which goes behind it; false at the end, or where it is no tag. Any
 * context. */
bool tags_next(const char **text, struct tag *tag);

/* Whether `tag`, KEY=VALUE, is one of `text`. Any context. */
bool tags_have(const char *text, const char *tag);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tags.c - by hand, as the agent has no use for libc's locale.
 */
#include "common/wire/tags.h"

#include <string.h>

#include "common/wire/compiler.h"

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_in_key(char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

static bool is_in_value(char c) {
    return (unsigned char)c >= ' ' && c != 0x7f && c != ',' && c != '"' && c != '\\';
}

static bool is_reserved(const struct tag *tag) {
    static const char *const reserved[] = {"process", "pid"};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(reserved); i++)
        if (strlen(reserved[i]) == tag->key_length &&
            memcmp(reserved[i], tag->key, tag->key_length) == 0)
            return true;
    return false;
}

bool tags_next(const char **text, struct tag *tag) {
    const char *p = *text;
    *tag = (struct tag){.key = p};
    if (!is_letter(*p))
        return false;
    while (is_in_key(*p))
        p++;
    tag->key_length = (size_t)(p - tag->key);
    if (*p != '=' || is_reserved(tag))
        return false;
    tag->value = ++p;
    while (is_in_value(*p))
        p++;
    tag->value_length = (size_t)(p - tag->value);
    bool more = *p == ',' && p[1] != '\0';
    if (tag->value_length == 0 || (*p != '\0' && !more))
        return false;
    *text = p + more;
    return true;
}

bool tags_check(const char *text) {
    struct tag tag;
    if (*text == '\0' || strlen(text) >= TAGS_ROOM)
        return false;
    while (tags_next(&text, &tag))
        ;
    return *text == '\0';
}

bool tags_have(const char *text, const char *tag) {
    struct tag have;
    size_t length = strlen(tag);
    while (tags_next(&text, &have))
        if (length == have.key_length + 1 + have.value_length && memcmp(have.key, tag, length) == 0)
            return true;
    return false;
}

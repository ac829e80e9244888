/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * utf8.c - recognise, measure and repair UTF-8 (RFC 3629: no surrogates, nothing overlong).
 */
#include "common/base/utf8.h"

#include <stdint.h>
#include <string.h>
#include <wchar.h>

/* Lead bytes from..to take `length` bytes, of which the second lies in low..high. */
static const struct lead {
    uint8_t from, to, length, low, high;
} leads[] = {
    {0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf}, {0xe1, 0xec, 3, 0x80, 0xbf},
    {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf}, {0xf0, 0xf0, 4, 0x90, 0xbf},
    {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f},
};

size_t utf8_length(const char *text) {
    const uint8_t *byte = (const uint8_t *)text;
    if (byte[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++) {
        const struct lead *lead = &leads[i];
        if (byte[0] < lead->from || byte[0] > lead->to)
            continue;
        if (byte[1] < lead->low || byte[1] > lead->high)
            return 0;
        for (size_t k = 2; k < lead->length; k++)
            if ((byte[k] & 0xc0) != 0x80)
                return 0;
        return lead->length;
    }
    return 0;
}

/* Names are nearly all ASCII: eight characters at a time are passed over where none is above it. */
bool utf8_is_valid(const char *text, size_t length) {
    const char *end = text + length;
    uint64_t eight;
    while (text < end) {
        size_t n = sizeof eight;
        if ((size_t)(end - text) >= n)
            memcpy(&eight, text, n);
        else
            eight = UINT64_MAX;
        if ((eight & 0x8080808080808080u) != 0)
            n = utf8_length(text);
        if (n == 0)
            return false;
        text += n;
    }
    return true;
}

uint32_t utf8_decode(const char *text, size_t bytes) {
    static const uint8_t lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (uint8_t)text[0] & lead[bytes];
    for (size_t i = 1; i < bytes; i++)
        c = c << 6 | ((uint8_t)text[i] & 0x3f);
    return c;
}

size_t utf8_measure(const char *text, size_t *columns) {
    size_t bytes = utf8_length(text);
    int width;
    *columns = 1;
    if (bytes < 2)
        return 1;
    width = wcwidth((wchar_t)utf8_decode(text, bytes));
    if (width >= 0)
        *columns = (size_t)width;
    return bytes;
}

size_t utf8_columns(const char *text) {
    size_t sum = 0, columns;
    while (*text != '\0') {
        text += utf8_measure(text, &columns);
        sum += columns;
    }
    return sum;
}

/* Characters that a terminal does not show, or that change how it shows others. */
static const struct range {
    uint32_t first, last;
} hidden[] = {{0x80, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
              {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
              {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};

size_t utf8_printable(const char *text) {
    size_t length = utf8_length(text);
    uint32_t point;
    if (length == 0)
        return 0;
    if (length == 1)
        return (uint8_t)*text >= ' ' && *text != 0x7f ? 1 : 0;
    point = utf8_decode(text, length);
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (point >= hidden[i].first && point <= hidden[i].last)
            return 0;
    return length;
}

bool utf8_is_printable(const char *text) {
    for (size_t n; *text != '\0'; text += n)
        if ((n = utf8_printable(text)) == 0)
            return false;
    return true;
}

/* What stands for the character or the byte at `text`, which is not printable; *bytes: how many it
 * has. */
static char replacement(const char *text, size_t *bytes) {
    *bytes = utf8_length(text);
    if (*bytes > 0)
        return ' ';
    *bytes = 1;
    return '?';
}

void utf8_clean(char *text) {
    char *to = text;
    while (*text != '\0') {
        size_t n = utf8_printable(text);
        if (n > 0) {
            memmove(to, text, n);
            to += n;
        } else {
            *to++ = replacement(text, &n);
        }
        text += n;
    }
    *to = '\0';
}

void utf8_copy_clean(char *text, size_t bytes, const char *from) {
    snprintf(text, bytes, "%s", from);
    utf8_clean(text);
}

void utf8_put(FILE *out, const char *text) {
    while (*text != '\0') {
        size_t n = utf8_printable(text);
        if (n > 0)
            fwrite(text, 1, n, out);
        else
            fputc(replacement(text, &n), out);
        text += n;
    }
}

void utf8_repair(char *out, const char *text) {
    while (*text != '\0') {
        size_t n = utf8_length(text);
        if (n > 0) {
            memcpy(out, text, n);
            out += n;
            text += n;
        } else {
            memcpy(out, "\xef\xbf\xbd", 3);
            out += 3;
            text++;
        }
    }
    *out = '\0';
}

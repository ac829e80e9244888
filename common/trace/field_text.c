/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * field_text.c - writing to memory, and reading without trust.
 */
#include "common/trace/field_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint32_t *field_text_write(void (*put)(FILE *out, const void *about), const void *about,
                           size_t *words) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL)
        return NULL;
    put(out, about);
    bool whole = fclose(out) == 0;
    *words = (bytes + 3) / 4;
    uint32_t *filled = whole ? calloc(*words + 1, 4) : NULL;
    if (filled != NULL)
        memcpy(filled, text, bytes);
    free(text);
    return filled;
}

void field_text_put(FILE *out, const char *name, const char *value) {
    fprintf(out, "%s%c%s%c", name, '\0', value, '\0');
}

void field_text_put_number(FILE *out, const char *name, uint64_t number) {
    if (number != 0)
        fprintf(out, "%s%c%" PRIu64 "%c", name, '\0', number, '\0');
}

bool field_text_read(const char *text, size_t bytes,
                     bool (*take)(void *about, const char *name, const char *value), void *about) {
    const char *end = text + bytes;
    while (text < end && *text != '\0') {
        const char *value = memchr(text, '\0', (size_t)(end - text));
        if (value == NULL || ++value == end)
            return false;
        const char *after = memchr(value, '\0', (size_t)(end - value));
        if (after == NULL || !take(about, text, value))
            return false;
        text = after + 1;
    }
    while (text < end && *text == '\0')
        text++;
    return text == end;
}

bool field_text_number(const char *value, uint64_t *number) {
    char *end;
    errno = 0;
    *number = strtoull(value, &end, 10);
    return value[0] >= '0' && value[0] <= '9' && *end == '\0' && errno == 0;
}

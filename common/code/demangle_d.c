/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * demangle_d.c - D, by libiberty.
 *
 * Its demangler has the whole text in memory before we see any of it. "Q" and a number stand for a
 * type that was written before, which may contain others: a name of 100 bytes can stand for more
 * than there is memory. So what it could grow to is found out first.
 */
#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/code/demangle_language.h"

#define GROWTH_MAX (1u << 20)

/* How far back the number at `text` points: base 26, the last digit in lower case. 0: it is none,
 * or points before the name. */
static size_t distance_at(const char *text, size_t most) {
    size_t n = 0;
    while (isupper((unsigned char)*text) && n <= most)
        n = 26 * n + (size_t)(*text++ - 'A');
    if (!islower((unsigned char)*text))
        return 0;
    n = 26 * n + (size_t)(*text - 'a');
    return n <= most ? n : 0;
}

/* What points to a digit repeats an identifier, which contains no more of these. Else all that was
 * between may come again. */
static bool grows_too_much(const char *name) {
    static uint64_t grown[DEMANGLE_INPUT_MAX + 1]; /* by place: what comes before it */
    for (size_t i = 0; name[i] != '\0'; i++) {
        size_t back = name[i] == 'Q' ? distance_at(&name[i + 1], i) : 0;
        bool repeats = back > 0 && !isdigit((unsigned char)name[i - back]);
        grown[i + 1] = grown[i] + 1 + (repeats ? grown[i] - grown[i - back] : 0);
        if (grown[i + 1] > GROWTH_MAX)
            return true;
    }
    return false;
}

bool demangle_d(const char *name, char readable[DEMANGLE_NAME_MAX + 1]) {
    if (strncmp(name, "_D", 2) != 0 || grows_too_much(name))
        return false;
    char *whole = dlang_demangle(name, DMGL_PARAMS);
    if (whole == NULL)
        return false;
    size_t n = strnlen(whole, DEMANGLE_NAME_MAX);
    memcpy(readable, whole, n);
    readable[n] = '\0';
    free(whole);
    return n > 0;
}

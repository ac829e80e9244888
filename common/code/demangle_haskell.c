/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * demangle_haskell.c - names that GHC makes of functions.
 *
 *   containerszm0zi6zi4zi1_DataziMapziInternal_balanceR_info    Data.Map.Internal.balanceR
 *   Main_zdwgo_info                                             Main.$wgo
 *   ghczmprim_GHCziTypes_True_con_info                          GHC.Types.True
 *
 * The parts are encoded, so that a "_" between them is never one of a name: a package, which is not
 * shown, a module, a name, and what kind of code it is. C functions may look the same
 * (Widget_get_info): what has no mark that only the encoding makes stays as it is.
 */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "common/code/demangle_language.h"
#include "common/wire/compiler.h"

/* Entries of the same function: to it itself, with its arguments on the stack, and the like. */
static const char *const code_kinds[] = {"_con_info", "_con_entry", "_info", "_entry",
                                         "_slow",     "_fast",      "_ret"};

/* What a letter behind "z", or behind "Z", stands for. */
static const char lower_codes[] = "a&b|c^d$e=g>h#i.l<m-n!p+q'r\\s/t*u_v%zz";
static const char upper_codes[] = "L(R)M[N]C:ZZ";

struct part {
    const char *text;
    size_t length;
};

/* Bytes of `name` without what says its kind; 0: it is no kind of code. */
static size_t length_without_kind(const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(code_kinds); i++) {
        size_t kind = strlen(code_kinds[i]);
        if (length > kind && strcmp(name + length - kind, code_kinds[i]) == 0)
            return length - kind;
    }
    return 0;
}

/* How many parts, at most `max`; 0: more, or one is empty. */
static size_t split(const char *name, size_t length, struct part *parts, size_t max) {
    size_t count = 0, from = 0;
    for (size_t i = 0; i <= length; i++) {
        if (i < length && name[i] != '_')
            continue;
        if (i == from || count == max)
            return 0;
        parts[count++] = (struct part){name + from, i - from};
        from = i + 1;
    }
    return count;
}

/* The character for the letter behind a "z" or "Z"; 0: there is none. */
static char letter_code(const char *codes, char letter) {
    for (size_t i = 0; codes[i] != '\0'; i += 2)
        if (codes[i] == letter)
            return codes[i + 1];
    return '\0';
}

/* "Z3T" is the tuple (,,), "Z0T" is (). Bytes that were read; 0: it is none. */
static size_t put_tuple(char **to, const char *text, size_t n) {
    if (n < 3 || !isdigit((unsigned char)text[1]) || text[2] != 'T')
        return 0;
    *(*to)++ = '(';
    for (int i = 1; i < text[1] - '0'; i++)
        *(*to)++ = ',';
    *(*to)++ = ')';
    return 3;
}

/* Decodes a part. False: it is not encoded so. */
static bool put_decoded(char **to, const struct part *part, const char *end) {
    for (size_t i = 0; i < part->length; i++) {
        char c = part->text[i];
        if (!isalnum((unsigned char)c) || end - *to < 16)
            return false;
        if (c != 'z' && c != 'Z') {
            *(*to)++ = c;
            continue;
        }
        char next = i + 1 < part->length ? part->text[i + 1] : '\0';
        char shown = letter_code(c == 'z' ? lower_codes : upper_codes, next);
        size_t tuple =
            shown == '\0' && c == 'Z' ? put_tuple(to, part->text + i, part->length - i) : 0;
        if (shown != '\0')
            *(*to)++ = shown;
        else if (tuple == 0)
            return false;
        i += tuple > 0 ? tuple - 1 : 1;
    }
    return true;
}

/* Words that begin with capitals, between dots; `is_nested`: there are several. */
static bool is_module(const char *text, const char *end, bool *is_nested) {
    bool at_begin = true;
    *is_nested = false;
    for (; text < end; text++) {
        if (at_begin ? !isupper((unsigned char)*text)
                     : !isalnum((unsigned char)*text) && strchr("._'", *text) == NULL)
            return false;
        *is_nested |= *text == '.';
        at_begin = *text == '.';
    }
    return !at_begin;
}

/* "text-2.0.2": a package has its version, and the libraries of GHC itself a hyphen at least. */
static bool is_package(const struct part *part) {
    char text[256], *to = text;
    return put_decoded(&to, part, text + sizeof text) && memchr(text, '-', (size_t)(to - text));
}

bool demangle_haskell(const char *name, char readable[DEMANGLE_NAME_MAX + 1]) {
    struct part parts[3];
    size_t length = length_without_kind(name);
    size_t count = length > 0 ? split(name, length, parts, HCCT_ARRAY_LEN(parts)) : 0;
    if (count < 2)
        return false;
    const struct part *module = &parts[count - 2];
    const char *end = readable + DEMANGLE_NAME_MAX;
    char *to = readable;
    bool is_nested;
    if (!put_decoded(&to, module, end))
        return false;
    const char *words =
        readable + (to > readable && readable[0] == ':'); /* :Main calls Main.main */
    if (!is_module(words, to, &is_nested))
        return false;
    bool is_main = to - words == 4 && memcmp(words, "Main", 4) == 0;
    if (!is_nested && !is_main && !(count == 3 && is_package(&parts[0])))
        return false;
    *to++ = '.';
    if (!put_decoded(&to, &parts[count - 1], end))
        return false;
    *to = '\0';
    return true;
}

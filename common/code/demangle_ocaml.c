/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * demangle_ocaml.c - names that ocamlopt makes of functions.
 *
 *   camlStdlib__List__map_236    OCaml 4 and 5.0, function map of Stdlib.List
 *   camlStdlib__List.map_236     OCaml 5.1 and later
 *   camlStdlib__$5e_140          the operator ^
 *   camlFoo__fun_164             an anonymous function, shown as Foo.fun_164: the number tells it
 *   camlFoo__entry               what a module does when it is loaded
 *
 * A name must be whole in this form: C functions may begin with "caml" as well, and those of the
 * runtime do (caml_alloc), but end with no such number, or name no module.
 */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "common/code/demangle_language.h"
#include "common/wire/compiler.h"

/* Without a number. */
static const char *const plain_names[] = {"entry", "code_begin", "code_end"};

static bool is_in_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static int hex_value(char c) {
    return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Between parts: "__" or a dot. 0: neither. */
static size_t separator_length(const char *text) {
    return text[0] == '.' ? 1 : text[0] == '_' && text[1] == '_' ? 2 : 0;
}

/* Bytes of the module name at `text`, up to a separator. 0: there is none. Dune calls a module of a
 * program Dune__exe__Main: a lower-case part that is followed by a module is one. */
static size_t module_length(const char *text, bool is_first) {
    size_t n = 0, between;
    while (is_in_word(text[n]) && separator_length(text + n) == 0)
        n++;
    between = separator_length(text + n);
    if (between == 0 || isupper((unsigned char)text[0]))
        return between > 0 ? n : 0;
    return !is_first && islower((unsigned char)text[0]) && isupper((unsigned char)text[n + between])
               ? n
               : 0;
}

/* Bytes of the function's name at `text` that are shown. 0: it is no such name. */
static size_t function_length(const char *text) {
    size_t n = strlen(text), digits = n;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(plain_names); i++)
        if (strcmp(text, plain_names[i]) == 0)
            return n;
    while (digits > 0 && isdigit((unsigned char)text[digits - 1]))
        digits--;
    if (digits == n || digits < 2 || text[digits - 1] != '_')
        return 0;
    if (!islower((unsigned char)text[0]) && text[0] != '_' && text[0] != '$')
        return 0;
    for (size_t i = 0; i < digits; i++)
        if (!is_in_word(text[i]))
            return 0;
    return strncmp(text, "fun_", 4) == 0 && digits == 4 ? n : digits - 1;
}

/* Copies n bytes; "$5e" is the character of that number. False: such a number is none that can be
 * shown. At most n bytes are written. */
static bool put_decoded(char **to, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (text[i] != '$') {
            *(*to)++ = text[i];
            continue;
        }
        int high = i + 2 < n ? hex_value(text[i + 1]) : -1;
        int low = high >= 0 ? hex_value(text[i + 2]) : -1;
        int byte = low >= 0 ? 16 * high + low : 0;
        if (byte <= ' ' || byte == 0x7f)
            return false;
        *(*to)++ = (char)byte;
        i += 2;
    }
    return true;
}

bool demangle_ocaml(const char *name, char readable[DEMANGLE_NAME_MAX + 1]) {
    const char *at = name + 4;
    char *to = readable;
    size_t n;
    if (strncmp(name, "caml", 4) != 0 || strlen(name) > DEMANGLE_NAME_MAX)
        return false;
    while ((n = module_length(at, to == readable)) > 0) {
        if (!put_decoded(&to, at, n))
            return false;
        *to++ = '.';
        at += n + separator_length(at + n);
    }
    n = to > readable ? function_length(at) : 0;
    if (n == 0 || !put_decoded(&to, at, n))
        return false;
    *to = '\0';
    return true;
}

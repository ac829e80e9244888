/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * demangle.c - what is left out of a name, and which language it may be of.
 */
#include "common/code/demangle.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/code/demangle_language.h"
#include "common/wire/compiler.h"

/* What compilers append, after a dot, to the names of functions they split or copied. */
static const char *const clone_marks[] = {
    "cold", "part", "constprop", "isra", "lto_priv", "localalias", "llvm", "__uniq",
};

/* The first that knows the name. All look for marks of their own, and no two have the same. */
static demangle_language *const languages[] = {demangle_rust, demangle_cxx, demangle_d,
                                               demangle_ocaml, demangle_haskell};

static bool is_clone_mark(const char *word, size_t length) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(clone_marks); i++)
        if (strlen(clone_marks[i]) == length && memcmp(word, clone_marks[i], length) == 0)
            return true;
    return false;
}

static bool is_number(const char *word, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)word[i]))
            return false;
    return length > 0;
}

/* Bytes of the name without ".cold" and the like. Numbers belong to the word before them: they go
 * only when that goes, as `f.0` may be a nested function of its own. */
static size_t length_without_marks(const char *name, size_t length) {
    size_t end = length, kept = length;
    while (end > 0) {
        size_t dot = end;
        while (dot > 0 && name[dot - 1] != '.')
            dot--;
        if (dot <= 1) /* no dot, or a name that begins with one */
            break;
        if (is_clone_mark(name + dot, end - dot))
            kept = dot - 1;
        else if (!is_number(name + dot, end - dot))
            break;
        end = dot - 1;
    }
    return kept;
}

char *demangle(const char *system_name) {
    char raw[DEMANGLE_INPUT_MAX + 1], readable[DEMANGLE_NAME_MAX + 1];
    size_t whole = strnlen(system_name, sizeof raw);
    if (whole == sizeof raw)
        return strndup(system_name, DEMANGLE_NAME_MAX);
    const char *version = memchr(system_name, '@', whole);
    size_t length =
        version != NULL && version != system_name ? (size_t)(version - system_name) : whole;
    length = length_without_marks(system_name, length);
    memcpy(raw, system_name, length);
    raw[length] = '\0';
    for (size_t i = 0; i < HCCT_ARRAY_LEN(languages); i++)
        if (languages[i](raw, readable))
            return strdup(readable);
    return strndup(raw, DEMANGLE_NAME_MAX);
}

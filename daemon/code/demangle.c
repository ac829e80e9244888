/*
 * demangle.c - names of the linker made readable, by libiberty.
 */
#include "daemon/code/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"

/* What compilers append, after a dot, to the names of functions they split or copied. */
static const char *const clone_marks[] = {
    "cold", "part", "constprop", "isra", "lto_priv", "localalias", "llvm", "__uniq",
};

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
    const char *version = strchr(system_name, '@');
    size_t length = version != NULL && version != system_name ? (size_t)(version - system_name)
                                                              : strlen(system_name);
    length = length_without_marks(system_name, length);
    char *raw = strndup(system_name, length);
    if (raw == NULL)
        return NULL;
    char *readable = cplus_demangle(raw, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
    if (readable == NULL)
        readable = raw;
    char *name = strndup(readable, DEMANGLE_NAME_MAX);
    if (readable != raw)
        free(readable);
    free(raw);
    return name;
}

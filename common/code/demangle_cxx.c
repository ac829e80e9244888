/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * demangle_cxx.c - C++ and Rust, by libiberty.
 *
 * Short names can stand for endless ones, as each part may name earlier parts: the text is taken
 * piece by piece, and the demangler is left as soon as there is enough. What it keeps meanwhile is
 * on its stack; a Rust name that is not ASCII may leave a few bytes of the heap behind.
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stddef.h>
#include <string.h>

#include "common/code/demangle_language.h"

typedef int demangler(const char *mangled, int options, demangle_callbackref put, void *arg);

struct taking {
    char *to;
    size_t n;
    jmp_buf enough;
};

static void take(const char *text, size_t length, void *arg) {
    struct taking *taking = arg;
    size_t room = DEMANGLE_NAME_MAX - taking->n, n = length < room ? length : room;
    if (n > 0) /* a piece of nothing may be nowhere */
        memcpy(taking->to + taking->n, text, n);
    taking->n += n;
    if (n < length)
        longjmp(taking->enough, 1);
}

static bool run(demangler *parse, int options, const char *name, char *readable) {
    struct taking taking = {.to = readable};
    bool known = true;
    if (setjmp(taking.enough) == 0)
        known = parse(name, options, take, &taking) != 0;
    else
        taking.n = DEMANGLE_NAME_MAX;
    readable[taking.n] = '\0';
    return known && taking.n > 0;
}

bool demangle_cxx(const char *name, char readable[DEMANGLE_NAME_MAX + 1]) {
    return name[0] == '_' && run(cplus_demangle_v3_callback,
                                 DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT, name, readable);
}

bool demangle_rust(const char *name, char readable[DEMANGLE_NAME_MAX + 1]) {
    return name[0] == '_' && run(rust_demangle_callback, DMGL_AUTO, name, readable);
}

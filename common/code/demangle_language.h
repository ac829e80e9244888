/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * demangle_language.h - one function for each language whose names demangle() knows.
 */
#ifndef HCCT_DEMANGLE_LANGUAGE_H
#define HCCT_DEMANGLE_LANGUAGE_H

#include <stdbool.h>

#include "common/code/demangle.h"

/* Longer names are not demangled. libiberty's parsers call themselves up to some times for each
 * byte: this fits into half a megabyte for its tables and 4 for its stack. */
#define DEMANGLE_INPUT_MAX 8192

/* False: `name`, of at most DEMANGLE_INPUT_MAX bytes, is none of this language. Otherwise
 * `readable` is what to show, its first DEMANGLE_NAME_MAX bytes, ended by a NUL. Not thread-safe.
 */
typedef bool demangle_language(const char *name, char readable[DEMANGLE_NAME_MAX + 1]);

demangle_language demangle_cxx;     /* _Z... */
demangle_language demangle_rust;    /* _R..., and _ZN...17h<hash>E, whose hash is left out */
demangle_language demangle_d;       /* _D... */
demangle_language demangle_ocaml;   /* camlModule__name_12, camlModule.name_12 */
demangle_language demangle_haskell; /* package_DataziModule_name_info */

#endif

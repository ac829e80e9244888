/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * demangle.h - names of the linker made readable.
 *
 * Runs in the worker child, whose limits end what is not foreseen here. A hostile name costs
 * little: long ones are left as they are, and what a short one would expand to is not written to
 * its end.
 */
#ifndef HCCT_DEMANGLE_H
#define HCCT_DEMANGLE_H

#define DEMANGLE_NAME_MAX 4096 /* bytes that are kept of a name */

/* The name for people of a symbol, malloc'ed; NULL: no memory. Names of C++, Rust, D, OCaml and
 * Haskell are demangled; versions (@GLIBC_2.14) and the marks of parts and copies that the compiler
 * made of a function (.cold, .part.0, .constprop.0, .isra.0, ...) are left out, so that it is one
 * function. Other suffixes stay: "f(int) [clone .avx2]". */
char *demangle(const char *system_name);

#endif

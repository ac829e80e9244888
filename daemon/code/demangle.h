/*
 * demangle.h - names of the linker made readable.
 *
 * Runs in the worker child: a hostile name may cost much time or memory, which its limits end.
 */
#ifndef HCCT_DEMANGLE_H
#define HCCT_DEMANGLE_H

#define DEMANGLE_NAME_MAX 4096 /* bytes that are kept of a name */

/* The name for people of a symbol, malloc'ed; NULL: no memory. C++ and Rust names are demangled;
 * versions (@GLIBC_2.14) and the marks of parts and copies that the compiler made of a function
 * (.cold, .part.0, .constprop.0, .isra.0, ...) are left out. */
char *demangle(const char *system_name);

#endif

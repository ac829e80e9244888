/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * next_symbol.h - dlsym(RTLD_NEXT), some thirty times faster: a program that is over in a moment
 * has no time for a hundred searches.
 */
#ifndef HCCT_NEXT_SYMBOL_H
#define HCCT_NEXT_SYMBOL_H

/* The function of that name in the first object that has one, of those that follow this one in the
 * order in which they were loaded; NULL: there is none. As dlsym does, it gives the default
 * version. Takes the loader's lock only for what is not a plain function. Process context, once all
 * objects are there that the program begins with; later, any that may call dlsym. */
void *next_symbol(const char *name);

/* The same of n names, in less time. */
void next_symbols(const char *const *names, void **found, unsigned n);

enum symbol_answer { SYMBOL_MISSING, SYMBOL_THERE, SYMBOL_UNKNOWN };
/* Whether the object that has `code` defines a symbol for others to use. Any context. */
enum symbol_answer symbol_beside(const void *code, const char *name);

#endif

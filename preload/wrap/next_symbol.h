/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * next_symbol.h - dlsym(RTLD_NEXT), some thirty times faster: a program that is over in a moment
 * has no time for a hundred searches.
 */
#ifndef HCCT_NEXT_SYMBOL_H
#define HCCT_NEXT_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

/* The function of that name in the first object that has one, of those that follow this one in the
 * order in which they were loaded; NULL: there is none. As dlsym does, it gives the default
 * version. Takes the loader's lock only for what is not a plain function. Process context, once all
 * objects are there that the program begins with; later, any that may call dlsym. */
void *next_symbol(const char *name);

/* The same of n names, in less time. */
void next_symbols(const char *const *names, void **found, unsigned n);

/* The same of plain functions, where no loader is asked: NULL: not found. Takes no lock, and looks
 * at what the loader says is there. */
void next_symbols_unasked(const char *const *names, void **found, unsigned n);

/* From now on those of all objects, the first of them: this one was loaded late, behind all that is
 * meant. Process context. */
void next_symbol_from_first(void);

/* As next_symbol, calling nothing of libc where that has an ordinary table of symbols: a sanitizer
 * asks for dlsym before it can do what it stands before. Any context that may call dlsym. */
void *next_by_itself(const char *name);

/* libc's own function of that name, which other objects may stand before; NULL: not found. Process
 * context. */
void *libc_symbol(const char *name);

/* The function or variable of that name, in the first of all objects that has one, and a table of
 * hashes; NULL: none has. Takes no lock: for a moment in which no object is opened or closed.
 * Process context. */
void *symbol_anywhere(const char *name);

/* What stands behind a function of this object that others can use: the next one of its name; 0: it
 * is none, or only the loader could tell. Takes no lock. Any context that stays in its objects. */
uint64_t next_behind(uint64_t own);

/* Whether an object has a thread-local variable of that name for others to use, and where in its
 * block that is. Any context in which the object stays. */
struct dl_phdr_info;
bool symbol_thread_local(const struct dl_phdr_info *info, const char *name, uint64_t *offset);

enum symbol_answer { SYMBOL_MISSING, SYMBOL_THERE, SYMBOL_UNKNOWN };
/* Whether the object that has `code` defines a symbol for others to use. Any context. */
enum symbol_answer symbol_beside(const void *code, const char *name);

#endif

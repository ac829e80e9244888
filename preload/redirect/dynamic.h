/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * dynamic.h - what an object that the loader has loaded says of its symbols.
 */
#ifndef HCCT_REDIRECT_DYNAMIC_H
#define HCCT_REDIRECT_DYNAMIC_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct dynamic {
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *hash;
    const ElfW(Rela) * relocations, *plt_relocations;
    uint64_t relocations_bytes, plt_relocations_bytes;
    uint64_t relative; /* so many of the first relocations are by no symbol */
};

/* Any context, as all here; not of the kernel's own object. */
void dynamic_read(const ElfW(Dyn) * entry, struct dynamic *d);

/* Whether it needs a symbol of that name. */
bool dynamic_needs(const struct dynamic *d, const char *name);

/* Calls take() with each relocation by a symbol that another object has. */
void dynamic_imports(const struct dynamic *d,
                     void (*take)(void *arg, const ElfW(Rela) * relocation,
                                  const ElfW(Sym) * symbol, const char *name),
                     void *arg);
/* The same, and words for functions that the object itself defines and calls so that others may
 * stand before them. */
void dynamic_references(const struct dynamic *d,
                        void (*take)(void *arg, const ElfW(Rela) * relocation,
                                     const ElfW(Sym) * symbol, const char *name),
                        void *arg);

#endif

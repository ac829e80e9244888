/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * got.h - the words by which an object calls functions of other objects, replaced while its program
 * runs.
 *
 * The loader fills them: JUMP_SLOT and GLOB_DAT. Most stand in pages that it makes read-only when
 * it has done so (RELRO): these are writable for the moment of a change, and read-only again after
 * it; a page that is writable, whoever has made it so, stays writable. A word is changed by one
 * compare-and-swap, so a thread that calls by it meanwhile calls one function or the other.
 */
#ifndef HCCT_REDIRECT_GOT_H
#define HCCT_REDIRECT_GOT_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* An object that is loaded, as its own headers have it. */
struct got_object {
    const ElfW(Dyn) * dynamic;
    uint64_t bias, start, end; /* `end`: of the last byte that is mapped */
    bool own;                  /* words for functions that it defines itself, too */
};

/* A word that is filled, of a symbol that another object has, or this one. */
struct got_word {
    uintptr_t *at;
    const char *name;
    bool slot; /* JUMP_SLOT: for calls alone; an address may be taken from another one, too */
    bool lazy; /* it leads to the loader, which finds the function when it is called first */
};

/* Calls take() with each word. Any context in which the object stays. */
void got_words(const struct got_object *object,
               void (*take)(void *arg, const struct got_word *word), void *arg);

/* Pages that are writable for a moment: at most one at a time. Begins as all zero; got_done() must
 * follow the last got_change(). One thread at a time. */
struct got_pages {
    uint64_t open; /* the page; 0: none */
    uint64_t same; /* a page that is writable by itself; 0: none */
};

enum got_changed {
    GOT_CHANGED,
    GOT_OTHER,   /* the word was not `from` */
    GOT_REFUSED, /* the page can't be made writable */
};

/* The word is `to` from now on, where it is `from`. Any context in which the object stays. */
enum got_changed got_change(struct got_pages *pages, uintptr_t *at, uintptr_t from, uintptr_t to);
void got_done(struct got_pages *pages);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * memory.h - the target's memory, read by pages: once a step where it can change, once for all
 * where it cannot.
 */
#ifndef HCCT_STEP_MEMORY_H
#define HCCT_STEP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/step/maps.h"

#define MEMORY_PAGE       4096u
#define MEMORY_PAGES_KEPT 1024u

struct memory_page {
    uint64_t address; /* 1: none */
    uint64_t step;    /* when it was read; UINT64_MAX: it does not change */
    unsigned char byte[MEMORY_PAGE];
};

struct memory {
    pid_t pid;
    const struct maps *maps;
    uint64_t step;
    struct memory_page *page; /* MEMORY_PAGES_KEPT, by address */
};

/* False: no memory. `maps` stays the caller's, who keeps it up to date. */
bool memory_init(struct memory *memory, pid_t pid, const struct maps *maps);
void memory_clear(struct memory *memory);

/* The target has run: what it can write is read anew. */
void memory_next_step(struct memory *memory);

/* The target's mappings have changed: everything is read anew. */
void memory_forget_pages(struct memory *memory);

/* False where nothing is mapped. memory_word is for any alignment. */
bool memory_bytes(struct memory *memory, uint64_t address, void *into, size_t bytes);
bool memory_word(struct memory *memory, uint64_t address, uint64_t *word);

#endif

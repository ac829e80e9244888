/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_image.h - one ELF object as a full unwinder needs it: its unwind entries by address, and
 * the bytes that it would have in memory.
 *
 * Entries are those of the object's unwind table (unwind_collect.h), so that both ways to walk give
 * an address the same routine. Runs in the worker child.
 */
#ifndef HCCT_UNWIND_IMAGE_H
#define HCCT_UNWIND_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/init_code.h"

struct unwind_image;

/* All addresses are those in the file. */
struct unwind_entry {
    uint64_t start;      /* of the code that it covers and no earlier entry does */
    uint64_t address;    /* of the entry itself; 0: there is none, see `init` */
    uint64_t code_start; /* the code that it says it covers */
    uint64_t code_end;
    bool is_signal; /* the kernel's signal frame: its caller was interrupted, it did not call */
    const struct init_code
        *init; /* that of _init, _fini or _start, the image's; NULL: other code */
};

/* Takes `fd` over. NULL: no ELF object, or no memory. */
struct unwind_image *unwind_image_open(int fd);
void unwind_image_free(struct unwind_image *image); /* NULL is allowed */

/* How many entries there are, 0: none, or none that can be read. */
size_t unwind_image_entries(const struct unwind_image *image);

/* The entry that covers `address`. False: none does. */
bool unwind_image_find(const struct unwind_image *image, uint64_t address,
                       struct unwind_entry *entry);

/* The word that would be in memory at `address`, 0 in place of bytes that are in no segment. False:
 * not one of its bytes is in a segment. */
bool unwind_image_word(const struct unwind_image *image, uint64_t address, uint64_t *word);

#endif

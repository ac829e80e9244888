/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * remote_target.h - what libunwind gets of a raw stack sample: its memory and registers, and the
 * unwind entry under the cursor. For remote_*.c alone.
 */
#ifndef HCCT_REMOTE_TARGET_H
#define HCCT_REMOTE_TARGET_H

#include <libunwind.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/code/raw_stack.h"
#include "common/code/unwind_image.h"

#define REMOTE_IMAGES_MAX 256

struct kept_image {
    uint32_t module;
    uint64_t used; /* number of the walk that used it last */
    struct unwind_image *image;
};

struct remote_unwinder {
    unw_addr_space_t space;
    uint64_t walks;
    struct kept_image kept[REMOTE_IMAGES_MAX];
};

/* The code that a pc is in. */
struct remote_place {
    const struct code_range *range;
    const struct unwind_image *image;
    struct unwind_entry entry;
};

/* An entry of libunwind's search table. */
struct remote_table {
    int32_t start; /* from the table's base */
    int32_t entry;
};

/* One walk. */
struct remote_walk {
    struct remote_unwinder *unwinder;
    const struct raw_stack *stack;
    uint64_t stack_start, stack_end; /* of the copy, run-time addresses */
    unw_cursor_t cursor;
    uint64_t pc, sp; /* of the frame under the cursor */
    bool exact;      /* pc is where code was interrupted, else it is a return address */
    uint64_t first_pc,
        first[RAW_STACK_REGISTERS_MAX]; /* the registers that the cursor starts from */
    uint64_t known;                     /* bit n: first[n] is known */
    struct remote_place place;
    uint64_t lookup;                     /* the address in it that was looked up */
    struct remote_table table;           /* that entry alone */
    const struct code_range *read_range; /* of the last module that was read from */
    const struct unwind_image *read_image;
    bool entry_used;     /* libunwind took the entry that it was given */
    bool read_failed;    /* a word could not be read */
    uint64_t failed_at;  /* its address */
    bool stack_switched; /* beyond a signal frame, which may be on another stack */
};

extern unw_accessors_t remote_accessors; /* their argument is a struct remote_walk */

enum remote_found {
    REMOTE_FOUND,
    REMOTE_ROOT,     /* found, and known to be the outermost */
    REMOTE_NO_CODE,  /* no module is there */
    REMOTE_NO_ENTRY, /* a module without an unwind entry there */
    REMOTE_NO_IMAGE, /* a module whose image is needed first */
};

/* Finds walk->place for walk->pc. */
enum remote_found remote_find_place(struct remote_walk *walk);

/* Where `address` is mapped, NULL: in no module. */
const struct code_range *remote_range(const struct raw_stack *stack, uint64_t address);

/* A word of the stack's copy, or of a module's file. */
bool remote_read(struct remote_walk *walk, uint64_t address, uint64_t *word);

#endif

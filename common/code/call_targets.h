/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_targets.h - where a call of an ELF object leads: to the beginning of a function, to an entry
 * of the PLT or to what is in a word of the GOT, or to neither. x86-64 only.
 *
 * A PLT entry is known by what it is, as a section table may be missing: a jump through a word that
 * the dynamic loader fills with a function's address.
 */
#ifndef HCCT_CALL_TARGETS_H
#define HCCT_CALL_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/elf_dynamic.h"
#include "common/code/unwind_collect.h"

/* The code of an object: its only executable segment. */
struct call_text {
    const uint8_t *bytes;
    uint64_t start, end; /* addresses */
};

struct call_targets {
    const struct call_text *text;
    const struct unwind_collection *entries; /* sorted */
    uint64_t entries_from;                   /* what their addresses count from */
    uint64_t kept_from, kept_to; /* what nobody may write once the loader has (PT_GNU_RELRO) */
    struct loaded_word {
        uint64_t address;
        uint64_t
            own; /* the object's own function whose address is in it; 0: the loader finds one */
        bool minds_caller;
    } * words; /* that the loader fills with functions' addresses, sorted */
    size_t n_words, room_words;
    uint64_t *minding; /* functions of the object itself that take note of their caller, sorted */
    size_t n_minding, room_minding;
    bool failed; /* memory ran out */
};

/* False: no memory. To be cleared in any case. */
bool call_targets_read(struct call_targets *targets, const struct elf_dynamic *dynamic,
                       const struct call_text *text, const struct unwind_collection *entries,
                       uint64_t entries_from);
void call_targets_clear(struct call_targets *targets);

struct call_target {
    bool is_one;       /* a function or a PLT entry */
    bool minds_caller; /* it must not be called by way of anything else */
    uint64_t got;      /* of a PLT entry: the word's address, else 0 */
};

struct call_target call_target_at(const struct call_targets *targets, uint64_t address);

/* The function whose address is in the word at that address: one that the loader fills, else none.
 */
struct call_target call_target_of_word(const struct call_targets *targets, uint64_t address);

/* Bytes of the PLT entry at that address, 0: there is none. */
unsigned call_target_plt(const struct call_targets *targets, uint64_t address, uint64_t *got);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eh_frame.h - where an ELF object keeps its unwind entries.
 *
 * By its section table, else, when that has been stripped, by the program header PT_GNU_EH_FRAME.
 * Runs in the worker child.
 */
#ifndef HCCT_EH_FRAME_H
#define HCCT_EH_FRAME_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

struct eh_frame {
    const unsigned char *ident; /* e_ident of the object */
    int machine;                /* EM_* */
    uint8_t address_bytes;      /* 4 or 8 */
    uint64_t code_start;        /* lowest and first after the highest executable address */
    uint64_t code_end;
    Elf_Data *data;   /* owned by the Elf */
    uint64_t address; /* of the data's first byte */
};

/* False when `elf` is no program or library of this machine's byte order, has no code, or no
 * .eh_frame. */
bool eh_frame_find(Elf *elf, struct eh_frame *found);

#endif

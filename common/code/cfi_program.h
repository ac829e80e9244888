/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * cfi_program.h - runs DWARF call frame instructions, row by row.
 *
 * Only what a stack walk needs is kept: how to find the canonical frame address, the return
 * address, and the caller's frame pointer and stack pointer. All bytes are untrusted: nothing is
 * read outside [p, end).
 */
#ifndef HCCT_CFI_PROGRAM_H
#define HCCT_CFI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cfi_how {
    CFI_UNSPECIFIED = 0,
    CFI_UNDEFINED,
    CFI_SAME,
    CFI_OFFSET,     /* saved at CFA + offset; for the CFA itself: reg + offset */
    CFI_EXPRESSION, /* saved where the block says; for the CFA itself: its value */
    CFI_OTHER,      /* anything that a walk has no use for */
};

/* Where a register of the caller is, or what the CFA is. */
struct cfi_value {
    enum cfi_how how;
    uint32_t reg; /* of the CFA only */
    int64_t offset;
    const uint8_t *block;
    size_t block_bytes;
};

struct cfi_state {
    struct cfi_value cfa, ra, fp, sp;
    struct cfi_value eh; /* what a landing pad is given: saved by what goes on there */
};

/* What all entries of one CIE have in common. */
struct cfi_cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra_column, fp_column, sp_column, eh_column;
    uint64_t place_bias;   /* address of a byte of the section minus its place in our memory */
    uint8_t address_bytes; /* 4 or 8 */
    uint8_t encoding;      /* DW_EH_PE_* of code addresses */
    struct cfi_state initial;
};

#define CFI_REMEMBERED_MAX 32

/* A run of an entry's instructions. */
struct cfi_run {
    const struct cfi_cie *cie;
    const uint8_t *p, *end;
    uint64_t from;          /* `state` holds from here */
    uint64_t to;            /* up to here; at the end of the instructions equal to `from` */
    struct cfi_state state; /* as after the instructions so far */
    unsigned remembered;
    struct cfi_state memory[CFI_REMEMBERED_MAX];
};

enum cfi_status {
    CFI_BROKEN, /* unknown instruction, or the bytes end within one */
    CFI_ROW,    /* run->state holds in [run->from, run->to) */
    CFI_END,    /* run->state holds from run->from to the end of the entry */
};

/* Prepares `run` for the instructions [p, end) of an entry that begins at `start`. */
void cfi_run_init(struct cfi_run *run, const struct cfi_cie *cie, uint64_t start, const uint8_t *p,
                  const uint8_t *end);
enum cfi_status cfi_run_next(struct cfi_run *run);

/* Fills cie->initial by the CIE's own instructions. False when they are broken. */
bool cfi_cie_init(struct cfi_cie *cie, const uint8_t *p, const uint8_t *end);

/* Readers of untrusted bytes: false, and nothing changed, when [*p, end) is too short. */
bool cfi_read_uleb(const uint8_t **p, const uint8_t *end, uint64_t *value);
bool cfi_read_sleb(const uint8_t **p, const uint8_t *end, int64_t *value);
/* A code address or, with `is_range`, a length: the same format without a base. False also for
 * encodings that have no meaning for code (indirect, relative to data). */
bool cfi_read_address(const struct cfi_cie *cie, const uint8_t **p, const uint8_t *end,
                      bool is_range, uint64_t *value);
/* A number of `size` bytes (1, 2, 4, 8) in the machine's order. */
bool cfi_read_fixed(const uint8_t **p, const uint8_t *end, unsigned size, bool is_signed,
                    uint64_t *value);

/* Tells of each instruction from `p` on that says no more than that the return address is signed,
 * on aarch64. */
void cfi_find_signing(const struct cfi_cie *cie, const uint8_t *p, const uint8_t *end,
                      void (*found)(void *arg, const uint8_t *at), void *arg);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_table.h - compact unwind tables: compiled by the daemon from .eh_frame, read by the agent.
 *
 * One table for each module, position-independent, laid out so that a lookup is one load from the
 * block index and a short scan:
 *
 *   struct unwind_table | rows, sorted by pc | rules | blocks
 *
 *   blocks[b]  index of the last row with row.pc <= b << block_shift
 *   rows[i]    from row.pc up to rows[i+1].pc the rule is rules[row.rule]
 *   row.back   this row's distance, in rows, from the first row of its unwind entry; the first
 *              row's pc is the routine that the entry covers. 0xffff: follow more than once.
 *
 * Gaps between unwind entries are rows whose rule is UNWIND_RULE_NONE (rules[0]). The code of _init
 * and _fini has rows like an entry's where it is known without one.
 *
 * Everything here is arithmetic on what the daemon wrote; the agent checks the size once when it
 * first uses a table, and a corrupt row can only end a walk, as each read of the stack is checked.
 */
#ifndef HCCT_UNWIND_TABLE_H
#define HCCT_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define UNWIND_TABLE_MAGIC 0x32626174746363ull
/* Tables are kept on disk (common/code/table_cache.h) under this number: to be raised whenever
 * their format changes, and whenever the compiler makes other rows of the same .eh_frame. */
#define UNWIND_TABLE_VERSION 7u
#define UNWIND_TABLE_ALIGN   64
#define UNWIND_RULE_NONE     0 /* index of the rule that says: unknown */
#define UNWIND_BACK_MAX      0xffffu

/* Code without an unwind entry is distinguished by blocks of so many bytes: functions are
 * aligned. */
#define UNWIND_CODE_BLOCK 16u

struct unwind_row {
    uint32_t pc; /* from text_start */
    uint16_t rule;
    uint16_t back;
};

/* How to find the canonical frame address (the stack pointer before the call). */
enum unwind_cfa {
    UNWIND_CFA_NONE = 0, /* unknown: the walk ends here, incomplete */
    UNWIND_CFA_REG,      /* reg + cfa_off */
    UNWIND_CFA_DEREF,    /* *(reg + cfa_off) + cfa_add */
    UNWIND_CFA_PLT,      /* x86-64 lazy PLT: sp + 8 + ((pc & 15) >= cfa_off ? 8 : 0) */
    UNWIND_CFA_SIGNAL,   /* the kernel's signal frame: all registers are in its ucontext */
    UNWIND_CFA_RICH,     /* there is unwind data, but none of these forms: the daemon's business */
};

/* Where the return address is, or the caller's frame pointer. */
enum unwind_where {
    UNWIND_SAME = 0,  /* still in its register (frame pointer unchanged; aarch64's link register) */
    UNWIND_AT_CFA,    /* at CFA + offset */
    UNWIND_UNDEFINED, /* return address: this is the outermost frame. Frame pointer: not known */
    UNWIND_AT_REG,    /* frame pointer only: at *(frame pointer + offset) */
    /* Return address only: at CFA + offset; but the function goes on in a caller further out by
     * putting that one's frame pointer and return address in the place of its own (aarch64's
     * unwinder). */
    UNWIND_REPLACED,
};

struct unwind_rule {
    uint8_t cfa;     /* enum unwind_cfa */
    uint8_t cfa_reg; /* DWARF number of the register */
    uint8_t ra;      /* enum unwind_where */
    uint8_t fp;      /* enum unwind_where */
    int32_t cfa_off;
    int32_t cfa_add;
    int32_t ra_off;
    int32_t fp_off;
};

struct unwind_table {
    uint64_t magic;
    uint64_t bytes;      /* of the whole table */
    uint64_t text_start; /* address in the file (before the load bias) that row.pc counts from */
    uint64_t text_span;  /* addresses from text_start on that the table covers */
    uint32_t rows;
    uint32_t rules;
    uint32_t blocks;
    uint32_t block_shift;
    uint64_t rows_off; /* bytes from the start of the table */
    uint64_t rules_off;
    uint64_t blocks_off;
    uint64_t reserved[2];
};

_Static_assert(sizeof(struct unwind_row) == 8, "row");
_Static_assert(sizeof(struct unwind_rule) == 20, "rule");
_Static_assert(sizeof(struct unwind_table) == 88, "table header");

static inline const struct unwind_row *unwind_rows(const struct unwind_table *t) {
    return (const struct unwind_row *)(const void *)((const char *)t + t->rows_off);
}

static inline const struct unwind_rule *unwind_rules(const struct unwind_table *t) {
    return (const struct unwind_rule *)(const void *)((const char *)t + t->rules_off);
}

/* The row that covers `vaddr` (an address in the file), or NULL. Any context; no writes. */
static inline const struct unwind_row *unwind_lookup(const struct unwind_table *t, uint64_t vaddr) {
    uint64_t off = vaddr - t->text_start;
    if (off >= t->text_span)
        return NULL;
    const uint32_t *blocks = (const uint32_t *)(const void *)((const char *)t + t->blocks_off);
    const struct unwind_row *row = unwind_rows(t);
    uint32_t i = blocks[off >> t->block_shift];
    while (i + 1 < t->rows && row[i + 1].pc <= off)
        i++;
    return &row[i];
}

/* Address in the file of the routine that `row` belongs to. Any context; no writes. */
static inline uint64_t unwind_routine(const struct unwind_table *t, const struct unwind_row *row) {
    while (row->back == UNWIND_BACK_MAX)
        row -= UNWIND_BACK_MAX;
    row -= row->back;
    return t->text_start + row->pc;
}

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_rule.c - from the state of a call frame program to a rule of a compact unwind table.
 *
 * DWARF allows any computation. Compilers and linkers use a handful of forms, which have rules of
 * their own; the rest is left to a full unwinder.
 */
#include "common/code/unwind_rule.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "common/wire/compiler.h"

const struct unwind_rule unwind_rule_signal = {
    .cfa = UNWIND_CFA_SIGNAL, .ra = UNWIND_SAME, .fp = UNWIND_SAME};

const struct unwind_rule unwind_rule_rich = {
    .cfa = UNWIND_CFA_RICH, .ra = UNWIND_SAME, .fp = UNWIND_UNDEFINED};

static const struct unwind_machine machines[] = {
    {EM_X86_64, 17, 6, 7, CFI_NO_COLUMN, false},
    {EM_AARCH64, 32, 29, 31, 0, true},
};

const struct unwind_machine *unwind_machine(int machine) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(machines); i++)
        if (machines[i].machine == machine)
            return &machines[i];
    return NULL;
}

static bool fits(int64_t offset, int32_t *into) {
    *into = (int32_t)offset;
    return *into == offset;
}

/* One `breg` operation. */
static bool read_breg(const uint8_t **p, const uint8_t *end, uint64_t *reg, int64_t *offset) {
    if (*p == end)
        return false;
    uint8_t op = *(*p)++;
    if (op == DW_OP_bregx) {
        if (!cfi_read_uleb(p, end, reg))
            return false;
    } else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
        *reg = op - DW_OP_breg0;
    } else {
        return false;
    }
    return cfi_read_sleb(p, end, offset);
}

/* What the linker writes for a lazily bound PLT entry: sp + 8, and 8 more from the instruction on
 * that follows the entry's push, which is `limit` bytes into its 16. */
static bool is_plt(const struct unwind_machine *machine, const struct cfi_value *cfa,
                   struct unwind_rule *rule) {
    const uint8_t form[] = {DW_OP_breg0 + 7, 8, DW_OP_breg0 + 16, 0,          DW_OP_lit15,
                            DW_OP_and,       0, DW_OP_ge,         DW_OP_lit3, DW_OP_shl,
                            DW_OP_plus};
    const size_t limit_at = 6;
    const uint8_t *block = cfa->block;
    if (machine->machine != EM_X86_64 || cfa->block_bytes != sizeof form ||
        memcmp(block, form, limit_at) != 0 ||
        memcmp(block + limit_at + 1, form + limit_at + 1, sizeof form - limit_at - 1) != 0 ||
        block[limit_at] < DW_OP_lit0 || block[limit_at] > DW_OP_lit15)
        return false;
    rule->cfa = UNWIND_CFA_PLT;
    rule->cfa_reg = (uint8_t)machine->sp_column;
    rule->cfa_off = block[limit_at] - DW_OP_lit0;
    return true;
}

/* `breg off`, `breg off; deref`, `breg off; deref; plus_uconst k`. */
static bool cfa_of_expression(const struct unwind_machine *machine, const struct cfi_value *cfa,
                              struct unwind_rule *rule) {
    const uint8_t *p = cfa->block;
    const uint8_t *end = p + cfa->block_bytes;
    uint64_t reg, add = 0;
    int64_t offset;
    if (is_plt(machine, cfa, rule))
        return true;
    if (!read_breg(&p, end, &reg, &offset) || reg >= machine->registers ||
        !fits(offset, &rule->cfa_off))
        return false;
    rule->cfa_reg = (uint8_t)reg;
    rule->cfa = UNWIND_CFA_REG;
    if (p == end)
        return true;
    if (*p++ != DW_OP_deref)
        return false;
    rule->cfa = UNWIND_CFA_DEREF;
    if (p == end)
        return true;
    return *p++ == DW_OP_plus_uconst && cfi_read_uleb(&p, end, &add) && p == end &&
           fits((int64_t)add, &rule->cfa_add);
}

static bool cfa_of(const struct unwind_machine *machine, const struct cfi_value *cfa,
                   struct unwind_rule *rule) {
    switch (cfa->how) {
    case CFI_OFFSET:
        rule->cfa = UNWIND_CFA_REG;
        rule->cfa_reg = (uint8_t)cfa->reg;
        return cfa->reg < machine->registers && fits(cfa->offset, &rule->cfa_off);
    case CFI_EXPRESSION:
        return cfa_of_expression(machine, cfa, rule);
    default:
        return false;
    }
}

static bool ra_of(const struct unwind_machine *machine, const struct cfi_state *state,
                  struct unwind_rule *rule) {
    const struct cfi_value *ra = &state->ra;
    switch (ra->how) {
    case CFI_OFFSET:
        rule->ra = state->eh.how == CFI_OFFSET ? UNWIND_REPLACED : UNWIND_AT_CFA;
        return fits(ra->offset, &rule->ra_off);
    case CFI_UNDEFINED:
        rule->ra = UNWIND_UNDEFINED;
        return true;
    case CFI_UNSPECIFIED:
    case CFI_SAME:
        rule->ra = UNWIND_SAME;
        return machine->ra_stays_in_reg;
    default:
        return false;
    }
}

static void fp_of(const struct unwind_machine *machine, const struct cfi_value *fp,
                  struct unwind_rule *rule) {
    const uint8_t *p = fp->block;
    const uint8_t *end = p == NULL ? NULL : p + fp->block_bytes;
    uint64_t reg;
    int64_t offset;
    rule->fp = UNWIND_UNDEFINED;
    switch (fp->how) {
    case CFI_UNSPECIFIED: /* both machines' ABIs have it saved by the callee */
    case CFI_SAME:
        rule->fp = UNWIND_SAME;
        break;
    case CFI_OFFSET:
        if (fits(fp->offset, &rule->fp_off))
            rule->fp = UNWIND_AT_CFA;
        break;
    case CFI_EXPRESSION:
        if (read_breg(&p, end, &reg, &offset) && p == end && reg == machine->fp_column &&
            fits(offset, &rule->fp_off))
            rule->fp = UNWIND_AT_REG;
        break;
    default:
        break;
    }
    if (rule->fp == UNWIND_UNDEFINED)
        rule->fp_off = 0;
}

#define ABOVE_MOST 64

/* The caller's stack pointer is above what the frame has saved. The dynamic linker's entry says
 * otherwise on aarch64: that its frame begins below the two words that the table of links has
 * pushed before it jumps there, of which one is the return address. */
static void begin_above_saved(const struct unwind_machine *machine, struct unwind_rule *rule) {
    int32_t above = rule->ra_off + (int32_t)sizeof(uint64_t);
    bool saved = rule->ra == UNWIND_AT_CFA || rule->ra == UNWIND_REPLACED;
    if (!machine->ra_stays_in_reg || rule->cfa != UNWIND_CFA_REG ||
        rule->cfa_reg != machine->sp_column || !saved || rule->ra_off < 0 ||
        rule->ra_off > ABOVE_MOST)
        return;
    rule->ra = UNWIND_AT_CFA; /* arguments are saved as well, not what a landing pad is given */
    rule->cfa_off += above;
    rule->ra_off -= above;
    if (rule->fp == UNWIND_AT_CFA)
        rule->fp_off -= above;
}

bool unwind_rule_of(const struct unwind_machine *machine, const struct cfi_state *state,
                    struct unwind_rule *rule, enum unwind_lack *lack) {
    memset(rule, 0, sizeof *rule);
    /* the caller's stack pointer is the frame's address, unless a context is being replaced */
    if (state->sp.how != CFI_UNSPECIFIED && state->sp.how != CFI_SAME) {
        *lack = UNWIND_LACK_CFA;
        return false;
    }
    if (!ra_of(machine, state, rule)) {
        *lack = UNWIND_LACK_RA;
        return false;
    }
    if (cfa_of(machine, &state->cfa, rule)) {
        fp_of(machine, &state->fp, rule);
        begin_above_saved(machine, rule);
        return true;
    }
    *lack = UNWIND_LACK_CFA;
    /* The outermost frame needs no CFA: the walk has arrived, whatever it may be. */
    *rule = (struct unwind_rule){.cfa = UNWIND_CFA_REG,
                                 .cfa_reg = (uint8_t)machine->sp_column,
                                 .ra = UNWIND_UNDEFINED,
                                 .fp = UNWIND_UNDEFINED};
    return state->ra.how == CFI_UNDEFINED;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * cfi_program.c - runs DWARF call frame instructions (DWARF 5, section 6.4; the Linux Standard Base
 * for the encodings of .eh_frame).
 */
#include "common/code/cfi_program.h"

#include <dwarf.h>
#include <string.h>

#include "common/wire/compiler.h"

#define DW_CFA_AARCH64_negate_ra_state_with_pc 0x2c /* older headers don't know it */

bool cfi_read_fixed(const uint8_t **p, const uint8_t *end, unsigned size, bool is_signed,
                    uint64_t *value) {
    if ((size_t)(end - *p) < size)
        return false;
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } raw;
    memcpy(&raw, *p, size);
    *p += size;
    switch (size) {
    case 1:
        *value = is_signed ? (uint64_t)(int8_t)raw.u8 : raw.u8;
        return true;
    case 2:
        *value = is_signed ? (uint64_t)(int16_t)raw.u16 : raw.u16;
        return true;
    case 4:
        *value = is_signed ? (uint64_t)(int32_t)raw.u32 : raw.u32;
        return true;
    default:
        *value = raw.u64;
        return true;
    }
}

/* LEB128 digits; *shift is the number of bits read. Bits beyond the 64th are dropped. */
static bool read_leb(const uint8_t **p, const uint8_t *end, uint64_t *value, unsigned *shift) {
    const uint8_t *at = *p;
    uint64_t v = 0;
    *shift = 0;
    while (at < end) {
        uint8_t byte = *at++;
        if (*shift < 64)
            v |= (uint64_t)(byte & 0x7f) << *shift;
        *shift += 7;
        if ((byte & 0x80) == 0) {
            *value = v;
            *p = at;
            return true;
        }
    }
    return false;
}

bool cfi_read_uleb(const uint8_t **p, const uint8_t *end, uint64_t *value) {
    if (hcct_likely(*p < end && **p < 0x80)) {
        *value = *(*p)++;
        return true;
    }
    unsigned shift;
    return read_leb(p, end, value, &shift);
}

bool cfi_read_sleb(const uint8_t **p, const uint8_t *end, int64_t *value) {
    unsigned shift;
    uint64_t v;
    if (!read_leb(p, end, &v, &shift))
        return false;
    if (shift < 64 && (v >> (shift - 1) & 1))
        v |= ~0ull << shift;
    *value = (int64_t)v;
    return true;
}

static bool read_by_format(const struct cfi_cie *cie, const uint8_t **p, const uint8_t *end,
                           uint64_t *value) {
    switch (cie->encoding & 0x0f) {
    case DW_EH_PE_absptr:
        return cfi_read_fixed(p, end, cie->address_bytes, false, value);
    case DW_EH_PE_uleb128:
        return cfi_read_uleb(p, end, value);
    case DW_EH_PE_sleb128:
        return cfi_read_sleb(p, end, (int64_t *)value);
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2:
        return cfi_read_fixed(p, end, 2, (cie->encoding & DW_EH_PE_signed) != 0, value);
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
        return cfi_read_fixed(p, end, 4, (cie->encoding & DW_EH_PE_signed) != 0, value);
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return cfi_read_fixed(p, end, 8, false, value);
    default:
        return false;
    }
}

bool cfi_read_address(const struct cfi_cie *cie, const uint8_t **p, const uint8_t *end,
                      bool is_range, uint64_t *value) {
    uint64_t place = (uint64_t)(uintptr_t)*p + cie->place_bias;
    if (!read_by_format(cie, p, end, value))
        return false;
    switch (cie->encoding & 0xf0) {
    case DW_EH_PE_absptr:
        break;
    case DW_EH_PE_pcrel:
        if (!is_range)
            *value += place;
        break;
    default:
        return false;
    }
    if (cie->address_bytes == 4)
        *value = (uint32_t)*value;
    return true;
}

enum operand { NONE = 0, U1, U2, U4, U8, ULEB, SLEB, BLOCK, ADDRESS };

enum effect {
    UNKNOWN = 0,
    NOTHING,
    SET_LOC,
    ADVANCE,
    RULE,     /* register a is as `how` says; an offset b is factored */
    NEGATIVE, /* like RULE, by -b */
    RESTORE,
    REMEMBER,
    RECALL,
    CFA,          /* register a, offset b */
    CFA_FACTORED, /* register a, factored offset b */
    CFA_REGISTER,
    CFA_OFFSET,
    CFA_OFFSET_FACTORED,
    CFA_EXPRESSION,
};

struct instruction {
    uint8_t effect;
    uint8_t how;
    uint8_t operand[2];
};

/* Instructions whose two highest bits are 0. */
static const struct instruction instructions[64] = {
    [DW_CFA_nop] = {NOTHING, 0, {NONE}},
    [DW_CFA_set_loc] = {SET_LOC, 0, {ADDRESS}},
    [DW_CFA_advance_loc1] = {ADVANCE, 0, {U1}},
    [DW_CFA_advance_loc2] = {ADVANCE, 0, {U2}},
    [DW_CFA_advance_loc4] = {ADVANCE, 0, {U4}},
    [DW_CFA_MIPS_advance_loc8] = {ADVANCE, 0, {U8}},
    [DW_CFA_offset_extended] = {RULE, CFI_OFFSET, {ULEB, ULEB}},
    [DW_CFA_offset_extended_sf] = {RULE, CFI_OFFSET, {ULEB, SLEB}},
    [DW_CFA_GNU_negative_offset_extended] = {NEGATIVE, CFI_OFFSET, {ULEB, ULEB}},
    [DW_CFA_restore_extended] = {RESTORE, 0, {ULEB}},
    [DW_CFA_undefined] = {RULE, CFI_UNDEFINED, {ULEB}},
    [DW_CFA_same_value] = {RULE, CFI_SAME, {ULEB}},
    [DW_CFA_register] = {RULE, CFI_OTHER, {ULEB, ULEB}},
    [DW_CFA_val_offset] = {RULE, CFI_OTHER, {ULEB, ULEB}},
    [DW_CFA_val_offset_sf] = {RULE, CFI_OTHER, {ULEB, SLEB}},
    [DW_CFA_expression] = {RULE, CFI_EXPRESSION, {ULEB, BLOCK}},
    [DW_CFA_val_expression] = {RULE, CFI_OTHER, {ULEB, BLOCK}},
    [DW_CFA_remember_state] = {REMEMBER, 0, {NONE}},
    [DW_CFA_restore_state] = {RECALL, 0, {NONE}},
    [DW_CFA_def_cfa] = {CFA, 0, {ULEB, ULEB}},
    [DW_CFA_def_cfa_sf] = {CFA_FACTORED, 0, {ULEB, SLEB}},
    [DW_CFA_def_cfa_register] = {CFA_REGISTER, 0, {ULEB}},
    [DW_CFA_def_cfa_offset] = {CFA_OFFSET, 0, {ULEB}},
    [DW_CFA_def_cfa_offset_sf] = {CFA_OFFSET_FACTORED, 0, {SLEB}},
    [DW_CFA_def_cfa_expression] = {CFA_EXPRESSION, 0, {BLOCK}},
    /* On aarch64 these say that the return address is signed, and move nothing. */
    [DW_CFA_AARCH64_negate_ra_state_with_pc] = {NOTHING, 0, {NONE}},
    [DW_CFA_GNU_window_save] = {NOTHING, 0, {NONE}},
    [DW_CFA_GNU_args_size] = {NOTHING, 0, {ULEB}},
};

struct operands {
    uint64_t number[2]; /* of a block: its bytes */
    const uint8_t *block;
};

static bool read_operand(struct cfi_run *run, enum operand kind, struct operands *operands,
                         unsigned i) {
    static const uint8_t fixed_bytes[] = {[U1] = 1, [U2] = 2, [U4] = 4, [U8] = 8};
    uint64_t *number = &operands->number[i];
    switch (kind) {
    case NONE:
        return true;
    case ULEB:
        return cfi_read_uleb(&run->p, run->end, number);
    case SLEB:
        return cfi_read_sleb(&run->p, run->end, (int64_t *)number);
    case ADDRESS:
        return cfi_read_address(run->cie, &run->p, run->end, false, number);
    case BLOCK:
        if (!cfi_read_uleb(&run->p, run->end, number) || *number > (uint64_t)(run->end - run->p))
            return false;
        operands->block = run->p;
        run->p += *number;
        return true;
    default:
        return cfi_read_fixed(&run->p, run->end, fixed_bytes[kind], false, number);
    }
}

/* The instruction at the run's place, which goes on to the next. False: it can't be read. */
static bool read_instruction(struct cfi_run *run, const struct instruction **what,
                             struct operands *operands) {
    static const struct instruction offset = {RULE, CFI_OFFSET, {NONE, ULEB}};
    static const struct instruction restore = {RESTORE, 0, {NONE}};
    static const struct instruction advance = {ADVANCE, 0, {NONE}};
    static const struct instruction *const primary[] = {NULL, &advance, &offset, &restore};
    uint8_t opcode = *run->p++;
    *operands = (struct operands){{opcode & 0x3f, 0}, NULL};
    *what = primary[opcode >> 6];
    if (*what == NULL)
        *what = &instructions[opcode];
    return read_operand(run, (*what)->operand[0], operands, 0) &&
           read_operand(run, (*what)->operand[1], operands, 1);
}

/* The rule of a register, or NULL when a walk does not need it. */
static struct cfi_value *rule_of(const struct cfi_cie *cie, struct cfi_state *state, uint64_t reg) {
    if (reg == cie->ra_column)
        return &state->ra;
    if (reg == cie->sp_column)
        return &state->sp;
    if (reg == cie->fp_column)
        return &state->fp;
    return reg == cie->eh_column ? &state->eh : NULL;
}

static int64_t factored(const struct cfi_run *run, uint64_t offset) {
    return (int64_t)(offset * (uint64_t)run->cie->data_align);
}

static void set_rule(struct cfi_run *run, enum cfi_how how, const struct operands *operands,
                     int64_t offset) {
    struct cfi_value *rule = rule_of(run->cie, &run->state, operands->number[0]);
    if (rule == NULL)
        return;
    *rule = (struct cfi_value){.how = how};
    if (how == CFI_OFFSET)
        rule->offset = offset;
    if (how == CFI_EXPRESSION) {
        rule->block = operands->block;
        rule->block_bytes = operands->number[1];
    }
}

static void restore_rule(struct cfi_run *run, uint64_t reg) {
    struct cfi_state initial = run->cie->initial;
    const struct cfi_value *from = rule_of(run->cie, &initial, reg);
    struct cfi_value *into = rule_of(run->cie, &run->state, reg);
    if (into != NULL)
        *into = *from;
}

static void set_cfa(struct cfi_run *run, uint64_t reg, int64_t offset) {
    enum cfi_how how = reg <= UINT32_MAX ? CFI_OFFSET : CFI_OTHER;
    run->state.cfa = (struct cfi_value){.how = how, .reg = (uint32_t)reg, .offset = offset};
}

static bool change_cfa(struct cfi_run *run, enum effect effect, const struct operands *operands) {
    const uint64_t *number = operands->number;
    struct cfi_value *cfa = &run->state.cfa;
    switch (effect) {
    case CFA:
        set_cfa(run, number[0], (int64_t)number[1]);
        return true;
    case CFA_FACTORED:
        set_cfa(run, number[0], factored(run, number[1]));
        return true;
    case CFA_EXPRESSION:
        *cfa = (struct cfi_value){
            .how = CFI_EXPRESSION, .block = operands->block, .block_bytes = number[0]};
        return true;
    default:
        break;
    }
    /* The others change one half of a rule of register and offset: there must be one. */
    if (cfa->how != CFI_OFFSET)
        return false;
    if (effect == CFA_REGISTER)
        set_cfa(run, number[0], cfa->offset);
    else
        cfa->offset = effect == CFA_OFFSET ? (int64_t)number[0] : factored(run, number[0]);
    return true;
}

static bool remember(struct cfi_run *run) {
    if (run->remembered == CFI_REMEMBERED_MAX)
        return false;
    run->memory[run->remembered++] = run->state;
    return true;
}

static bool recall(struct cfi_run *run) {
    if (run->remembered == 0)
        return false;
    run->state = run->memory[--run->remembered];
    return true;
}

static bool carry_out(struct cfi_run *run, const struct instruction *what,
                      const struct operands *operands) {
    const uint64_t *number = operands->number;
    switch ((enum effect)what->effect) {
    case NOTHING:
        return true;
    case SET_LOC:
        run->to = number[0];
        return true;
    case ADVANCE:
        run->to += number[0] * run->cie->code_align;
        return true;
    case RULE:
        set_rule(run, what->how, operands, factored(run, number[1]));
        return true;
    case NEGATIVE:
        set_rule(run, what->how, operands, factored(run, -number[1]));
        return true;
    case RESTORE:
        restore_rule(run, number[0]);
        return true;
    case REMEMBER:
        return remember(run);
    case RECALL:
        return recall(run);
    case UNKNOWN:
        return false;
    default:
        return change_cfa(run, what->effect, operands);
    }
}

/* One instruction. The three kinds that have their first operand in the opcode byte are by far the
 * most frequent. */
static bool step(struct cfi_run *run) {
    const struct instruction *what;
    struct operands operands;
    return read_instruction(run, &what, &operands) && carry_out(run, what, &operands);
}

void cfi_find_signing(const struct cfi_cie *cie, const uint8_t *p, const uint8_t *end,
                      void (*found)(void *arg, const uint8_t *at), void *arg) {
    struct cfi_run run = {.cie = cie, .p = p, .end = end};
    const struct instruction *what;
    struct operands operands;
    while (run.p < run.end) {
        const uint8_t *at = run.p;
        if (!read_instruction(&run, &what, &operands))
            return;
        if (*at == DW_CFA_GNU_window_save || *at == DW_CFA_AARCH64_negate_ra_state_with_pc)
            found(arg, at);
    }
}

void cfi_run_init(struct cfi_run *run, const struct cfi_cie *cie, uint64_t start, const uint8_t *p,
                  const uint8_t *end) {
    run->cie = cie;
    run->p = p;
    run->end = end;
    run->from = run->to = start;
    run->state = cie->initial;
    run->remembered = 0;
}

enum cfi_status cfi_run_next(struct cfi_run *run) {
    run->from = run->to;
    while (run->p < run->end) {
        if (!step(run))
            return CFI_BROKEN;
        if (run->to != run->from)
            return run->to > run->from ? CFI_ROW : CFI_BROKEN;
    }
    return CFI_END;
}

bool cfi_cie_init(struct cfi_cie *cie, const uint8_t *p, const uint8_t *end) {
    memset(&cie->initial, 0, sizeof cie->initial);
    struct cfi_run run;
    cfi_run_init(&run, cie, 0, p, end);
    if (cfi_run_next(&run) != CFI_END)
        return false;
    cie->initial = run.state;
    return true;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_sweep.c - a linear sweep with Zydis.
 */
#include "common/code/call_sweep.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/array_grow.h"

#define FP_COLUMN     6
#define SP_COLUMN     7
#define RA_AT_CFA     (-8)
#define BYTES_BY_WORD 6u

/* The code of one entry, as it is decoded. */
struct stretch {
    const struct unwind_span *entry;
    uint64_t from, to; /* addresses */
    uint32_t row;      /* of the entry, that holds where the sweep is */
    size_t first_call; /* of those that were found here */
    bool decodes;      /* so far */
};

struct sweeper {
    struct call_sweep *out;
    const struct call_targets *targets;
    ZydisDecoder decoder;
};

/* What matters about an instruction. */
enum flow {
    FLOW_OTHER,
    FLOW_CALL,
    FLOW_CALL_ODD,     /* a direct call whose length depends on the processor's maker */
    FLOW_CALL_BY_WORD, /* through a word at a fixed address, and six bytes long */
    FLOW_CALL_INDIRECT,
    FLOW_JUMP,         /* direct, with a condition or without */
    FLOW_JUMP_BY_WORD, /* through a word at a fixed address */
};

/* ---- instructions ---- */

static bool is_word_at_fixed_address(const ZydisDecodedInstruction *instruction) {
    return instruction->raw.modrm.mod == 0 && instruction->raw.modrm.rm == 5;
}

/* Opcode ff: the register field says what it is. */
static enum flow flow_of_group_5(const ZydisDecodedInstruction *instruction) {
    switch (instruction->raw.modrm.reg) {
    case 2:
        return is_word_at_fixed_address(instruction) && instruction->length == BYTES_BY_WORD
                   ? FLOW_CALL_BY_WORD
                   : FLOW_CALL_INDIRECT;
    case 3:
        return FLOW_CALL_INDIRECT;
    case 4:
    case 5:
        return is_word_at_fixed_address(instruction) ? FLOW_JUMP_BY_WORD : FLOW_OTHER;
    default:
        return FLOW_OTHER;
    }
}

/* An operand size prefix shortens the displacement on some processors, unless REX.W is there. */
static bool has_plain_size(const ZydisDecodedInstruction *instruction) {
    bool prefix = (instruction->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) != 0;
    return instruction->raw.imm[0].size == 32 && (!prefix || instruction->raw.rex.W == 1);
}

static enum flow flow_of(const ZydisDecodedInstruction *instruction) {
    uint8_t opcode = instruction->opcode;
    if (instruction->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        return FLOW_OTHER;
    if (instruction->opcode_map == ZYDIS_OPCODE_MAP_0F)
        return opcode >= 0x80 && opcode <= 0x8f ? FLOW_JUMP : FLOW_OTHER;
    if (instruction->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
        return FLOW_OTHER;
    if (opcode == 0xe8)
        return has_plain_size(instruction) ? FLOW_CALL : FLOW_CALL_ODD;
    if (opcode == 0xff)
        return flow_of_group_5(instruction);
    bool jumps = (opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0xe0 && opcode <= 0xe3) ||
                 opcode == 0xe9 || opcode == 0xeb;
    return jumps ? FLOW_JUMP : FLOW_OTHER;
}

static uint64_t word_of(const ZydisDecodedInstruction *instruction, uint64_t at) {
    return at + instruction->length + (uint64_t)instruction->raw.disp.value;
}

static uint64_t target_of(const ZydisDecodedInstruction *instruction, uint64_t at) {
    return at + instruction->length + (uint64_t)instruction->raw.imm[0].value.s;
}

/* ---- what is found ---- */

/* Where the frame of the function is during the call: as an unwinder finds it, which looks for the
 * last byte of the call. False: by no rule that is simple enough. */
static bool set_frame(const struct sweeper *sweeper, struct stretch *stretch, uint64_t last_byte,
                      struct swept_call *call) {
    const struct unwind_collection *entries = sweeper->targets->entries;
    const struct unwind_row *rows = entries->rows + stretch->entry->first_row;
    uint64_t offset = last_byte - sweeper->targets->entries_from;
    while (stretch->row + 1 < stretch->entry->n_rows && rows[stretch->row + 1].pc <= offset)
        stretch->row++;
    const struct unwind_rule *rule = &entries->rules[rows[stretch->row].rule];
    call->cfa = rule->cfa_off;
    call->frame = rule->cfa_reg == FP_COLUMN ? CALL_FRAME_FP : CALL_FRAME_SP;
    return rule->cfa == UNWIND_CFA_REG &&
           (rule->cfa_reg == FP_COLUMN || rule->cfa_reg == SP_COLUMN) &&
           rule->ra == UNWIND_AT_CFA && rule->ra_off == RA_AT_CFA;
}

/* False: no memory. */
static bool add_call(struct sweeper *sweeper, struct stretch *stretch, uint64_t at,
                     const ZydisDecodedInstruction *instruction, enum flow flow) {
    struct call_sweep *out = sweeper->out;
    if (!array_grow(&out->calls, out->n_calls, &out->room_calls, sizeof *out->calls))
        return false;
    struct swept_call *call = &out->calls[out->n_calls++];
    bool by_word = flow == FLOW_CALL_BY_WORD;
    *call = (struct swept_call){.at = at + instruction->length - CALL_SITE_BYTES,
                                .target =
                                    by_word ? word_of(instruction, at) : target_of(instruction, at),
                                .by_word = by_word,
                                .routine = sweeper->targets->entries_from + stretch->entry->start,
                                .left = CALL_LEFT_REASONS};
    if (flow == FLOW_CALL_ODD)
        call->left = CALL_LEFT_UNDECODED;
    else if (!set_frame(sweeper, stretch, at + instruction->length - 1u, call))
        call->left = CALL_LEFT_RULE;
    return true;
}

static bool leaves_function(const struct sweeper *sweeper, const struct stretch *stretch,
                            uint64_t target) {
    uint64_t start = sweeper->targets->entries_from + stretch->entry->start;
    return (target < start || target >= stretch->to) &&
           call_target_at(sweeper->targets, target).is_one;
}

static bool note(struct sweeper *sweeper, struct stretch *stretch, uint64_t at,
                 const ZydisDecodedInstruction *instruction) {
    enum flow flow = flow_of(instruction);
    switch (flow) {
    case FLOW_CALL:
    case FLOW_CALL_ODD:
        return add_call(sweeper, stretch, at, instruction, flow);
    case FLOW_CALL_BY_WORD:
        if (call_target_of_word(sweeper->targets, word_of(instruction, at)).is_one)
            return add_call(sweeper, stretch, at, instruction, flow);
        sweeper->out->left[CALL_LEFT_INDIRECT]++;
        break;
    case FLOW_CALL_INDIRECT:
        sweeper->out->left[CALL_LEFT_INDIRECT]++;
        break;
    case FLOW_JUMP:
        sweeper->out->left[CALL_LEFT_TAIL] +=
            leaves_function(sweeper, stretch, target_of(instruction, at));
        break;
    case FLOW_JUMP_BY_WORD:
        sweeper->out->left[CALL_LEFT_TAIL]++;
        break;
    case FLOW_OTHER:
        break;
    }
    return true;
}

/* ---- stretches of code ---- */

static bool decode(const struct sweeper *sweeper, uint64_t at, uint64_t to,
                   ZydisDecodedInstruction *instruction) {
    const struct call_text *text = sweeper->targets->text;
    return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
        &sweeper->decoder, NULL, text->bytes + (at - text->start), to - at, instruction));
}

/* Calls of code that is not known as a whole. */
static void leave_undecoded(struct call_sweep *out, size_t first_call) {
    for (size_t i = first_call; i < out->n_calls; i++)
        out->calls[i].left = CALL_LEFT_UNDECODED;
}

/* False: no memory. */
static bool sweep_entry(struct sweeper *sweeper, struct stretch *stretch) {
    uint64_t at = stretch->from;
    stretch->first_call = sweeper->out->n_calls;
    while (at < stretch->to) {
        ZydisDecodedInstruction instruction;
        if (!decode(sweeper, at, stretch->to, &instruction)) {
            stretch->decodes = false;
            at++;
            continue;
        }
        if (!note(sweeper, stretch, at, &instruction))
            return false;
        at += instruction.length;
    }
    if (!stretch->decodes)
        leave_undecoded(sweeper->out, stretch->first_call);
    return true;
}

/* The linker's entries, of which each jumps to a function, are no functions themselves. */
static bool is_plt(const struct sweeper *sweeper, const struct unwind_span *entry) {
    const struct unwind_collection *entries = sweeper->targets->entries;
    uint64_t got;
    for (uint32_t i = 0; i < entry->n_rows; i++)
        if (entries->rules[entries->rows[entry->first_row + i].rule].cfa == UNWIND_CFA_PLT)
            return true;
    return call_target_plt(sweeper->targets, sweeper->targets->entries_from + entry->start, &got) >
           0;
}

/* What stands between functions so that they are aligned. */
static bool is_padding(const ZydisDecodedInstruction *instruction, const uint8_t *bytes) {
    return instruction->mnemonic == ZYDIS_MNEMONIC_NOP ||
           instruction->mnemonic == ZYDIS_MNEMONIC_INT3 || (bytes[0] == 0 && bytes[1] == 0);
}

/* Bytes of code between entries: from the first instruction on that is no padding. */
static uint64_t bytes_between(const struct sweeper *sweeper, uint64_t from, uint64_t to) {
    const struct call_text *text = sweeper->targets->text;
    ZydisDecodedInstruction instruction;
    uint64_t at = from;
    while (at < to && decode(sweeper, at, to, &instruction) &&
           is_padding(&instruction, text->bytes + (at - text->start)))
        at += instruction.length;
    return to - at;
}

/* An entry outside the text, or within another, has no code of its own. Where two overlap, the
 * later one's code is not known as a whole. False: no memory. */
static bool sweep_next(struct sweeper *sweeper, const struct unwind_span *entry,
                       uint64_t *covered_to) {
    const struct call_text *text = sweeper->targets->text;
    uint64_t from = sweeper->targets->entries_from + entry->start;
    uint64_t to = sweeper->targets->entries_from + entry->end;
    bool overlaps = from < *covered_to;
    if (from < text->start || to > text->end || to <= *covered_to)
        return true;
    if (overlaps)
        from = *covered_to;
    else if (*covered_to > 0)
        sweeper->out->left[CALL_LEFT_NO_ENTRY] += bytes_between(sweeper, *covered_to, from);
    struct stretch stretch = {.entry = entry, .from = from, .to = to, .decodes = !overlaps};
    sweeper->out->covered += to - from;
    *covered_to = to;
    return is_plt(sweeper, entry) || sweep_entry(sweeper, &stretch);
}

bool call_sweep_run(struct call_sweep *sweep, const struct call_targets *targets) {
    struct sweeper sweeper = {.out = sweep, .targets = targets};
    uint64_t covered_to = 0;
    *sweep = (struct call_sweep){0};
    ZydisDecoderInit(&sweeper.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (size_t i = 0; i < targets->entries->n_spans; i++)
        if (!sweep_next(&sweeper, &targets->entries->spans[i], &covered_to))
            return false;
    return true;
}

void call_sweep_clear(struct call_sweep *sweep) {
    free(sweep->calls);
    *sweep = (struct call_sweep){0};
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_collect.c - reads all entries of an .eh_frame: rows and rules, not yet in order. The code
 * of _init, _fini and _start that has no entry comes last.
 */
#include "common/code/unwind_collect.h"

#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/array_grow.h"
#include "common/code/cfi_program.h"
#include "common/code/unwind_rule.h"
#include "common/wire/compiler.h"

#define RULES_MAX 65536u /* a row's rule is 16 bits */

/* A CIE as it is needed again and again. */
struct known_cie {
    Dwarf_Off offset;
    bool usable;
    bool is_signal;
    bool is_sized; /* entries begin with the length of their augmentation */
    size_t augmentation_bytes;
    struct cfi_cie cie;
};

struct collector {
    const struct eh_frame *frame;
    const struct unwind_machine *machine;
    struct unwind_collection *out;
    struct known_cie *cies; /* by first use: an entry's CIE is nearly always the newest */
    size_t n_cies, room_cies;
    struct cfi_run run;
    struct cfi_state last_state; /* memo of the last state that was turned into a rule */
    uint16_t last_rule;
    enum unwind_lack last_lack; /* UNWIND_LACKS: none */
    bool has_last;
};

/* ---- rules ---- */

static bool is_rule(const void *rules, uint32_t number, const void *rule) {
    return memcmp((const struct unwind_rule *)rules + number - 1, rule,
                  sizeof(struct unwind_rule)) == 0;
}

static bool add_rule(struct unwind_collection *out, const struct unwind_rule *rule) {
    if (!array_grow(&out->rules, out->n_rules, &out->room_rules, sizeof *out->rules))
        return false;
    out->rules[out->n_rules++] = *rule;
    return true;
}

/* The number of a rule. UNWIND_RULE_NONE when there are too many, or memory runs out. */
static uint16_t intern_rule(struct unwind_collection *out, const struct unwind_rule *rule) {
    uint64_t hash = seeded_hash_bytes(0, rule, sizeof *rule);
    uint32_t number = intern_get(&out->by_rule, hash, is_rule, out->rules, rule), *new;
    if (number != 0)
        return (uint16_t)(number - 1);
    if (out->n_rules == RULES_MAX || !add_rule(out, rule))
        return UNWIND_RULE_NONE;
    new = intern_try(&out->by_rule, hash, is_rule, out->rules, rule);
    if (new == NULL)
        return UNWIND_RULE_NONE;
    *new = (uint32_t)out->n_rules;
    return (uint16_t)(out->n_rules - 1);
}

static void rule_of_state(struct collector *collector, const struct cfi_state *state) {
    struct unwind_rule rule;
    collector->last_state = *state;
    collector->has_last = true;
    if (unwind_rule_of(collector->machine, state, &rule, &collector->last_lack))
        collector->last_lack = UNWIND_LACKS;
    else
        rule = unwind_rule_rich;
    collector->last_rule = intern_rule(collector->out, &rule);
    if (collector->last_rule == UNWIND_RULE_NONE)
        collector->last_lack = UNWIND_LACK_RULES;
}

/* ---- rows ---- */

static bool put_row(struct collector *collector, const struct unwind_span *span, uint64_t pc,
                    uint16_t rule, enum unwind_lack lack) {
    struct unwind_collection *out = collector->out;
    if (out->n_rows > span->first_row && out->rows[out->n_rows - 1].rule == rule)
        return true;
    if (out->n_rows == UINT32_MAX / 2 ||
        !array_grow(&out->rows, out->n_rows, &out->room_rows, sizeof *out->rows))
        return false;
    out->rows[out->n_rows++] = (struct unwind_row){.pc = (uint32_t)pc, .rule = rule};
    if (lack != UNWIND_LACKS)
        out->account.lack[lack]++;
    return true;
}

/* Without memory one is not known. */
static void note_signing(void *arg, const uint8_t *at) {
    struct collector *collector = arg;
    struct unwind_collection *out = collector->out;
    if (array_grow(&out->signing, out->n_signing, &out->room_signing, sizeof *out->signing))
        out->signing[out->n_signing++] =
            (uint64_t)(at - (const uint8_t *)collector->frame->data->d_buf);
}

/* The return address was pushed before the first instruction, which is a landing pad: the entry
 * says so behind it. */
static bool was_pushed_before(const struct collector *collector, const struct unwind_span *span) {
    const struct cfi_state *state = &collector->run.state;
    return collector->machine->ra_stays_in_reg && collector->out->n_rows == span->first_row + 1 &&
           state->cfa.how == CFI_OFFSET && state->cfa.reg == collector->machine->sp_column &&
           state->cfa.offset == 0 && state->ra.how == CFI_OFFSET && state->ra.offset >= 0;
}

/* Runs the instructions of an entry that covers `span`. False: no memory. */
static bool put_rows(struct collector *collector, const struct known_cie *known,
                     const struct unwind_span *span, const uint8_t *p, const uint8_t *end) {
    struct cfi_run *run = &collector->run;
    uint64_t base = collector->frame->code_start;
    enum cfi_status status;
    if (collector->machine->ra_stays_in_reg)
        cfi_find_signing(&known->cie, p, end, note_signing, collector);
    cfi_run_init(run, &known->cie, base + span->start, p, end);
    do {
        status = cfi_run_next(run);
        if (status == CFI_BROKEN) {
            collector->out->n_rows = span->first_row;
            return put_row(collector, span, span->start, UNWIND_RULE_NONE, UNWIND_LACK_PROGRAM);
        }
        if (run->from - base >= span->end)
            return true;
        if (!collector->has_last ||
            memcmp(&run->state, &collector->last_state, sizeof run->state) != 0)
            rule_of_state(collector, &run->state);
        uint64_t from = run->from - base;
        if (was_pushed_before(collector, span)) {
            collector->out->n_rows--;
            from = span->start;
        }
        if (!put_row(collector, span, from, collector->last_rule, collector->last_lack))
            return false;
    } while (status == CFI_ROW);
    return true;
}

static bool put_signal_row(struct collector *collector, const struct unwind_span *span) {
    uint16_t rule = intern_rule(collector->out, &unwind_rule_signal);
    return put_row(collector, span, span->start, rule,
                   rule == UNWIND_RULE_NONE ? UNWIND_LACK_RULES : UNWIND_LACKS);
}

/* ---- entries ---- */

/* What the letters of the augmentation say. False: one is not known, so nothing after it is. */
static bool read_augmentation(const Dwarf_CIE *raw, struct known_cie *known) {
    const char *letter = raw->augmentation;
    const uint8_t *p = raw->augmentation_data;
    const uint8_t *end = p == NULL ? NULL : p + raw->augmentation_data_size;
    struct cfi_cie personality = known->cie;
    uint64_t ignored, encoding;
    known->is_sized = *letter == 'z';
    known->augmentation_bytes = raw->fde_augmentation_data_size;
    for (letter += known->is_sized; *letter != '\0'; letter++) {
        switch (*letter) {
        case 'S':
            known->is_signal = true;
            break;
        case 'B': /* aarch64: the return address is signed by key B */
        case 'G': /* aarch64: tagged memory */
            break;
        case 'L':
            if (!cfi_read_fixed(&p, end, 1, false, &encoding))
                return false;
            break;
        case 'R':
            if (!cfi_read_fixed(&p, end, 1, false, &encoding))
                return false;
            known->cie.encoding = (uint8_t)encoding;
            break;
        case 'P':
            if (!cfi_read_fixed(&p, end, 1, false, &encoding))
                return false;
            personality.encoding = encoding & 0x0f; /* only to be skipped */
            if (!cfi_read_address(&personality, &p, end, true, &ignored))
                return false;
            break;
        default:
            return false;
        }
    }
    return true;
}

static void learn_cie(const struct collector *collector, const Dwarf_CIE *raw,
                      struct known_cie *known) {
    const struct eh_frame *frame = collector->frame;
    known->cie = (struct cfi_cie){
        .code_align = raw->code_alignment_factor,
        .data_align = raw->data_alignment_factor,
        .ra_column = raw->return_address_register,
        .fp_column = collector->machine->fp_column,
        .sp_column = collector->machine->sp_column,
        .eh_column = collector->machine->eh_column,
        .place_bias = frame->address - (uint64_t)(uintptr_t)frame->data->d_buf,
        .address_bytes = frame->address_bytes,
    };
    known->usable =
        read_augmentation(raw, known) &&
        cfi_cie_init(&known->cie, raw->initial_instructions, raw->initial_instructions_end);
}

/* The CIE at `offset`, read on first use. NULL: none there, or no memory. */
static const struct known_cie *cie_at(struct collector *collector, Dwarf_Off offset) {
    for (size_t i = collector->n_cies; i-- > 0;)
        if (collector->cies[i].offset == offset)
            return &collector->cies[i];
    Dwarf_CFI_Entry entry;
    Dwarf_Off next;
    const struct eh_frame *frame = collector->frame;
    if (!array_grow(&collector->cies, collector->n_cies, &collector->room_cies,
                    sizeof *collector->cies))
        return NULL;
    struct known_cie *known = &collector->cies[collector->n_cies++];
    *known = (struct known_cie){.offset = offset};
    if (offset < frame->data->d_size &&
        dwarf_next_cfi(frame->ident, frame->data, true, offset, &next, &entry) == 0 &&
        dwarf_cfi_cie_p(&entry))
        learn_cie(collector, &entry.cie, known);
    return known;
}

/* The code that an entry covers, from code_start on. False: none that this module can execute. */
static bool read_span(const struct collector *collector, const struct known_cie *known,
                      const uint8_t **p, const uint8_t *end, struct unwind_span *span) {
    const struct eh_frame *frame = collector->frame;
    uint64_t start, bytes, augmentation_bytes = known->augmentation_bytes;
    if (!cfi_read_address(&known->cie, p, end, false, &start) ||
        !cfi_read_address(&known->cie, p, end, true, &bytes))
        return false;
    if (known->is_sized && !cfi_read_uleb(p, end, &augmentation_bytes))
        return false;
    if (augmentation_bytes > (uint64_t)(end - *p) || start < frame->code_start ||
        start >= frame->code_end || bytes == 0 || bytes > frame->code_end - start)
        return false;
    *p += augmentation_bytes;
    uint64_t first = start - frame->code_start;
    if (first + bytes > UINT32_MAX)
        return false;
    span->start = (uint32_t)first;
    span->end = (uint32_t)(first + bytes);
    return true;
}

/* False: no memory. An entry that can't be read is counted. */
static bool collect_entry(struct collector *collector, const Dwarf_FDE *fde, Dwarf_Off offset) {
    struct unwind_collection *out = collector->out;
    struct unwind_span span = {.first_row = (uint32_t)out->n_rows, .entry = offset};
    const struct known_cie *known = cie_at(collector, fde->CIE_pointer);
    const uint8_t *p = fde->start;
    if (known == NULL)
        return false;
    if (!known->usable || !read_span(collector, known, &p, fde->end, &span)) {
        out->account.lack[UNWIND_LACK_ENTRY]++;
        return true;
    }
    if (!array_grow(&out->spans, out->n_spans, &out->room_spans, sizeof *out->spans))
        return false;
    if (!(known->is_signal ? put_signal_row(collector, &span)
                           : put_rows(collector, known, &span, p, fde->end)))
        return false;
    span.n_rows = (uint32_t)out->n_rows - span.first_row;
    span.is_signal = known->is_signal;
    out->spans[out->n_spans++] = span;
    return true;
}

static bool collect_all(struct collector *collector) {
    const struct eh_frame *frame = collector->frame;
    Dwarf_Off offset = 0, next;
    for (; offset < frame->data->d_size; offset = next) {
        Dwarf_CFI_Entry entry;
        next = offset;
        int status = dwarf_next_cfi(frame->ident, frame->data, true, offset, &next, &entry);
        if (status > 0 || next <= offset)
            break;
        if (status < 0)
            collector->out->account.lack[UNWIND_LACK_ENTRY]++;
        else if (!dwarf_cfi_cie_p(&entry) && !collect_entry(collector, &entry.fde, offset))
            return false;
    }
    collector->out->account.entries = collector->out->n_spans;
    collector->out->account.rows = collector->out->n_rows;
    return true;
}

/* ---- the code of _init, _fini and _start ---- */

static bool overlaps_any(const struct unwind_collection *out, uint64_t start, uint64_t end) {
    for (size_t i = 0; i < out->n_spans; i++)
        if (out->spans[i].start < end && start < out->spans[i].end)
            return true;
    return false;
}

/* Nobody has called it. */
static bool put_root_row(struct collector *collector, const struct unwind_span *span,
                         uint32_t offset) {
    const struct unwind_rule rule = {.cfa = UNWIND_CFA_REG,
                                     .cfa_reg = (uint8_t)collector->machine->sp_column,
                                     .ra = UNWIND_UNDEFINED,
                                     .fp = UNWIND_UNDEFINED};
    uint16_t number = intern_rule(collector->out, &rule);
    return put_row(collector, span, span->start + offset, number, UNWIND_LACKS);
}

/* A row at `offset`, with the rule that holds from there on. */
static bool put_init_row(struct collector *collector, const struct unwind_span *span,
                         const struct init_code *code, uint32_t offset) {
    struct init_frame frame = {0};
    if (code->is_start)
        return put_root_row(collector, span, offset);
    (void)init_code_frame(code, offset, &frame);
    struct unwind_rule rule = {.cfa = UNWIND_CFA_REG,
                               .cfa_reg = (uint8_t)collector->machine->sp_column,
                               .ra = frame.ra_saved ? UNWIND_AT_CFA : UNWIND_SAME,
                               .fp = frame.fp_saved ? UNWIND_AT_CFA : UNWIND_SAME,
                               .cfa_off = (int32_t)frame.cfa,
                               .ra_off = frame.ra_saved ? -INIT_CODE_WORD : 0,
                               .fp_off = frame.fp_saved ? -2 * INIT_CODE_WORD : 0};
    uint16_t number = intern_rule(collector->out, &rule);
    return put_row(collector, span, span->start + offset, number, UNWIND_LACKS);
}

/* Where an entry covers any of it, the entry is believed. False: no memory. */
static bool collect_init(struct collector *collector, unsigned n) {
    struct unwind_collection *out = collector->out;
    const struct init_code *code = &out->init[n].code;
    uint64_t start = out->init[n].address - collector->frame->code_start;
    uint64_t bytes = collector->frame->code_end - collector->frame->code_start;
    if (start >= bytes || code->end > bytes - start || start + code->end > UINT32_MAX ||
        overlaps_any(out, start, start + code->end))
        return true;
    struct unwind_span span = {.start = (uint32_t)start,
                               .end = (uint32_t)start + code->end,
                               .first_row = (uint32_t)out->n_rows,
                               .entry = n,
                               .is_init = true};
    if (!array_grow(&out->spans, out->n_spans, &out->room_spans, sizeof *out->spans) ||
        !put_init_row(collector, &span, code, 0))
        return false;
    if (!code->is_start && (!put_init_row(collector, &span, code, code->lowered) ||
                            !put_init_row(collector, &span, code, code->raised)))
        return false;
    span.n_rows = (uint32_t)out->n_rows - span.first_row;
    out->spans[out->n_spans++] = span;
    return true;
}

static bool collect_inits(struct collector *collector, Elf *elf) {
    unsigned n = init_code_find(elf, collector->out->init);
    for (unsigned i = 0; i < n; i++)
        if (!collect_init(collector, i))
            return false;
    return true;
}

bool unwind_collect(Elf *elf, const struct eh_frame *frame, struct unwind_collection *into) {
    static const struct unwind_rule none;
    memset(into, 0, sizeof *into);
    struct collector *collector = calloc(1, sizeof *collector);
    bool ok = collector != NULL && add_rule(into, &none);
    if (ok) {
        collector->frame = frame;
        collector->out = into;
        collector->machine = unwind_machine(frame->machine);
        ok = collector->machine != NULL && collect_all(collector) && collect_inits(collector, elf);
        free(collector->cies);
    }
    free(collector);
    return ok;
}

static int by_start(const void *a, const void *b) {
    const struct unwind_span *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->first_row < y->first_row ? -1 : x->first_row > y->first_row;
}

/* Linkers write entries nearly in order; sorting what is sorted would be most of the time. */
void unwind_collection_sort(struct unwind_collection *collection) {
    struct unwind_span *spans = collection->spans;
    for (size_t i = 1; i < collection->n_spans; i++)
        if (by_start(&spans[i - 1], &spans[i]) > 0) {
            qsort(spans, collection->n_spans, sizeof *spans, by_start);
            return;
        }
}

void unwind_collection_clear(struct unwind_collection *collection) {
    free(collection->spans);
    free(collection->rows);
    free(collection->rules);
    free(collection->signing);
    intern_free(&collection->by_rule);
    memset(collection, 0, sizeof *collection);
}

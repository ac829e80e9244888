/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_sites_compile.c - asks whether it can be done, sweeps, sorts calls by what stands against
 * them, and lays the rest out.
 */
#include "common/code/call_sites_compile.h"

#include <stdlib.h>
#include <string.h>

#include "common/code/call_sweep.h"
#include "common/code/call_targets.h"
#include "common/code/call_verdict.h"
#include "common/code/eh_frame.h"

/* What is called, once for each address, and once for each word. */
struct callees {
    struct callee {
        uint64_t address;
        bool by_word;
        struct call_target target;
        uint32_t index; /* of those that sites call */
        bool is_used;
    } * list; /* sorted */
    size_t n;
};

/* ---- what stands against a call ---- */

static int by_address(const void *a, const void *b) {
    const struct callee *x = a, *y = b;
    return x->address != y->address ? (x->address > y->address ? 1 : -1) : x->by_word - y->by_word;
}

static bool list_callees(struct callees *callees, const struct call_sweep *sweep,
                         const struct call_targets *targets) {
    callees->list = calloc(sweep->n_calls + 1, sizeof *callees->list);
    if (callees->list == NULL)
        return false;
    for (size_t i = 0; i < sweep->n_calls; i++)
        callees->list[i] =
            (struct callee){.address = sweep->calls[i].target, .by_word = sweep->calls[i].by_word};
    qsort(callees->list, sweep->n_calls, sizeof *callees->list, by_address);
    for (size_t i = 0; i < sweep->n_calls; i++) {
        if (i > 0 && by_address(&callees->list[i], &callees->list[callees->n - 1]) == 0)
            continue;
        struct callee *callee = &callees->list[callees->n++];
        *callee = callees->list[i];
        callee->target = callee->by_word ? call_target_of_word(targets, callee->address)
                                         : call_target_at(targets, callee->address);
    }
    return true;
}

static struct callee *callee_of(const struct callees *callees, const struct swept_call *call) {
    struct callee key = {.address = call->target, .by_word = call->by_word};
    return bsearch(&key, callees->list, callees->n, sizeof key, by_address);
}

/* Code that is not known as a whole comes first, then where the call leads, then where it is. */
static enum call_sites_left left_for(const struct swept_call *call,
                                     const struct call_target *target) {
    if (call->left == CALL_LEFT_UNDECODED)
        return CALL_LEFT_UNDECODED;
    if (!target->is_one)
        return CALL_LEFT_TARGET;
    return target->minds_caller ? CALL_LEFT_CALLER : (enum call_sites_left)call->left;
}

/* ---- the table ---- */

/* Counts all calls, and numbers the callees of those that are to be redirected. */
static void judge(struct call_sites *head, struct call_sweep *sweep, struct callees *callees) {
    for (size_t i = 0; i < CALL_LEFT_REASONS; i++)
        head->left[i] = (uint32_t)sweep->left[i];
    head->covered = (uint32_t)sweep->covered;
    head->found[0] = (uint32_t)sweep->n_calls;
    for (size_t i = 0; i < sweep->n_calls; i++) {
        struct swept_call *call = &sweep->calls[i];
        struct callee *callee = callee_of(callees, call);
        call->left = (uint8_t)left_for(call, &callee->target);
        head->found[1] += callee->target.got != 0;
        if (call->left != CALL_LEFT_REASONS) {
            head->left[call->left]++;
            continue;
        }
        head->sites++;
        if (!callee->is_used)
            callee->index = head->callees++;
        callee->is_used = true;
    }
}

static void put_sites(const struct call_sites *table, struct call_site *site,
                      const struct call_sweep *sweep, const struct callees *callees) {
    for (size_t i = 0; i < sweep->n_calls; i++) {
        const struct swept_call *call = &sweep->calls[i];
        if (call->left == CALL_LEFT_REASONS)
            *site++ = (struct call_site){.at = (uint32_t)(call->at - table->text_start),
                                         .routine = (uint32_t)(call->routine - table->text_start),
                                         .callee = callee_of(callees, call)->index,
                                         .cfa = call->cfa,
                                         .frame = call->frame};
    }
}

static void put_callees(struct call_callee *into, const struct callees *callees) {
    for (size_t i = 0; i < callees->n; i++) {
        const struct callee *callee = &callees->list[i];
        if (callee->is_used)
            into[callee->index] = (struct call_callee){
                .target = callee->by_word ? 0 : callee->address, .got = callee->target.got};
    }
}

/* The table that a head announces, with room for sites and callees. NULL: no memory. */
static struct call_sites *make_table(const struct call_sites *head) {
    size_t callees_off = sizeof *head + head->sites * sizeof(struct call_site);
    callees_off = (callees_off + 7) / 8 * 8;
    size_t bytes = callees_off + head->callees * sizeof(struct call_callee);
    struct call_sites *table = calloc(1, bytes);
    if (table == NULL)
        return NULL;
    *table = *head;
    table->magic = CALL_SITES_MAGIC;
    table->bytes = bytes;
    table->sites_off = sizeof *table;
    table->callees_off = callees_off;
    return table;
}

static struct call_sites *lay_out(struct call_sites *head, struct call_sweep *sweep,
                                  struct callees *callees) {
    judge(head, sweep, callees);
    head->verdict = head->sites > 0 ? CALLS_FOLLOWED : CALLS_NO_SITES;
    struct call_sites *table = make_table(head);
    if (table == NULL)
        return NULL;
    put_sites(table, (struct call_site *)(void *)((char *)table + table->sites_off), sweep,
              callees);
    put_callees((struct call_callee *)(void *)((char *)table + table->callees_off), callees);
    return table;
}

/* ---- all of it ---- */

static struct call_sites *with_verdict(enum calls_verdict verdict) {
    struct call_sites head = {.verdict = verdict};
    return make_table(&head);
}

static struct call_sites *sweep_and_lay_out(struct call_sites *head,
                                            const struct elf_dynamic *dynamic,
                                            const struct call_text *text,
                                            const struct unwind_collection *entries,
                                            uint64_t entries_from) {
    struct call_targets targets;
    struct call_sweep sweep = {0};
    struct callees callees = {0};
    struct call_sites *table = NULL;
    if (call_targets_read(&targets, dynamic, text, entries, entries_from) &&
        call_sweep_run(&sweep, &targets) && list_callees(&callees, &sweep, &targets))
        table = lay_out(head, &sweep, &callees);
    free(callees.list);
    call_sweep_clear(&sweep);
    call_targets_clear(&targets);
    return table;
}

static struct call_sites *compile(Elf *elf, const struct call_segment *segment,
                                  const struct elf_dynamic *dynamic) {
    struct eh_frame frame;
    struct unwind_collection entries = {0};
    struct call_sites *table;
    uint64_t before = segment->address % CALL_SITES_PAGE, n;
    struct call_text text = {.bytes = elf_bytes_from(elf, segment->address, &n),
                             .start = segment->address,
                             .end = segment->address + segment->bytes};
    struct call_sites head = {.text_start = segment->address - before,
                              .text_bytes = (before + segment->bytes + CALL_SITES_PAGE - 1) /
                                            CALL_SITES_PAGE * CALL_SITES_PAGE,
                              .file_offset = segment->offset - before};
    if (text.bytes == NULL || n != segment->bytes)
        return with_verdict(CALLS_UNREADABLE);
    if (eh_frame_find(elf, &frame) && unwind_collect(elf, &frame, &entries) &&
        entries.n_spans > 0) {
        unwind_collection_sort(&entries);
        table = sweep_and_lay_out(&head, dynamic, &text, &entries, frame.code_start);
    } else {
        table = with_verdict(CALLS_NO_ENTRIES);
    }
    unwind_collection_clear(&entries);
    return table;
}

struct call_sites *call_sites_compile(Elf *elf, size_t *bytes) {
    struct call_segment segment;
    struct elf_dynamic dynamic;
    enum calls_verdict verdict = call_verdict_of(elf, &segment, &dynamic);
    struct call_sites *table =
        verdict == CALLS_FOLLOWED ? compile(elf, &segment, &dynamic) : with_verdict(verdict);
    if (table != NULL)
        *bytes = table->bytes;
    return table;
}

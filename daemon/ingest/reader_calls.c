/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * reader_calls.c - the verbs of counted calls, and of bursts of them: the way that is fast.
 */
#include "common/tree/poisson.h"
#include "common/wire/ring.h"
#include "daemon/ingest/reader_drain.h"

#define LOOKED_UP 64u /* calls: their frames are looked up side by side */

static inline struct mcct_batch_step read_call(struct drain *d, uint64_t word) {
    uint64_t code = d->reader->code;
    uint64_t routine = code + (word >> WIRE_CODE_SHIFT & (WIRE_CODE_BYTES - 1));
    uint64_t site = code + (word & (WIRE_CODE_BYTES - 1));
    return (struct mcct_batch_step){.pops = (uint16_t)(word >> WIRE_POPS_SHIFT & WIRE_POPS_MAX),
                                    .times = 1,
                                    .frame = addresses_frame(d->map, routine, site)};
}

/* Only the batch is to know of what comes. */
static bool gathers(const struct drain *d) {
    const struct reader *reader = d->reader;
    return d->batch != NULL && reader->samples == NULL && !trace_is_kept(&reader->trace);
}

/* Calls and what stands for one, from `word` on. */
struct reading {
    const volatile uint64_t *word;
    uint64_t n;
    struct mcct_batch_step step[LOOKED_UP];
    unsigned steps, calls;
};

/* A call from one module to another, in the words of walks: CODE, POP, PUSH and CREDIT 1, of which
 * only PUSH must be there, as where the caller itself was not seen; CALL may stand in its place.
 * Gives the number of words, 0: it is none, or not all of it is there. */
static unsigned read_step(struct drain *d, struct reading *reading) {
    const volatile uint64_t *words = reading->word;
    struct mcct_batch_step *step = &reading->step[reading->steps];
    uint64_t n = reading->n, pops = 0, at = 0, word = words[at++];
    if (word >> WIRE_VERB_SHIFT == WIRE_CODE) {
        d->reader->code = word & WIRE_OPERAND_MASK;
        return 1;
    }
    if (word >> WIRE_VERB_SHIFT == WIRE_POP && n > at) {
        pops = word & WIRE_OPERAND_MASK;
        word = words[at++];
    }
    uint64_t routine = word & WIRE_OPERAND_MASK;
    if (word >> WIRE_VERB_SHIFT != WIRE_PUSH || routine >= WIRE_LABEL || pops > UINT16_MAX ||
        n <= at)
        return 0; /* no address: NAME, or LABEL */
    uint64_t site = words[at++];
    *step = (struct mcct_batch_step){.pops = (uint16_t)pops,
                                     .frame = addresses_frame(d->map, routine, site)};
    step->times = n > at && words[at] == wire_word(WIRE_CREDIT, 1);
    reading->calls += step->times;
    reading->steps++;
    return (unsigned)at + step->times;
}

/* As much as there is room for; stops at anything else. Gives the number of words. */
static uint64_t read_steps(struct drain *d, struct reading *reading) {
    uint64_t before = reading->n;
    unsigned words = 1;
    bool whole = gathers(d);
    reading->steps = reading->calls = 0;
    while (reading->steps < LOOKED_UP && reading->n > 0 && words > 0) {
        uint64_t word = *reading->word;
        if (hcct_likely((word & WIRE_CALL) != 0)) {
            reading->step[reading->steps++] = read_call(d, word);
            reading->calls++;
            words = 1;
        } else {
            words = whole ? read_step(d, reading) : 0;
        }
        reading->word += words;
        reading->n -= words;
    }
    return before - reading->n;
}

/* Steps that are no calls are for a batch (read_steps). */
static bool apply_steps(struct drain *d, const struct mcct_batch_step *step, unsigned n) {
    if (gathers(d)) {
        size_t made = n;
        d->level = mcct_batch_steps(d->batch, d->level, step, &made);
        return made == n;
    }
    for (unsigned i = 0; i < n; i++) {
        if (step[i].pops > 0 && hcct_unlikely(!pop_in_tree(d, step[i].pops)))
            return false;
        call_frame(d, step[i].frame);
    }
    return true;
}

bool reader_calls(struct drain *d) {
    struct reader *reader = d->reader;
    uint64_t offset = reader->at % reader->size, left = d->end - reader->at, begin = reader->at;
    uint64_t n = left < reader->size - offset ? left : reader->size - offset, words;
    struct reading reading;
    reading.word = ring_words(d->slot) + offset;
    reading.n = n < reader->size / READER_SLICE_PART ? n : reader->size / READER_SLICE_PART;
    while (!reader->broken && (words = read_steps(d, &reading)) > 0) {
        reader->broken = !apply_steps(d, reading.step, reading.steps);
        reader->at += words;
        reader->burst_calls += reading.calls;
        d->effect->credits += reading.calls;
    }
    return reader->at != begin;
}

/* With sub-windows, which is no matter of speed: no honest agent that walks stacks reports
 * calls. */
static void call_in_subwindow(struct drain *d, const struct mcct_batch_step *call) {
    if (call->pops > 0 && !pop_frames(d, call->pops)) {
        d->reader->broken = true;
        return;
    }
    if (in_subwindow(d->reader))
        mcct_call(&d->reader->subwindow_cursor, call->frame);
    call_frame(d, call->frame);
}

void reader_call(struct drain *d, uint64_t word) {
    struct reader *reader = d->reader;
    struct mcct_batch_step call = read_call(d, word);
    d->effect->credits++;
    reader->burst_calls++;
    if (reader->subwindows != NULL) {
        call_in_subwindow(d, &call);
        return;
    }
    reader->broken = !apply_steps(d, &call, 1);
    (void)reader_calls(d);
}

/* ---- bursts of calls ---- */

void reader_end_burst(struct reader *reader) {
    if (reader->each != 0 && reader->bursts != NULL)
        burst_sums_add(reader->bursts, reader->each, reader->burst_calls);
    reader->burst_calls = 0;
}

void reader_begin_burst(struct drain *d, uint64_t each) {
    struct reader *reader = d->reader;
    if (each == 0 || each > WIRE_BURST_MAX) {
        reader->broken = true;
        return;
    }
    if (each != reader->cursor.each || trace_is_kept(&reader->trace))
        end_batch(d);
    reader_end_burst(reader);
    reader->each = each;
    mcct_count_as(&reader->cursor, each);
    trace_count_as(&reader->trace, (uint32_t)each);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * reader.c - the verbs, and the checks that make them safe. Those of calls are in reader_calls.c.
 */
#include "daemon/ingest/reader.h"

#include <linux/futex.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/tree/poisson.h"
#include "common/wire/ring.h"
#include "daemon/ingest/reader_drain.h"

#define RESTED_NS 100000000ull /* without words: a few bursts are further apart */

/* ---- weights ---- */

/* What an event adds to the variance. */
static double event_variance(const struct reader *reader, uint64_t weight) {
    return reader->numbers ? poisson_variance_of_number(weight)
                           : poisson_variance(weight, reader->events_mean);
}

/* The part of a weight that was left to chance: its square is what it varies by. */
static uint64_t chance_of(const struct reader *reader, uint64_t weight) {
    if (reader->events_mean != 0)
        return (uint64_t)sqrt(event_variance(reader, weight));
    return draws_chance(weight, reader->measured_above);
}

/* `operand`: of CREDIT or RAW_STACK. */
static struct scatter_sample sample_of(const struct reader *reader, uint64_t operand) {
    uint64_t weight = operand & WIRE_WEIGHT_MASK;
    return (struct scatter_sample){
        .weight = weight,
        .chance = chance_of(reader, weight),
        .step = reader->step,
        .same_burst = (operand & WIRE_SAME_BURST) != 0,
        .steps = (operand & WIRE_STEPS) != 0,
        .attached = (operand & WIRE_ATTACHED) != 0 ? WIRE_ATTACH_NS : 0,
        .rarest = reader->rarest,
    };
}

/* What it weighs stands in the session's memory, as long as there is such a block. */
static void name_block(struct reader *reader) {
    if (reader->block != 0)
        heap_name(reader->heap, &reader->heap_cursor, reader->block);
    reader->block = 0;
}

/* A sample that stands for so much: of what is freed again, too. */
static void meet(struct drain *d, uint64_t weight) {
    if (d->reader->numbers && weight > d->effect->greatest)
        d->effect->greatest = weight;
}

/* What its weight leaves to chance. */
static void draw(struct drain *d, uint64_t weight) {
    const struct reader *reader = d->reader;
    if (reader->events_mean != 0)
        draws_add_event(&d->effect->draws, weight, event_variance(reader, weight),
                        reader->numbers ? 0 : DRAWS_UNIT_SHIFT);
    else
        draws_add(&d->effect->draws, weight << reader->draws_shift, reader->measured_above);
}

static void credit(struct drain *d, uint64_t operand) {
    struct reader *reader = d->reader;
    meet(d, operand & WIRE_WEIGHT_MASK);
    if (reader->heap != NULL) {
        name_block(reader);
        return;
    }
    const struct scatter_sample sample = sample_of(reader, operand);
    if (in_subwindow(reader))
        mcct_credit(&reader->subwindow_cursor, sample.weight);
    else if (reader->subwindows != NULL)
        subwindows_miss(reader->subwindows);
    draw(d, sample.weight);
    scatter_credit(reader->samples, &sample);
    reader->burst_calls += sample.weight;
    credit_in_tree(d, sample.weight);
}

/* Of a function of Python, or of a label. */
static void take_name(struct drain *d, uint64_t bytes) {
    struct reader *reader = d->reader;
    uint64_t words[WIRE_NAME_MAX / 8], n = (bytes + 7) / 8;
    if (bytes == 0 || bytes > WIRE_NAME_MAX || d->end - reader->at < 1 + n) {
        reader->broken = true;
        return;
    }
    uint64_t code = ring_word(d->slot, reader->size, reader->at++);
    for (uint64_t i = 0; i < n; i++)
        words[i] = ring_word(d->slot, reader->size, reader->at++);
    addresses_tell(d->map, code, (const char *)words, bytes);
}

/* The numbers of labels, of which a thread has so many at most. */
static bool read_labels(struct drain *d, uint64_t n, struct context_root *root) {
    struct reader *reader = d->reader;
    if (n > WIRE_LABELS || d->end - reader->at < n)
        return false;
    root->labels = (uint16_t)n;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t id = ring_word(d->slot, reader->size, reader->at++);
        if (id == 0 || id >= WIRE_LABEL_IDS)
            return false;
        root->label[i] = (uint16_t)id;
    }
    return true;
}

/* The cursor is just below the labels that the thread had. */
static void take_labels(struct drain *d, uint64_t n) {
    struct reader *reader = d->reader;
    struct context_root root = {.labels = 0};
    uint32_t frame[CONTEXT_ROOT_FRAMES];
    if (!read_labels(d, n, &root) ||
        (reader->root.labels > 0 && !pop_frames(d, reader->root.labels))) {
        reader->broken = true;
        return;
    }
    n = context_root_frames(d->map, &root, frame);
    for (uint64_t i = 0; i < n; i++) {
        scatter_push(reader->samples, WIRE_LABEL | root.label[i], frame[i]);
        push_frame(d, frame[i]);
    }
    reader->root.labels = root.labels;
    memcpy(reader->root.label, root.label, sizeof root.label);
}

static void push(struct drain *d, uint64_t routine) {
    struct reader *reader = d->reader;
    if (hcct_unlikely(wire_is_name(routine))) {
        take_name(d, routine & (WIRE_NAME - 1));
        return;
    }
    if (hcct_unlikely(wire_is_label(routine))) {
        take_labels(d, routine & (WIRE_LABEL - 1));
        return;
    }
    if (hcct_unlikely(reader->at == d->end)) { /* a record is published whole */
        reader->broken = true;
        return;
    }
    uint64_t site = ring_word(d->slot, d->reader->size, reader->at++);
    uint32_t frame = addresses_frame(d->map, routine, site);
    if (routine == WIRE_LEAF_PC)
        scatter_push_leaf_pc(reader->samples);
    else
        scatter_push(reader->samples, routine, frame);
    push_frame(d, frame);
}

static void repeat(struct drain *d, uint64_t n) {
    struct heap *heap = d->reader->heap;
    follow_record(d);
    go_direct(d);
    d->effect->repeats += n;
    if (heap != NULL) {
        d->reader->broken = n > WIRE_MAX_FRAMES || !heap_repeat(heap, &d->reader->heap_cursor, n);
    } else if (n > WIRE_MAX_FRAMES || !mcct_repeat(&d->reader->cursor, n)) {
        d->reader->broken = true;
    } else {
        if (in_subwindow(d->reader))
            mcct_repeat(&d->reader->subwindow_cursor, n);
        scatter_repeat(d->reader->samples, n);
        trace_repeat(&d->reader->trace, n);
    }
    d->effect->undrained =
        d->reader->repeat_max != 0 && d->effect->repeats >= d->reader->repeat_max;
}

/* ---- raw stack samples ---- */

static void copy_words(struct drain *d, uint64_t *into, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        into[i] = ring_word(d->slot, d->reader->size, d->reader->at++);
}

#define RAW_STACK_FIRST_WORDS 3u /* pc, where to go on, registers known there */
#define RAW_STACK_FRAME_WORDS 2u /* routine, site */
_Static_assert(sizeof(struct unwound_frame) == 8 * RAW_STACK_FRAME_WORDS, "as in a ring");

static void take_stack(struct drain *d, struct raw_sample *raw) {
    struct raw_stack *stack = &raw->stack;
    uint64_t first[RAW_STACK_FIRST_WORDS];
    copy_words(d, first, RAW_STACK_FIRST_WORDS);
    stack->pc = first[0];
    stack->at = first[1];
    stack->known = first[2];
    addresses_ranges(d->map, raw_stack_ranges(stack), stack->n_ranges);
    copy_words(d, raw_stack_registers(stack), stack->n_registers);
    copy_words(d, (uint64_t *)raw_stack_inner(stack), RAW_STACK_FRAME_WORDS * stack->n_inner);
    copy_words(d, raw_stack_words(stack), stack->n_words);
    addresses_meet(d->map, stack->pc);
    raw_sample_list_add(d->reader->deferred, raw);
}

/* The numbers that a RAW_STACK record begins with; *words gets the number of words that follow.
 * False: they are impossible. */
static bool read_sizes(struct drain *d, struct raw_stack *sizes, uint64_t *words) {
    struct reader *reader = d->reader;
    if (reader->at >= d->end)
        return false;
    uint64_t word = ring_word(d->slot, reader->size, reader->at++);
    *sizes = (struct raw_stack){.n_inner = WIRE_RAW_STACK_FRAMES(word),
                                .n_registers = WIRE_RAW_STACK_REGISTERS(word),
                                .n_words = WIRE_RAW_STACK_WORDS(word)};
    if (sizes->n_inner > RAW_STACK_INNER_MAX || sizes->n_registers > RAW_STACK_REGISTERS_MAX ||
        sizes->n_words > RAW_STACK_WORDS_MAX)
        return false;
    *words = RAW_STACK_FIRST_WORDS + RAW_STACK_FRAME_WORDS * (uint64_t)sizes->n_inner +
             sizes->n_registers + sizes->n_words;
    return d->end - reader->at >= *words;
}

static void defer_stack(struct drain *d, uint64_t operand) {
    struct reader *reader = d->reader;
    const struct scatter_sample sample = sample_of(reader, operand);
    uint64_t weight = sample.weight;
    struct raw_stack sizes;
    uint64_t words;
    if (!read_sizes(d, &sizes, &words)) {
        reader->broken = true;
        return;
    }
    meet(d, weight);
    if (reader->heap == NULL)
        draw(d, weight);
    if (weight > 0)
        scatter_skip(reader->samples, &sample);
    d->effect->copies = true;
    uint32_t ranges = addresses_count(d->map);
    sizes.n_ranges = ranges < RAW_STACK_RANGES_MAX ? ranges : RAW_STACK_RANGES_MAX;
    struct raw_sample *taken = reader->deferred != NULL && weight > 0
                                   ? raw_sample_new(addresses_uid(d->map), &sizes)
                                   : NULL;
    if (taken != NULL) {
        taken->weight = weight;
        taken->generation = reader->generation;
        taken->root = reader->root;
        taken->block = reader->block;
        reader->block = 0;
        take_stack(d, taken);
        return;
    }
    reader->at += words;
    d->effect->refused += weight > 0;
    if (__builtin_add_overflow(d->effect->refused_weight, weight, &d->effect->refused_weight))
        d->effect->refused_weight = UINT64_MAX;
}

/* WIRE_DRAWN of the next block. */
static void meet_mean(struct reader *reader, uint64_t drawn) {
    reader->events_mean = wire_blocks_mean(drawn);
    reader->rarest = wire_rarest_block(wire_blocks_usual_mean(drawn), reader->numbers);
}

/* CODE, or BLOCK: where allocations are followed, or sampled. */
static void take_code(struct reader *reader, uint64_t operand) {
    if (reader->heap != NULL)
        reader->block = operand;
    else if (reader->events_mean != 0)
        meet_mean(reader, operand);
    else
        reader->code = operand;
}

/* ---- room for the writer ---- */

void reader_wake(struct wire_slot *slot) {
    atomic_store(&slot->waiting, 0);
    syscall(SYS_futex, &slot->waiting, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* A thread that counts calls may be asleep until there is room; half a ring is worth its waking. */
static void wake_writer(const struct reader *reader, struct wire_slot *slot) {
    uint64_t left = atomic_load_explicit(&slot->head, memory_order_relaxed) - reader->at;
    if (hcct_unlikely(atomic_load(&slot->waiting) != 0) && left <= reader->size / 2)
        reader_wake(slot);
}

static void give_back(struct drain *d) {
    ring_consume(d->slot, d->reader->at);
    d->consumed = d->reader->at;
    wake_writer(d->reader, d->slot);
}

/* ---- all verbs ---- */

/* True: go on with the next word. */
static bool apply(struct drain *d) {
    struct reader *reader = d->reader;
    if (d->batch != NULL && reader_calls(d))
        return !reader->broken;
    uint64_t word = ring_word(d->slot, d->reader->size, reader->at++);
    uint64_t operand = word & WIRE_OPERAND_MASK;
    if ((word & WIRE_CALL) != 0 && reader->heap == NULL) {
        reader_call(d, word);
        return !reader->broken;
    }
    switch (word >> WIRE_VERB_SHIFT) {
    case WIRE_POP:
        reader->broken = !pop_frames(d, operand);
        break;
    case WIRE_PUSH:
        push(d, operand);
        break;
    case WIRE_REPEAT:
        repeat(d, operand);
        break;
    case WIRE_CODE:
        take_code(reader, operand);
        break;
    case WIRE_BURST:
        if (reader->heap != NULL)
            reader->broken = true;
        else
            reader_begin_burst(d, operand);
        break;
    case WIRE_CREDIT:
        if ((operand & WIRE_WEIGHT_MASK) > 0)
            credit(d, operand);
        d->effect->credits++;
        break;
    case WIRE_RAW_STACK:
        defer_stack(d, operand);
        d->effect->credits++;
        break;
    case WIRE_MAP:
        reader->generation = (uint32_t)operand;
        d->effect->map_changed = true;
        return false;
    default:
        reader->broken = true;
    }
    return !reader->broken && !d->effect->undrained;
}

uint64_t reader_end(struct reader *reader, struct wire_slot *slot) {
    uint64_t n = ring_available(slot, reader->size, reader->at);
    if (n == RING_BROKEN)
        reader->broken = true;
    return n == RING_BROKEN ? RING_BROKEN : reader->at + n;
}

static void open_reader(struct reader *reader, struct mcct *tree, struct addresses *map) {
    uint32_t frame[CONTEXT_ROOT_FRAMES];
    unsigned n = context_root_frames(map, &reader->root, frame);
    trace_thread_begin(&reader->trace, reader->keeper);
    if (reader->heap == NULL)
        mcct_cursor_open(tree, &reader->cursor);
    for (unsigned i = 0; i < n; i++) {
        if (reader->heap == NULL)
            mcct_push(&reader->cursor, frame[i]);
        else
            heap_push(reader->heap, &reader->heap_cursor, frame[i]);
        trace_push(&reader->trace, frame[i]);
    }
    reader->samples = scatter_thread_new(reader->scatter);
    reader->open = true;
}

/* Nothing more of it is read. Its thread may be waiting for room. */
static void discard(struct reader *reader, struct wire_slot *slot, struct reader_effect *effect) {
    uint64_t head = atomic_load_explicit(&slot->head, memory_order_acquire);
    effect->discarded = ring_unread(slot, reader->size, head);
    reader->at = head;
    ring_consume(slot, head);
    wake_writer(reader, slot);
}

void reader_drain(struct reader *reader, struct wire_slot *slot, uint64_t end, struct mcct *tree,
                  struct addresses *map, struct reader_effect *effect) {
    *effect = (struct reader_effect){0};
    if (reader->broken) {
        discard(reader, slot, effect);
        return;
    }
    uint64_t begin = reader->at;
    if (end != begin && !reader->open)
        open_reader(reader, tree, map);
    if (end != begin)
        enter_subwindow(reader);
    addresses_at(map, reader->generation);
    struct drain drain = {
        .reader = reader,
        .slot = slot,
        .end = end,
        .consumed = begin,
        .map = map,
        .effect = effect,
    };
    if (end != begin && reader->heap == NULL)
        drain.batch = mcct_batch_go_on(&reader->cursor, &drain.level);
    while (reader->at != drain.end && apply(&drain))
        if (reader->at - drain.consumed >= reader->size / READER_SLICE_PART)
            give_back(&drain);
    leave_batch(&drain);
    trace_thread_leave(&reader->trace);
    effect->words = reader->at - begin;
    give_back(&drain);
}

void reader_rest(struct reader *reader, const struct reader_effect *effect, uint64_t now_ns) {
    if (effect->words > 0)
        reader->moved_ns = now_ns;
    else if (reader->open && reader->heap == NULL && now_ns - reader->moved_ns > RESTED_NS)
        mcct_batch_wait_no_more(&reader->cursor);
}

void reader_close(struct reader *reader) {
    if (in_subwindow(reader))
        mcct_cursor_close(&reader->subwindow_cursor);
    if (reader->open) {
        if (reader->heap == NULL)
            mcct_cursor_close(&reader->cursor);
        else
            heap_close(reader->heap, &reader->heap_cursor);
        trace_thread_end(&reader->trace);
        reader_end_burst(reader);
    }
    reader->each = 0;
    reader->found_ns = 0;
    reader->root = (struct context_root){.labels = 0};
    scatter_thread_free(reader->samples);
    reader->samples = NULL;
    reader->open = false;
}

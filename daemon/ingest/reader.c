/*
 * reader.c - the verbs, and the checks that make them safe.
 */
#include "daemon/ingest/reader.h"

#include "common/compiler.h"
#include "common/ring.h"

/* What a drain works on. */
struct drain {
    struct reader *reader;
    struct wire_slot *slot;
    uint64_t end; /* of what is published */
    struct addresses *map;
    struct reader_effect *effect;
};

static void push(struct drain *d, uint64_t routine) {
    struct reader *reader = d->reader;
    if (hcct_unlikely(reader->at == d->end)) { /* a record is published whole */
        reader->broken = true;
        return;
    }
    uint64_t site = ring_word(d->slot, reader->at++);
    mcct_push(&reader->cursor, addresses_frame(d->map, routine, site));
}

static void again(struct drain *d, uint64_t n) {
    d->effect->again += n;
    if (n > WIRE_MAX_FRAMES || !mcct_again(&d->reader->cursor, n))
        d->reader->broken = true;
    d->effect->behind = d->reader->again_max != 0 && d->effect->again >= d->reader->again_max;
}

/* ---- shipped stacks ---- */

static void copy_words(struct drain *d, uint64_t *into, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        into[i] = ring_word(d->slot, d->reader->at++);
}

static void take_stack(struct drain *d, struct ship *ship) {
    struct shipped_stack *stack = &ship->stack;
    stack->pc = ring_word(d->slot, d->reader->at++);
    addresses_ranges(d->map, shipped_ranges(stack), stack->n_ranges);
    copy_words(d, shipped_registers(stack), stack->n_registers);
    copy_words(d, shipped_words(stack), stack->n_words);
    ship_list_add(d->reader->ships, ship);
}

static void ship(struct drain *d, uint64_t weight) {
    struct reader *reader = d->reader;
    uint64_t sizes = reader->at < d->end ? ring_word(d->slot, reader->at++) : UINT64_MAX;
    uint32_t registers = (uint32_t)(sizes >> 32), words = (uint32_t)sizes;
    if (registers > SHIPPED_REGISTERS_MAX || words > SHIPPED_WORDS_MAX ||
        d->end - reader->at < 1ull + registers + words) {
        reader->broken = true;
        return;
    }
    uint32_t ranges = addresses_count(d->map);
    struct ship *taken = NULL;
    if (reader->ships != NULL && weight > 0)
        taken =
            ship_new(ranges < SHIPPED_RANGES_MAX ? ranges : SHIPPED_RANGES_MAX, registers, words);
    if (taken != NULL) {
        taken->weight = weight;
        taken->generation = reader->generation;
        take_stack(d, taken);
        return;
    }
    reader->at += 1ull + registers + words;
    d->effect->refused += weight > 0;
    if (__builtin_add_overflow(d->effect->refused_weight, weight, &d->effect->refused_weight))
        d->effect->refused_weight = UINT64_MAX;
}

/* ---- all verbs ---- */

/* True: go on with the next word. */
static bool apply(struct drain *d) {
    struct reader *reader = d->reader;
    uint64_t word = ring_word(d->slot, reader->at++);
    uint64_t operand = word & WIRE_OPERAND_MASK;
    switch (word >> WIRE_VERB_SHIFT) {
    case WIRE_POP:
        reader->broken = mcct_pop(&reader->cursor, operand) != operand;
        break;
    case WIRE_PUSH:
        push(d, operand);
        break;
    case WIRE_AGAIN:
        again(d, operand);
        break;
    case WIRE_CREDIT:
        if (operand > 0)
            mcct_credit(&reader->cursor, operand);
        d->effect->credits++;
        break;
    case WIRE_SHIP:
        ship(d, operand);
        d->effect->credits++;
        break;
    case WIRE_MAP:
        reader->generation = (uint32_t)operand;
        d->effect->map_changed = true;
        return false;
    default:
        reader->broken = true;
    }
    return !reader->broken && !d->effect->behind;
}

void reader_drain(struct reader *reader, struct wire_slot *slot, struct mcct *tree,
                  struct addresses *map, struct reader_effect *effect) {
    *effect = (struct reader_effect){0};
    if (reader->broken)
        return;
    uint64_t n = ring_available(slot, reader->at);
    if (n == RING_BROKEN) {
        reader->broken = true;
        return;
    }
    if (n > 0 && !reader->open) {
        mcct_cursor_open(tree, &reader->cursor);
        reader->open = true;
    }
    addresses_at(map, reader->generation);
    struct drain drain = {reader, slot, reader->at + n, map, effect};
    while (reader->at != drain.end && apply(&drain))
        ;
    ring_consume(slot, reader->at);
}

void reader_close(struct reader *reader) {
    if (reader->open)
        mcct_cursor_close(&reader->cursor);
    reader->open = false;
}

/*
 * reader.c - the three verbs, and the checks that make them safe.
 */
#include "daemon/ingest/reader.h"

#include "common/compiler.h"
#include "common/ring.h"

/* True: go on with the next word. */
static bool apply(struct reader *reader, struct wire_slot *slot, uint64_t end,
                  struct addresses *map, struct reader_effect *effect) {
    uint64_t word = ring_word(slot, reader->at++);
    uint64_t operand = word & WIRE_OPERAND_MASK;
    switch (word >> WIRE_VERB_SHIFT) {
    case WIRE_POP:
        reader->broken = mcct_pop(&reader->cursor, operand) != operand;
        break;
    case WIRE_PUSH:
        if (hcct_unlikely(reader->at == end)) { /* a record is published whole */
            reader->broken = true;
            break;
        }
        mcct_push(&reader->cursor, addresses_frame(map, operand, ring_word(slot, reader->at++)));
        break;
    case WIRE_CREDIT:
        if (operand > 0)
            mcct_credit(&reader->cursor, operand);
        effect->credits++;
        break;
    case WIRE_MAP:
        effect->map_changed = true;
        return false;
    default:
        reader->broken = true;
    }
    return !reader->broken;
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
    uint64_t end = reader->at + n;
    while (reader->at != end && apply(reader, slot, end, map, effect))
        ;
    ring_consume(slot, reader->at);
}

void reader_close(struct reader *reader) {
    if (reader->open)
        mcct_cursor_close(&reader->cursor);
    reader->open = false;
}

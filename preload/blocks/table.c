/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * table.c - windows of places, each with a block or free.
 */
#include "preload/blocks/table.h"

#include <string.h>

#include "preload/events/course.h"

#define WINDOW 16u /* places that a block can have: two cache lines of addresses */
#define FREE   0   /* in the place of an address */
#define TAKEN  1   /* no block yet, or none any more */
#define BATCH  64u /* changes that are sent at once */

_Atomic uint8_t table_filter[1u << TABLE_FILTER_SHIFT];

static struct {
    _Atomic uintptr_t address[WIRE_BLOCKS] __attribute__((aligned(128)));
    _Atomic uint64_t number[WIRE_BLOCKS];
    _Atomic uint64_t size[WIRE_BLOCKS]; /* and by which R it was drawn, in the lowest bits */
    _Atomic uint64_t serial;            /* the last number's */
    _Atomic uint32_t doubled;           /* R is */
} table;

#define DOUBLED_BITS 5u

static uint64_t pack(uint64_t size, uint32_t doubled) {
    return size << DOUBLED_BITS | doubled;
}

uint32_t table_doubled(void) {
    return atomic_load_explicit(&table.doubled, memory_order_relaxed);
}

/* ---- the filter ---- */

/* A byte that is full stays so: it says "maybe" for ever. */
static void count(const void *address, int n) {
    _Atomic uint8_t *byte = table_filter_of(address);
    uint8_t old = atomic_load(byte);
    while (old != UINT8_MAX && (n > 0 || old > 0) &&
           !atomic_compare_exchange_weak(byte, &old, (uint8_t)(old + n)))
        ;
}

/* ---- places ---- */

static uint32_t window_of(const void *address) {
    return (uint32_t)(table_hash(address) >> (64 - WIRE_BLOCKS_SHIFT)) & ~(WINDOW - 1);
}

struct table_block table_find(void *address) {
    uint32_t first = window_of(address);
    for (uint32_t i = first; address != NULL && i < first + WINDOW; i++)
        if (atomic_load_explicit(&table.address[i], memory_order_acquire) == (uintptr_t)address)
            return (struct table_block){atomic_load(&table.number[i]), address};
    return (struct table_block){0, NULL};
}

/* The session hears of it before another block may have the place. */
void table_forget(struct table_block block) {
    uint32_t place = WIRE_BLOCK_PLACE(block.number);
    uintptr_t address = (uintptr_t)block.address;
    if (block.number == 0 || atomic_load(&table.number[place]) != block.number ||
        !atomic_compare_exchange_strong(&table.address[place], &address, TAKEN))
        return;
    count(block.address, -1);
    hcct_blocks_link.gone(block.number);
    atomic_store_explicit(&table.address[place], FREE, memory_order_release);
}

/* 0: all places of its window are taken. */
static uint64_t take_place(const void *address) {
    uint32_t first = window_of(address);
    for (uint32_t i = first; i < first + WINDOW; i++) {
        uintptr_t free = FREE;
        if (!atomic_compare_exchange_strong(&table.address[i], &free, TAKEN))
            continue;
        uint64_t serial = atomic_fetch_add(&table.serial, 1) + 1;
        uint64_t number = serial << WIRE_BLOCKS_SHIFT | i;
        atomic_store(&table.number[i], number);
        return number;
    }
    return 0;
}

/* ---- many at once ---- */

struct batch {
    struct blocks_change change[BATCH];
    unsigned n;
};

static bool is_known(uint64_t number) {
    uint32_t place = WIRE_BLOCK_PLACE(number);
    return atomic_load(&table.number[place]) == number &&
           atomic_load(&table.address[place]) > TAKEN;
}

/* If the session can't be had just now, blocks keep weights that are right for another R. One that
 * another thread frees meanwhile may have got its new weight after its end. */
static void send(struct batch *batch) {
    if (batch->n > 0)
        hcct_blocks_link.change(batch->change, batch->n);
    for (unsigned i = 0; i < batch->n; i++)
        if (!is_known(batch->change[i].number))
            hcct_blocks_link.gone(batch->change[i].number);
    batch->n = 0;
}

static void add(struct batch *batch, const struct blocks_change *change) {
    batch->change[batch->n++] = *change;
    if (batch->n == BATCH)
        send(batch);
}

static uint64_t length_of(const struct table_size *its) {
    return its->bytes + its->beside;
}

static uint64_t bytes_of(const struct table_size *its) {
    return course_weight_beside(its->bytes, length_of(its), table_mean(its->doubled));
}

static uint64_t number_of(const struct table_size *its, uint64_t *random) {
    return course_number(length_of(its), table_mean(its->doubled), random);
}

static void weigh(struct event_sample *sample, const struct table_size *its, uint64_t *random) {
    sample->doubled = its->doubled;
    sample->usual = its->usual;
    sample->weight = bytes_of(its);
    sample->count = number_of(its, random);
}

bool table_stays(struct table_size *its, uint32_t doubled, uint64_t *random) {
    uint32_t rarer = doubled > its->doubled ? doubled - its->doubled : 0;
    if (!course_stays(length_of(its), table_mean(its->doubled), rarer, random))
        return false;
    its->doubled += rarer;
    return true;
}

/* R may have been doubled since it was drawn. */
static bool stays(struct table_size *its, uint64_t *random) {
    uint32_t by_table = table_doubled();
    its->usual = by_table > its->usual ? by_table : its->usual;
    return table_stays(its, by_table, random);
}

/* The block of that place is drawn again, by the R of now. */
static void thin(uint32_t place, struct batch *batch, uint64_t *random) {
    void *address = (void *)atomic_load(&table.address[place]);
    const struct table_block block = {atomic_load(&table.number[place]), address};
    uint64_t packed = atomic_load(&table.size[place]);
    uint32_t was = packed & ((1u << DOUBLED_BITS) - 1);
    struct table_size its = {packed >> DOUBLED_BITS, hcct_blocks_link.event.beside, was, 0};
    if ((uintptr_t)address <= TAKEN)
        return;
    if (!stays(&its, random)) {
        table_forget(block);
    } else if (its.doubled != was && atomic_compare_exchange_strong(&table.size[place], &packed,
                                                                    pack(its.bytes, its.doubled))) {
        uint64_t weight = hcct_blocks_link.objects ? number_of(&its, random) : bytes_of(&its);
        add(batch, &(struct blocks_change){block.number, weight, its.doubled, its.usual});
    }
}

static void thin_some(uint32_t first, uint32_t n, uint64_t *random) {
    struct batch batch = {.n = 0};
    for (uint32_t i = first; i < first + n; i++)
        thin(i, &batch, random);
    send(&batch);
}

/* Another thread may just have done so. */
static void double_mean(uint32_t doubled, uint64_t *random) {
    if (atomic_compare_exchange_strong(&table.doubled, &doubled, doubled + 1))
        thin_some(0, WIRE_BLOCKS, random);
}

/* ---- a new block ---- */

/* A place for a block that was drawn by that R, which may be doubled for that,
 * more than once: where most blocks were drawn by a larger R already none of these goes. 0: the
 * block does not stay. */
static uint64_t find_place(const void *address, struct table_size *its, uint64_t *random) {
    uint64_t number = 0;
    while ((number = take_place(address)) == 0) {
        uint32_t now = table_doubled();
        thin_some(window_of(address), WINDOW, random); /* another thread may be about to */
        if ((number = take_place(address)) != 0 || now == TABLE_DOUBLED_MAX)
            break;
        double_mean(now, random);
        if (!stays(its, random))
            return 0;
    }
    return number;
}

static void follow(void *address, const struct table_size *its, struct event_sample *sample) {
    uint32_t place = WIRE_BLOCK_PLACE(sample->number);
    atomic_store(&table.size[place], pack(its->bytes, its->doubled));
    bool sent = hcct_blocks_link.event.sample(sample);
    if (sent)
        count(address, 1);
    atomic_store_explicit(&table.address[place], sent ? (uintptr_t)address : FREE,
                          memory_order_release);
}

void table_add(void *address, const struct table_size *drawn, const struct event_place *place,
               uint64_t *random) {
    struct event_sample sample = {.place = *place};
    struct table_size its = *drawn;
    if (!stays(&its, random))
        return;
    if (!hcct_blocks_link.heap) {
        weigh(&sample, &its, random);
        (void)hcct_blocks_link.event.sample(&sample);
        return;
    }
    table_forget(table_find(address)); /* it was freed behind our back */
    sample.number = find_place(address, &its, random);
    if (sample.number == 0)
        return;
    weigh(&sample, &its, random);
    follow(address, &its, &sample);
}

void table_renew(void) {
    for (uint32_t i = 0; i < WIRE_BLOCKS; i++) {
        uintptr_t address = atomic_load(&table.address[i]); /* most are free, and have no page */
        if (address > TAKEN)
            table_forget((struct table_block){atomic_load(&table.number[i]), (void *)address});
    }
}

void table_clear(void) {
    memset(table.address, 0, sizeof table.address);
    memset(table_filter, 0, sizeof table_filter);
}

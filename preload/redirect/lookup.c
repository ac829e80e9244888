/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * lookup.c - what an address is to walks and to unwinders: a stub, a call site, code of the
 * program.
 */
#include "preload/redirect/lookup.h"

#include <stddef.h>

#include "preload/redirect/form.h"
#include "preload/redirect/module_list.h"
#include "preload/redirect/places.h"
#include "preload/redirect/redirect.h"

static _Atomic uint32_t readers; /* redirect_reads */

/* The stack pointer points at the return address wherever one is in a stub. */
static const struct {
    struct unwind_table table;
    struct unwind_row row;
    struct unwind_rule rule[2];
    uint32_t block;
} stub_table = {
    .table = {.magic = UNWIND_TABLE_MAGIC,
              .bytes = sizeof stub_table,
              .text_span = INT32_MAX,
              .rows = 1,
              .rules = 2,
              .blocks = 1,
              .block_shift = 31,
              .rows_off = offsetof(__typeof__(stub_table), row),
              .rules_off = offsetof(__typeof__(stub_table), rule),
              .blocks_off = offsetof(__typeof__(stub_table), block)},
    .row = {.rule = 1},
    .rule = {{0},
             {.cfa = UNWIND_CFA_REG,
              .cfa_reg = ARCH_SP,
              .ra = UNWIND_AT_CFA,
              .fp = UNWIND_SAME,
              .cfa_off = 8,
              .ra_off = -8}},
};

/* The module whose text that address is in. */
static const struct redirect_module *text_of(uint64_t address) {
    for (const struct redirect_module *m = module_list_next(NULL); m != NULL;
         m = module_list_next(m))
        if (address - m->text < m->bytes)
            return m;
    return NULL;
}

/* Sites are in the order of their addresses. */
bool redirect_is_site(uint64_t address) {
    const struct redirect_module *m = text_of(address);
    uint32_t low = 0, high = m == NULL ? 0 : m->sites;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t back = m->text + m->site[middle].back;
        if (back == address)
            return true;
        if (back < address)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static const struct redirect_module *stubs_at(uint64_t address) {
    for (const struct redirect_module *m = module_list_next(NULL); m != NULL;
         m = module_list_next(m))
        if (address - m->stubs < m->stub_bytes)
            return m;
    return NULL;
}

bool redirect_is_stub(uint64_t address) {
    return stubs_at(address) != NULL;
}

bool redirect_find_stubs(uint64_t address, struct unwind_module *module) {
    const struct redirect_module *m = stubs_at(address);
    if (m == NULL || m->form->in_program != NULL)
        return false;
    *module = (struct unwind_module){.start = m->stubs,
                                     .end = m->stubs + m->stub_bytes,
                                     .bias = m->stubs,
                                     .table = &stub_table.table};
    return true;
}

uint64_t redirect_in_program(uint64_t address) {
    const struct redirect_module *m = stubs_at(address);
    return m == NULL || m->form->in_program == NULL ? address : m->form->in_program(address);
}

uint64_t redirect_in_file(uint64_t address) {
    const struct redirect_module *m = text_of(address);
    return m == NULL || !m->on ? address : m->spare + (address - m->text);
}

void redirect_reads(bool begins) {
    if (begins)
        atomic_fetch_add(&readers, 1);
    else
        atomic_fetch_sub(&readers, 1);
}

void lookup_await_readers(void) {
    for (int i = 0; i < PLACES_WAITS_FOR_OTHER && atomic_load(&readers) != 0; i++)
        places_nap();
}

void lookup_forget_readers(void) {
    atomic_store(&readers, 0);
}

bool redirect_find_object(uint64_t address, struct dl_find_object *found) {
    const struct redirect_module *m = stubs_at(address);
    if (m == NULL || !module_object_at(m->text, found))
        return false;
    found->dlfo_map_start = (void *)m->stubs;
    found->dlfo_map_end = (void *)(m->stubs + m->stub_bytes);
    found->dlfo_eh_frame = (void *)(uintptr_t)m->unwind.bytes;
    return true;
}

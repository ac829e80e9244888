/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stub_form.c - stubs of a module that report its calls.
 */
#include "preload/redirect/form.h"
#include "preload/redirect/stub.h"

static void write_stub(const struct redirect_module *m, uint8_t *page, uint32_t i) {
    const struct redirect_callee *k = redirect_callee_of(m, i);
    if (k->target != 0)
        stub_write(page, m->stubs, i, k->target);
    else
        stub_write_by_word(page, m->stubs, i, (uintptr_t)k->word);
}

static void write_stubs(const struct redirect_module *m) {
    for (uint32_t i = 0; i < m->sites; i++) {
        uint8_t *page = (uint8_t *)(stub_at(m->stubs, i) & ~(uint64_t)(WIRE_PAGE - 1));
        if (i % STUB_PER_PAGE == 0)
            stub_write_head((struct stub_page *)(void *)page, m, i);
        write_stub(m, page, i);
    }
}

static void lead(const struct redirect_module *m, uint32_t i, uint8_t *code, uint64_t address) {
    bool direct = redirect_callee_of(m, i)->target != 0;
    (direct ? stub_call_set : stub_call_set_direct)(code, address, stub_at(m->stubs, i));
}

const struct redirect_form redirect_stub_form = {
    .bytes = stub_room, .write = write_stubs, .lead = lead, .write_unwind = stub_write_unwind};

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * form.h - what a module's calls are led through: code of one form for all modules of a process.
 */
#ifndef HCCT_REDIRECT_FORM_H
#define HCCT_REDIRECT_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/redirect/module.h"

struct redirect_form {
    /* For so many sites. */
    uint64_t (*bytes)(uint32_t sites);
    /* Writes all of it into m->stubs, for where that is. */
    void (*write)(const struct redirect_module *m);
    /* Makes the call instruction of site i lead to it; `code` is the copy of that at `address`. */
    void (*lead)(const struct redirect_module *m, uint32_t i, uint8_t *code, uint64_t address);
    void (*write_unwind)(struct stub_unwind *unwind, uint64_t low, uint64_t bytes);
    /* What an address in it is in the program's own text. NULL: return addresses are the program's
     * own, and everywhere in it the stack pointer points at one. */
    uint64_t (*in_program)(uint64_t address);
};

/* Of this process; NULL: calls are not redirected at all. Any context, after redirect_start.
 * (choose.c) */
const struct redirect_form *redirect_form(void);

/* Calls are reported (stub.h). */
extern const struct redirect_form redirect_stub_form;

static inline const struct redirect_callee *redirect_callee_of(const struct redirect_module *m,
                                                               uint32_t i) {
    return &m->callee[m->site[i].callee & REDIRECT_CALLEE];
}

#endif

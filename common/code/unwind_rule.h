/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_rule.h - from the state of a call frame program to a rule of a compact unwind table.
 */
#ifndef HCCT_UNWIND_RULE_H
#define HCCT_UNWIND_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/code/cfi_program.h"
#include "common/code/unwind_compile.h"
#include "common/wire/unwind_table.h"

#define CFI_NO_COLUMN UINT64_MAX

/* What differs between machines. */
struct unwind_machine {
    int machine;          /* EM_* */
    uint32_t registers;   /* that a rule may name: their DWARF numbers are below this */
    uint32_t fp_column;   /* DWARF number of the frame pointer */
    uint32_t sp_column;   /* of the stack pointer */
    uint64_t eh_column;   /* of what a landing pad is given, where what saves it replaces its return
                           * address; CFI_NO_COLUMN: nowhere */
    bool ra_stays_in_reg; /* a return address that is not saved is still in its register */
};

/* NULL: a machine that is not known. */
const struct unwind_machine *unwind_machine(int machine);

/* False, and *lack says why, when there is no rule for the state. */
bool unwind_rule_of(const struct unwind_machine *machine, const struct cfi_state *state,
                    struct unwind_rule *rule, enum unwind_lack *lack);

/* The rule that says: a full unwinder knows. */
extern const struct unwind_rule unwind_rule_rich;

/* The rule of all code in a kernel's signal frame. */
extern const struct unwind_rule unwind_rule_signal;

#endif

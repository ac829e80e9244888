/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_verdict.h - can the calls of an ELF object be followed without its help? What its headers
 * and symbols say; whether there are sites is found by the sweep.
 */
#ifndef HCCT_CALL_VERDICT_H
#define HCCT_CALL_VERDICT_H

#include <gelf.h>

#include "common/code/elf_dynamic.h"
#include "common/wire/call_sites.h"

/* The only executable segment. */
struct call_segment {
    uint64_t address, offset, bytes;
};

/* CALLS_FOLLOWED: nothing speaks against it, and `segment` and `dynamic` are set. */
enum calls_verdict call_verdict_of(Elf *elf, struct call_segment *segment,
                                   struct elf_dynamic *dynamic);

#endif

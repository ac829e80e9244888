/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * code.c - a function reports its calls if its code calls the reporting function.
 *
 * Said by the code at its beginning, up to where it is executing: a direct call of
 * __cyg_profile_func_enter, of a PLT entry that leads there, or a call through a word that holds
 * its address. Data between instructions could look like such a call, one in 2^32 bytes.
 *
 * Where calls can't be read like that (arch_call_target gives 0), no function is taken to report,
 * and bursts begin with an empty stack.
 */
#include "preload/calls/calls.h"

#include "preload/life/agent.h"
#include "preload/sample/stack.h"

#define SEARCHED 1024u /* bytes: the report is made before anything else, after the prologue */
#define KNOWN    1024u /* routines remembered, by the highest bits of a hash */

void __cyg_profile_func_enter(void *function, void *call_site);

/* Code and words at addresses that may be anything. */
static bool read_bytes(struct stack_probe *probe, uint64_t address, uint8_t *into, unsigned n) {
    uint64_t word;
    for (unsigned i = 0; i < n; i++) {
        if ((i == 0 || ((address + i) & 7) == 0) &&
            !stack_read(probe, (address + i) & ~7ull, &word))
            return false;
        into[i] = (uint8_t)(word >> 8 * ((address + i) & 7));
    }
    return true;
}

static bool holds_report(struct stack_probe *probe, uint64_t slot) {
    uint64_t word;
    return slot != 0 && stack_read(probe, slot, &word) &&
           word == (uintptr_t)__cyg_profile_func_enter;
}

static bool leads_to_report(struct stack_probe *probe, uint64_t called) {
    uint8_t code[16];
    if (called == (uintptr_t)__cyg_profile_func_enter)
        return true;
    return read_bytes(probe, called, code, sizeof code) &&
           holds_report(probe, arch_jump_slot(code, called));
}

/* Whether a call of the reporting function ends at `end`, before which 8 bytes can be read. */
static bool is_report(struct stack_probe *probe, uint64_t end) {
    const uint8_t *code = (const uint8_t *)end;
    uint64_t called = arch_call_target(code, end);
    if (called != 0 && leads_to_report(probe, called))
        return true;
    return holds_report(probe, arch_call_slot(code, end));
}

static uint64_t search(struct stack_probe *probe, uint64_t routine, uint64_t pc) {
    uint64_t last = pc - routine < SEARCHED ? pc : routine + SEARCHED;
    for (uint64_t end = routine + 8; end <= last; end++)
        if (is_report(probe, end))
            return end;
    return 0;
}

/* In one word, for all threads: the routine, and how far into it the report is; or how far was
 * searched in vain, as a search ends where the routine was executing. */
#define IN_VAIN 0x800u

uint64_t calls_report_in(struct stack_probe *probe, uint64_t routine, uint64_t pc) {
    static hcct_large _Atomic uint64_t known[KNOWN];
    _Atomic uint64_t *k = &known[(routine * 0x9e3779b97f4a7c15ull) >> 54];
    uint64_t was = atomic_load_explicit(k, memory_order_relaxed), distance = was & 0xfff;
    if (routine < WIRE_PSEUDO_MAX || pc < routine)
        return 0;
    uint64_t executed = pc - routine < SEARCHED ? pc - routine : SEARCHED;
    if (was >> 12 == routine && (distance & IN_VAIN) == 0)
        return executed >= distance ? routine + distance : 0;
    if (was >> 12 == routine && executed <= (distance & ~IN_VAIN))
        return 0;
    uint64_t report = search(probe, routine, pc);
    distance = report != 0 ? report - routine : executed | IN_VAIN;
    atomic_store_explicit(k, routine << 12 | distance, memory_order_relaxed);
    return report;
}

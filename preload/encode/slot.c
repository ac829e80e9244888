/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * slot.c - slots for x86-64; other machines have none.
 *
 * An entry knows the place of its return address, and places only fall from one to the next. So a
 * call that finds entries at or below its own place knows that they are over, whoever has ended
 * them: a longjmp, an exception, a thread that was cancelled. Calls on another stack than the
 * thread's own are not kept, as their places say nothing.
 *
 * A signal handler may come at any instruction. It leaves the entries of open calls as they are; it
 * may write over an entry that is not on the stack yet, so that entry is written once more when it
 * is. At worst one is lost, and a walk finds that call. The number of an entry's context is written
 * by who has found the call open; before the call is made nobody has, so that to clear it once is
 * enough.
 */
#include "preload/encode/slot.h"

#include <string.h>

#include "preload/encode/shallow.h"
#include "preload/redirect/form.h"

__thread struct slot_self *slot_self;

#if defined(__x86_64__)

#define ENTER_AT     0u /* in a slot */
#define CALL_AT      5u
#define JUMP_AT      16u
#define RETURN_AT    48u
#define BRANCH_BYTES 5u

_Static_assert(sizeof(struct slot_entry) == 32 && offsetof(struct slot_entry, from) == 8 &&
                   offsetof(struct slot_entry, fp) == 16 &&
                   offsetof(struct slot_entry, number) == 24 &&
                   offsetof(struct slot_self, top) == 0 && offsetof(struct slot_self, limit) == 8 &&
                   offsetof(struct slot_self, low) == 16 && offsetof(struct slot_self, span) == 24,
               "the assembly knows the layout");

#define BEGIN(name)                                                                                \
    ".p2align 5\n"                                                                                 \
    ".hidden " name "\n"                                                                           \
    ".globl " name "\n"                                                                            \
    ".type " name ", @function\n" name ":\n"                                                       \
    ".cfi_startproc\n"                                                                             \
    "endbr64\n"                                                                                    \
    "pushq %rax\n.cfi_adjust_cfa_offset 8\n"                                                       \
    "pushq %rcx\n.cfi_adjust_cfa_offset 8\n"                                                       \
    "pushq %rdx\n.cfi_adjust_cfa_offset 8\n"                                                       \
    "movq slot_self@gottpoff(%rip), %rcx\n"                                                        \
    "movq %fs:(%rcx), %rcx\n"                                                                      \
    "testq %rcx, %rcx\n"                                                                           \
    "je 9f\n"                                                                                      \
    "leaq 24(%rsp), %rdx\n" /* the place: the function's return address will be there, too */      \
    "movq %rdx, %rax\n"                                                                            \
    "subq 16(%rcx), %rax\n"                                                                        \
    "cmpq 24(%rcx), %rax\n"                                                                        \
    "jae 9f\n"                                                                                     \
    "movq (%rcx), %rax\n"                                                                          \
    "1: cmpq %rdx, (%rax)\n"                                                                       \
    "jbe 8f\n"

#define END(name)                                                                                  \
    ".hidden " name "_pops\n"                                                                      \
    ".globl " name "_pops\n" name "_pops:\n"                                                       \
    "9: popq %rdx\n.cfi_adjust_cfa_offset -8\n"                                                    \
    "popq %rcx\n.cfi_adjust_cfa_offset -8\n"                                                       \
    "popq %rax\n.cfi_adjust_cfa_offset -8\n"                                                       \
    "ret\n.cfi_adjust_cfa_offset 24\n"                                                             \
    "8: subq $32, %rax\n"                                                                          \
    "jmp 1b\n"                                                                                     \
    ".cfi_endproc\n"                                                                               \
    ".size " name ", . - " name "\n"                                                               \
    ".hidden " name "_end\n"                                                                       \
    ".globl " name "_end\n" name "_end:\n"

__asm__(".text\n" BEGIN("slot_enter") "cmpq 8(%rcx), %rax\n"
                                      "je 7f\n"
                                      "addq $32, %rax\n"
                                      "movq %rdx, (%rax)\n"
                                      "movq (%rdx), %rdx\n" /* in the slot */
                                      "movq %rdx, 8(%rax)\n"
                                      "movq %rbp, 16(%rax)\n"
                                      "movq %rax, (%rcx)\n" /* it is on the stack */
                                      "movq %rdx, 8(%rax)\n"
                                      "movq %rbp, 16(%rax)\n"
                                      "movq $0, 24(%rax)\n" /* and has no number */
                                      "leaq 24(%rsp), %rdx\n"
                                      "movq %rdx, (%rax)\n"
                                      "jmp 9f\n"
                                      "7: movq %rax, (%rcx)\n" END("slot_enter") BEGIN(
                                          "slot_leave") "movq %rax, (%rcx)\n" END("slot_leave"));

extern const uint8_t slot_enter[], slot_enter_pops[], slot_enter_end[], slot_leave[],
    slot_leave_pops[], slot_leave_end[];

#define ENDBR_BYTES 4u
#define SAVED       3u

/* Each instruction that saves a register, or restores one, has one byte. */
static uint64_t saved_at(uint64_t pc, const uint8_t *start, const uint8_t *pops) {
    uint64_t from_start = pc - (uintptr_t)start, from_pops = pc - (uintptr_t)pops;
    if (from_start < ENDBR_BYTES)
        return 0;
    if (from_start < ENDBR_BYTES + SAVED)
        return from_start - ENDBR_BYTES;
    return from_pops <= SAVED ? SAVED - from_pops : SAVED;
}

static bool is_between(uint64_t pc, const uint8_t *start, const uint8_t *end) {
    return pc >= (uintptr_t)start && pc < (uintptr_t)end;
}

uint64_t slot_helper_depth(uint64_t pc) {
    if (is_between(pc, slot_enter, slot_enter_end))
        return 8 * (1 + saved_at(pc, slot_enter, slot_enter_pops));
    if (is_between(pc, slot_leave, slot_leave_end))
        return 8 * (1 + saved_at(pc, slot_leave, slot_leave_pops));
    return 0;
}

/* ---- writing ---- */

static uint64_t bytes_of(uint32_t sites) {
    return ((uint64_t)sites + SLOT_PER_PAGE - 1) / SLOT_PER_PAGE * WIRE_PAGE;
}

static uint64_t slot_at(uint64_t base, uint32_t i) {
    return base + (uint64_t)(i / SLOT_PER_PAGE) * WIRE_PAGE +
           (i % SLOT_PER_PAGE + 1) * (uint64_t)SLOT_BYTES;
}

static void put32(uint8_t *at, uint64_t value) {
    uint32_t low = (uint32_t)value;
    memcpy(at, &low, sizeof low);
}

/* call (0xe8) or jmp (0xe9) */
static void put_branch(uint8_t *at, uint8_t how, uint64_t target) {
    *at = how;
    put32(at + 1, target - ((uintptr_t)at + BRANCH_BYTES));
}

/* jmpq *where(%rip) */
static void put_jump_by(uint8_t *at, const uint64_t *where) {
    at[0] = 0xff;
    at[1] = 0x25;
    put32(at + 2, (uintptr_t)where - ((uintptr_t)at + 6));
}

static void write_head(struct slot_page *page, const struct redirect_module *m, uint64_t first) {
    memset(page, 0xcc, sizeof *page);
    page->module = m;
    page->first = first;
    page->enter = (uintptr_t)slot_enter;
    page->leave = (uintptr_t)slot_leave;
    put_jump_by(page->jump[0], &page->enter);
    put_jump_by(page->jump[1], &page->leave);
}

/* Of six bytes, either way. */
static void put_call(uint8_t *at, const struct redirect_callee *k) {
    if (k->target != 0) {
        *at = 0x90;
        put_branch(at + 1, 0xe8, k->target);
    } else {
        at[0] = 0xff; /* callq *word(%rip) */
        at[1] = 0x15;
        put32(at + 2, (uintptr_t)k->word - ((uintptr_t)at + 6));
    }
}

static void write_slot(const struct redirect_module *m, uint32_t i) {
    uint8_t *slot = (uint8_t *)slot_at(m->stubs, i);
    const struct slot_page *page = slot_page_of((uintptr_t)slot);
    uint64_t back = m->text + m->site[i].back;
    memset(slot, 0xcc, SLOT_BYTES);
    put_branch(slot + ENTER_AT, 0xe8, (uintptr_t)page->jump[0]);
    put_call(slot + CALL_AT, redirect_callee_of(m, i));
    put_branch(slot + SLOT_BACK, 0xe8, (uintptr_t)page->jump[1]);
    put_branch(slot + JUMP_AT, 0xe9, back);
    memcpy(slot + RETURN_AT, &back, sizeof back);
}

static void write_slots(const struct redirect_module *m) {
    shallow_find(m);
    for (uint32_t i = 0; i < m->sites; i++) {
        if (i % SLOT_PER_PAGE == 0)
            write_head((struct slot_page *)(slot_at(m->stubs, i) - SLOT_BYTES), m, i);
        write_slot(m, i);
    }
}

/* Slots of calls that are left alone are there all the same, as sites have their numbers by them.
 * Of a call through a word there are six bytes, the second at `code`. */
static void lead(const struct redirect_module *m, uint32_t i, uint8_t *code, uint64_t address) {
    if (shallow_is(&m->site[i]) || shallow_asks(m, &m->site[i]) ||
        atomic_load(&redirect_callee_of(m, i)->dear))
        return;
    if (redirect_callee_of(m, i)->target == 0)
        code[-1] = 0x90;
    code[0] = 0xe9;
    put32(code + 1, slot_at(m->stubs, i) - (address + BRANCH_BYTES));
}

/* ---- unwinding ---- */

/* As stubs have it (stub.h), but the frame is empty: the caller's stack pointer is the slot's own,
 * and its address is the word at RETURN_AT of the slot. libgcc takes a frame of the same size as
 * the one before for that, unless it is a signal's ('S'): of one of these it does not look below
 * the address, which is therefore one less. */
#define UNWIND_HEADER 0x01, 0x1b, 0xff, 0xff, 4, 0, 0, 0
#define EXPRESSION                                                                                 \
    0x80, 0, /* register 16, the address in the slot */                                            \
        0x09, 0x100 - SLOT_BYTES, 0x1a, 0x23, RETURN_AT, 0x06, 0x31, 0x1c
#define UNWIND_CIE                                                                                 \
    32, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x00, 0x0c, 7, 0, 0x16, 16, 10,  \
        EXPRESSION, 0, 0
#define UNWIND_FDE 28, 0, 0, 0, 40, 0, 0, 0

static void write_unwind(struct stub_unwind *unwind, uint64_t low, uint64_t bytes) {
    static const uint8_t start[] = {UNWIND_HEADER, UNWIND_CIE, UNWIND_FDE};
    _Static_assert(sizeof start == 52 && sizeof start + 28 <= sizeof unwind->bytes,
                   "range, padding, and the end's zeros");
    memset(unwind->bytes, 0, sizeof unwind->bytes);
    memcpy(unwind->bytes, start, sizeof start);
    memcpy(unwind->bytes + sizeof start, &low, sizeof low);
    memcpy(unwind->bytes + sizeof start + sizeof low, &bytes, sizeof bytes);
}

/* A return address is one behind the call instruction. Elsewhere the thread was interrupted: it is
 * at the call instruction then. */
static uint64_t in_program(uint64_t address) {
    uint64_t at = address - slot_start(address);
    if (slot_is_head(address))
        return address;
    bool returns = at == SLOT_BACK || at == ENTER_AT + BRANCH_BYTES || at == JUMP_AT;
    return slot_back(address) - (returns ? 0 : BRANCH_BYTES);
}

static const struct redirect_form form = {.bytes = bytes_of,
                                          .write = write_slots,
                                          .lead = lead,
                                          .write_unwind = write_unwind,
                                          .in_program = in_program};

const struct redirect_form *slot_form(void) {
    return &form;
}

#else

uint64_t slot_helper_depth(uint64_t pc) {
    (void)pc;
    return 0;
}

const struct redirect_form *slot_form(void) {
    return NULL;
}

#endif

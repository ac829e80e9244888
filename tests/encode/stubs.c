/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "tests/encode/stubs.h"

#if defined(__x86_64__)

#include <stddef.h>
#include <string.h>

_Thread_local struct stub_thread stub_thread __attribute__((tls_model("initial-exec")));

#define AT_EDGE      60u /* in a slot: the edge, for the common code */
#define MASK_OF_SLOT "$-64"

_Static_assert(STUB_SLOT == 64 && AT_EDGE == 60 && sizeof(struct context_entry) == 16 &&
                   offsetof(struct context_entry, edge) == 8 &&
                   offsetof(struct context_entry, repeats) == 12 &&
                   offsetof(struct stub_thread, top) == 8 &&
                   offsetof(struct stub_thread, limit) == 16 &&
                   offsetof(struct stub_thread, head) == 24 &&
                   offsetof(struct stub_thread, over) == 32,
               "the assembly knows the layout");

/* ---- calls without a code ---- */

/* Called by a slot, whose address follows from the return address. On each of its ways one
 * instruction makes the state the one within the call, or the caller's again: the change of the
 * stack's top. The number may be either then, as the top has the caller's. */
__asm__(".text\n"
        ".p2align 6\n"
        ".globl stub_enter, stub_enter_repeats, stub_enter_1, stub_enter_2, stub_enter_3\n"
        ".globl stub_enter_4, stub_enter_end\n"
        "stub_enter:\n"
        "pushq %rax\n"
        "pushq %rcx\n"
        "pushq %rdx\n"
        "movq stub_thread@gottpoff(%rip), %rcx\n"
        "movq 24(%rsp), %rdx\n"
        "andq " MASK_OF_SLOT ", %rdx\n"
        "cmpq $0, %fs:32(%rcx)\n"
        "jne 2f\n"
        "movl 60(%rdx), %edx\n"
        "movq %fs:8(%rcx), %rax\n"
        "cmpl %edx, 8(%rax)\n"
        "jne 1f\n"
        "cmpl $-1, 12(%rax)\n"
        "je 1f\n"
        "pushq %rcx\n"
        "movq %fs:(%rcx), %rcx\n"
        "cmpq %rcx, (%rax)\n"
        "popq %rcx\n"
        "jne 1f\n"
        "stub_enter_repeats: incl 12(%rax)\n"
        "jmp 3f\n"
        "stub_enter_1: 1: cmpq %fs:16(%rcx), %rax\n"
        "je 2f\n"
        "movq %rdx, 24(%rax)\n" /* the edge; no repeats */
        "movq %fs:(%rcx), %rdx\n"
        "movq %rdx, 16(%rax)\n"
        "addq $16, %rax\n"
        "movq %rax, %fs:8(%rcx)\n"
        "stub_enter_3: 3: movq %fs:24(%rcx), %rax\n"
        "movq %rax, %fs:(%rcx)\n"
        "jmp 4f\n"
        "stub_enter_2: 2: incq %fs:32(%rcx)\n"
        "stub_enter_4: 4: popq %rdx\n"
        "popq %rcx\n"
        "popq %rax\n"
        "ret\n"
        "stub_enter_end:\n"
        ".globl stub_leave, stub_leave_repeats, stub_leave_1, stub_leave_pops, stub_leave_2\n"
        ".globl stub_leave_4, stub_leave_end\n"
        "stub_leave:\n"
        "pushq %rax\n"
        "pushq %rcx\n"
        "pushq %rdx\n"
        "movq stub_thread@gottpoff(%rip), %rcx\n"
        "cmpq $0, %fs:32(%rcx)\n"
        "jne 2f\n"
        "movq %fs:8(%rcx), %rax\n"
        "movq (%rax), %rdx\n"
        "movq %rdx, %fs:(%rcx)\n"
        "cmpl $0, 12(%rax)\n"
        "je 1f\n"
        "stub_leave_repeats: decl 12(%rax)\n"
        "jmp 4f\n"
        "stub_leave_1: 1: subq $16, %rax\n"
        "stub_leave_pops: movq %rax, %fs:8(%rcx)\n"
        "jmp 4f\n"
        "stub_leave_2: 2: decq %fs:32(%rcx)\n"
        "stub_leave_4: 4: popq %rdx\n"
        "popq %rcx\n"
        "popq %rax\n"
        "ret\n"
        "stub_leave_end:\n");

extern const uint8_t stub_enter[], stub_enter_repeats[], stub_enter_1[], stub_enter_2[],
    stub_enter_3[], stub_enter_4[], stub_enter_end[], stub_leave[], stub_leave_repeats[],
    stub_leave_1[], stub_leave_pops[], stub_leave_2[], stub_leave_4[], stub_leave_end[];

void stub_thread_start(void) {
    stub_thread.id = 0;
    stub_thread.over = 0;
    stub_thread.top = stub_thread.entry;
    stub_thread.limit = &stub_thread.entry[STUB_ENTRIES - 1];
    stub_thread.entry[0] = (struct context_entry){.id = UINT64_MAX, .edge = CALL_EDGES_NONE};
}

/* ---- slots ---- */

static int32_t id_offset(void) {
    uint64_t thread;
    __asm__("movq %%fs:0, %0" : "=r"(thread));
    return (int32_t)((uintptr_t)&stub_thread.id - thread);
}

static uint8_t *put32(uint8_t *at, uint64_t value) {
    uint32_t low = (uint32_t)value;
    memcpy(at, &low, sizeof low);
    return at + sizeof low;
}

/* call (0xe8) or jmp (0xe9) */
static uint8_t *put_branch(uint8_t *at, uint8_t how, uint64_t target) {
    *at = how;
    return put32(at + 1, target - ((uintptr_t)at + 5));
}

/* add, sub: /0, /5 of 81; adc, sbb: /2, /3. `wide`: of 64 bits. */
static uint8_t *put_immediate(uint8_t *at, unsigned operation, bool wide, int32_t offset,
                              uint32_t value) {
    *at++ = 0x64;
    if (wide)
        *at++ = 0x48;
    *at++ = 0x81;
    *at++ = (uint8_t)(0x04 | operation << 3);
    *at++ = 0x25;
    at = put32(at, (uint32_t)offset);
    return put32(at, value);
}

#define BRANCH_BYTES 5u
#define BYTES_WIDE   13u
#define BYTES_NARROW 12u

static bool is_small(uint64_t code) {
    return code < 1u << 31;
}

static uint8_t *put_change(uint8_t *at, uint64_t code, bool back) {
    int32_t offset = id_offset();
    if (is_small(code))
        return put_immediate(at, back ? 5 : 0, true, offset, (uint32_t)code);
    at = put_immediate(at, back ? 5 : 0, false, offset, (uint32_t)code);
    return put_immediate(at, back ? 3 : 2, false, offset + 4, (uint32_t)(code >> 32));
}

static unsigned change_bytes(uint64_t code) {
    return is_small(code) ? BYTES_WIDE : 2 * BYTES_NARROW;
}

/* Of n bytes, in few instructions. */
static void put_padding(uint8_t *at, unsigned n) {
    static const uint8_t nop[9][9] = {{0x90},
                                      {0x66, 0x90},
                                      {0x0f, 0x1f, 0x00},
                                      {0x0f, 0x1f, 0x40, 0},
                                      {0x0f, 0x1f, 0x44, 0, 0},
                                      {0x66, 0x0f, 0x1f, 0x44, 0, 0},
                                      {0x0f, 0x1f, 0x80, 0, 0, 0, 0},
                                      {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
                                      {0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}};
    while (n > 0) {
        unsigned bytes = n < 9 ? n : 9;
        memcpy(at, nop[bytes - 1], bytes);
        at += bytes;
        n -= bytes;
    }
}

void stub_slot_write(uint8_t *slot, uint32_t edge, const struct encoding *encoding, uint64_t target,
                     uint64_t back) {
    uint64_t code = encoding_code(encoding, edge);
    uint8_t *at = slot + STUB_BACK;
    unsigned before = code == ENCODING_NO_CODE ? BRANCH_BYTES : code > 0 ? change_bytes(code) : 0;
    memset(at, 0xcc, STUB_SLOT - STUB_BACK);
    put_padding(slot, STUB_CALL - before);
    put_branch(slot + STUB_CALL, 0xe8, target);
    if (code == ENCODING_NO_CODE) {
        put_branch(slot + STUB_CALL - before, 0xe8, (uintptr_t)stub_enter);
        at = put_branch(at, 0xe8, (uintptr_t)stub_leave);
        put32(slot + AT_EDGE, edge);
    } else if (code > 0) {
        put_change(slot + STUB_CALL - before, code, false);
        at = put_change(at, code, true);
    }
    put_branch(at, 0xe9, back);
}

/* ---- reading ---- */

bool stub_is_helper(uint64_t pc) {
    return pc - (uintptr_t)stub_enter < (uintptr_t)(stub_leave_end - stub_enter);
}

/* The code that a slot adds, by its own bytes; 0: none. */
static uint64_t code_of(const uint8_t *slot) {
    uint32_t low, high;
    if (slot[STUB_BACK] != 0x64)
        return 0;
    bool wide = slot[STUB_BACK + 1] == 0x48;
    memcpy(&low, slot + STUB_BACK + (wide ? BYTES_WIDE : BYTES_NARROW) - 4, sizeof low);
    if (wide)
        return low;
    memcpy(&high, slot + STUB_BACK + 2 * BYTES_NARROW - 4, sizeof high);
    return low | (uint64_t)high << 32;
}

/* The number without the code, of which pc says how much is in it: both halves, or the lower one.
 */
static uint64_t id_without(uint64_t id, uint64_t pc, const uint8_t *slot) {
    uint64_t code = code_of(slot), low = (uint32_t)code, bytes = change_bytes(code);
    uint64_t at = pc - (uintptr_t)slot, first = STUB_CALL - bytes;
    uint64_t step = is_small(code) ? BYTES_WIDE : BYTES_NARROW;
    if (code == 0 || at <= first || at >= STUB_BACK + bytes)
        return id;
    if (at < STUB_CALL && at == first + step) /* the lower half was added, without its carry */
        return (id & 0xffffffff00000000) | (uint32_t)(id - low);
    if (!is_small(code) && at == STUB_BACK + step) /* and is without it again */
        return ((id & 0xffffffff00000000) | (uint32_t)(id + low)) - code;
    return id - code;
}

static bool is_from(uint64_t pc, const uint8_t *first, const uint8_t *end) {
    return pc >= (uintptr_t)first && pc < (uintptr_t)end;
}

/* The stack has the call: what changes it was executed, and what changes it back was not. */
static bool is_on_stack(uint64_t pc, const uint8_t *slot) {
    uint64_t at = pc - (uintptr_t)slot;
    if (is_from(pc, stub_enter, stub_enter_end))
        return is_from(pc, stub_enter_repeats + 1, stub_enter_1) ||
               is_from(pc, stub_enter_3, stub_enter_2) || is_from(pc, stub_enter_4, stub_enter_end);
    if (is_from(pc, stub_leave, stub_leave_end))
        return is_from(pc, stub_leave, stub_leave_repeats + 1) ||
               is_from(pc, stub_leave_1, stub_leave_pops + 1) || pc == (uintptr_t)stub_leave_2;
    return slot[STUB_BACK] == 0xe8 && at >= STUB_CALL && at <= STUB_BACK;
}

static void take_from_stack(struct context *context) {
    struct context_entry *top = &context->stack[context->depth - 1];
    context->id = top->id;
    if (top->repeats == 0)
        context->depth--;
    else
        top->repeats--;
}

bool stub_read(uint64_t pc, const uint8_t *slot, struct context *context) {
    const struct context now = {.id = stub_thread.id,
                                .depth = (uint32_t)(stub_thread.top - stub_thread.entry),
                                .stack = stub_thread.entry + 1};
    uint64_t over = stub_thread.over;
    context_copy(context, &now);
    if (slot == NULL)
        return over == 0;
    if (!is_on_stack(pc, slot))
        context->id = id_without(now.id, pc, slot);
    else if (over > 0)
        over--;
    else
        take_from_stack(context);
    return over == 0;
}

/* Common code has saved registers below its return address, to the slot, always in one order. */
static void undo_helper(greg_t *reg, const uint8_t *slot) {
    const uint64_t *sp = (const uint64_t *)reg[REG_RSP];
    unsigned saved = 0;
    while (sp[saved] - (uintptr_t)slot >= STUB_SLOT)
        saved++;
    if (saved >= 1)
        reg[REG_RAX] = (greg_t)sp[saved - 1];
    if (saved >= 2)
        reg[REG_RCX] = (greg_t)sp[saved - 2];
    if (saved >= 3)
        reg[REG_RDX] = (greg_t)sp[saved - 3];
    reg[REG_RSP] += (saved + 1) * 8;
}

bool stub_step_out(ucontext_t *at, const uint8_t *slot, uint64_t back, struct context *context) {
    greg_t *reg = at->uc_mcontext.gregs;
    uint64_t pc = (uint64_t)reg[REG_RIP];
    bool helper = stub_is_helper(pc);
    bool called = helper ? pc >= (uintptr_t)stub_leave : pc > (uintptr_t)slot + STUB_CALL;
    if (!stub_read(pc, slot, context))
        return false;
    if (helper)
        undo_helper(reg, slot);
    stub_set(context, stub_thread.head - 1);
    stub_thread.over = 0;
    reg[REG_RIP] = (greg_t)(called ? back : (uintptr_t)slot);
    return true;
}

void stub_set(const struct context *context, uint64_t max_id) {
    stub_thread.id = context->id;
    stub_thread.head = max_id + 1;
    stub_thread.top = stub_thread.entry + context->depth;
    if (context->depth > 0)
        memcpy(stub_thread.entry + 1, context->stack, context->depth * sizeof *context->stack);
}

#endif

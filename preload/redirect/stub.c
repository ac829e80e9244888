/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stub.c - stubs for x86-64; other machines have none.
 *
 *   incq %fs:calls_passed
 *   cmpq $0, %fs:calls_self    no thread that is not followed goes further
 *   je   1f
 *   call head                  of its page, which jumps to stub_common
 * 1: jmp  function           or jmp *word
 *
 * Flags are dead at a call. Registers are not, not even those that a function may change: the
 * compiler may know that this one does not (-fipa-ra). Calls and returns stay in pairs.
 */
#include "preload/redirect/stub.h"

#include <string.h>

#include "preload/calls/calls.h"

#if defined(__x86_64__)

#include <cpuid.h>

#define JUMP_AT    24u /* of the head's instruction in a page */
#define JUMP_BYTES 6u

/* From a page's head: %rsp points at the stub that goes on afterwards, and above that is the return
 * address of the program's call. What is called uses general registers alone; the usual case saves
 * what it uses of them. */
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden stub_common\n"
        ".globl stub_common\n"
        ".type stub_common, @function\n"
        "stub_common:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "pushq %rax\n.cfi_adjust_cfa_offset 8\n"
        "call redirect_enter_usual\n"
        "testb %al, %al\n"
        "je 2f\n"
        "1: popq %rax\n.cfi_adjust_cfa_offset -8\n"
        "ret\n"
        "2:\n.cfi_adjust_cfa_offset 8\n"
        "pushq %rcx\n.cfi_adjust_cfa_offset 8\n"
        "pushq %rdx\n.cfi_adjust_cfa_offset 8\n"
        "pushq %rsi\n.cfi_adjust_cfa_offset 8\n"
        "pushq %rdi\n.cfi_adjust_cfa_offset 8\n"
        "pushq %r8\n.cfi_adjust_cfa_offset 8\n"
        "pushq %r9\n.cfi_adjust_cfa_offset 8\n"
        "pushq %r10\n.cfi_adjust_cfa_offset 8\n"
        "pushq %r11\n.cfi_adjust_cfa_offset 8\n"
        "movq 72(%rsp), %rdi\n"
        "leaq 80(%rsp), %rsi\n"
        "movq %rbp, %rdx\n"
        "call redirect_enter\n"
        "popq %r11\n.cfi_adjust_cfa_offset -8\n"
        "popq %r10\n.cfi_adjust_cfa_offset -8\n"
        "popq %r9\n.cfi_adjust_cfa_offset -8\n"
        "popq %r8\n.cfi_adjust_cfa_offset -8\n"
        "popq %rdi\n.cfi_adjust_cfa_offset -8\n"
        "popq %rsi\n.cfi_adjust_cfa_offset -8\n"
        "popq %rdx\n.cfi_adjust_cfa_offset -8\n"
        "popq %rcx\n.cfi_adjust_cfa_offset -8\n"
        "jmp 1b\n"
        ".cfi_endproc\n"
        ".size stub_common, . - stub_common\n"
        /* what, argument, stack's end, area */
        ".p2align 4\n"
        ".hidden stub_with_all_kept\n"
        ".globl stub_with_all_kept\n"
        ".type stub_with_all_kept, @function\n"
        "stub_with_all_kept:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "pushq %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbp, 0\n"
        "movq %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
        "pushq %rbx\n.cfi_offset %rbx, -24\n"
        "pushq %r12\n.cfi_offset %r12, -32\n"
        "movq %rdi, %r12\n"
        "movq %rcx, %rbx\n"
        "movq %rdx, %rsp\n"
        "movl $-1, %eax\n"
        "movl $-1, %edx\n"
        "xsave64 (%rbx)\n"
        "movq %rsi, %rdi\n"
        "call *%r12\n"
        "movl $-1, %eax\n"
        "movl $-1, %edx\n"
        "xrstor64 (%rbx)\n"
        "leaq -16(%rbp), %rsp\n"
        "popq %r12\n"
        "popq %rbx\n"
        "popq %rbp\n.cfi_def_cfa %rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size stub_with_all_kept, . - stub_with_all_kept\n");

/* stub, n, caller */
__asm__(".text\n"
        ".p2align 5\n"
        ".hidden stub_call_often\n"
        ".globl stub_call_often\n"
        ".type stub_call_often, @function\n"
        "stub_call_often:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "pushq %rbx\n.cfi_adjust_cfa_offset 8\n"
        "pushq 8(%rdx)\n.cfi_adjust_cfa_offset 8\n" /* its site */
        "movq %rsp, 16(%rdx)\n"
        "orq %rsp, 24(%rdx)\n"
        "1: call *%rdi\n"
        "decl %esi\n"
        "jne 1b\n"
        "popq %rbx\n.cfi_adjust_cfa_offset -8\n"
        "popq %rbx\n.cfi_adjust_cfa_offset -8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size stub_call_often, . - stub_call_often\n"
        ".p2align 4\n"
        ".hidden stub_return\n"
        ".globl stub_return\n"
        ".type stub_return, @function\n"
        "stub_return:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size stub_return, . - stub_return\n");
_Static_assert(offsetof(struct calls_frame, site) == 8 && offsetof(struct calls_frame, sp) == 16 &&
                   offsetof(struct calls_frame, report) == 24,
               "the assembly knows the layout");

extern const char stub_common[] __attribute__((visibility("hidden")));

static uint64_t area_bytes;
static int32_t self_offset, passed_offset; /* of calls_self, calls_passed, from where %fs points */

/* Registers that are not for general use can be kept as a whole. */
static bool has_xsave(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_OSXSAVE) == 0 ||
        !__get_cpuid_count(13, 0, &a, &b, &c, &d))
        return false;
    area_bytes = ((uint64_t)b + 63) & ~63ull;
    return true;
}

static bool set_offset(const void *variable, int32_t *offset) {
    uint64_t thread;
    __asm__("movq %%fs:0, %0" : "=r"(thread));
    int64_t distance = (int64_t)((uintptr_t)variable - thread);
    *offset = (int32_t)distance;
    return distance == *offset;
}

bool stub_start(void) {
    return set_offset(&calls_self, &self_offset) && set_offset(&calls_passed, &passed_offset) &&
           has_xsave();
}

uint64_t stub_area_bytes(void) {
    return area_bytes;
}

static uint8_t *put32(uint8_t *at, uint64_t value) {
    uint32_t low = (uint32_t)value;
    memcpy(at, &low, sizeof low);
    return at + sizeof low;
}

void stub_write_head(struct stub_page *head, const struct redirect_module *module, uint64_t first) {
    head->module = module;
    head->first = first;
    head->common = (uintptr_t)stub_common;
    head->jump[0] = 0xff; /* jmpq *common(%rip) */
    head->jump[1] = 0x25;
    put32(head->jump + 2, offsetof(struct stub_page, common) - (JUMP_AT + JUMP_BYTES));
    head->jump[6] = head->jump[7] = 0xcc;
}

/* Up to what leads to the function. */
static uint8_t *write_question(uint8_t *page, uint64_t base, uint32_t i) {
    static const uint8_t count[] = {0x64, 0x48, 0xff, 0x04, 0x25};
    static const uint8_t is_followed[] = {0x64, 0x48, 0x83, 0x3c, 0x25};
    uint64_t there = stub_at(base, i), in_page = there % WIRE_PAGE;
    uint8_t *first = page + in_page, *at = first;
    memcpy(at, count, sizeof count);
    at = put32(at + sizeof count, (uint32_t)passed_offset);
    memcpy(at, is_followed, sizeof is_followed);
    at = put32(at + sizeof is_followed, (uint32_t)self_offset);
    *at++ = 0;
    *at++ = 0x74; /* je, over the call */
    *at++ = 5;
    *at++ = 0xe8;
    return put32(at, JUMP_AT - (in_page + (uint64_t)(at + 4 - first)));
}

/* An instruction that ends with the distance to `what`, and nothing more. */
static void write_end(uint8_t *page, uint64_t base, uint32_t i, uint8_t *at, uint64_t what) {
    uint64_t there = stub_at(base, i);
    uint8_t *first = page + there % WIRE_PAGE;
    at = put32(at, what - (there + (uint64_t)(at + 4 - first)));
    memset(at, 0xcc, (size_t)(first + STUB_BYTES - at));
}

void stub_write(uint8_t *page, uint64_t base, uint32_t i, uint64_t target) {
    uint8_t *at = write_question(page, base, i);
    *at++ = 0xe9;
    write_end(page, base, i, at, target);
}

void stub_write_by_word(uint8_t *page, uint64_t base, uint32_t i, uint64_t word) {
    uint8_t *at = write_question(page, base, i);
    *at++ = 0xff; /* jmpq *word(%rip) */
    *at++ = 0x25;
    write_end(page, base, i, at, word);
}

/* Of the header: version, a 4-byte distance to .eh_frame, no number of entries, no table. */
#define UNWIND_HEADER 0x01, 0x1b, 0xff, 0xff, 4, 0, 0, 0
/* Addresses are absolute; the frame is at the stack pointer + 8, the return address 8 below. */
#define UNWIND_CIE                                                                                 \
    20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x00, 0x0c, 7, 8, 0x90, 1, 0, 0
#define UNWIND_FDE 28, 0, 0, 0, 28, 0, 0, 0

void stub_write_unwind(struct stub_unwind *unwind, uint64_t low, uint64_t bytes) {
    static const uint8_t start[] = {UNWIND_HEADER, UNWIND_CIE, UNWIND_FDE};
    _Static_assert(sizeof start + 28 <= sizeof unwind->bytes,
                   "range, padding, and the end's zeros");
    memset(unwind->bytes, 0, sizeof unwind->bytes);
    memcpy(unwind->bytes, start, sizeof start);
    memcpy(unwind->bytes + sizeof start, &low, sizeof low);
    memcpy(unwind->bytes + sizeof start + sizeof low, &bytes, sizeof bytes);
}

uint64_t stub_call_target(const uint8_t *code, uint64_t address) {
    int32_t distance;
    if (code[0] != 0xe8)
        return 0;
    memcpy(&distance, code + 1, sizeof distance);
    return address + 5 + (uint64_t)(int64_t)distance;
}

void stub_call_set(uint8_t *code, uint64_t address, uint64_t target) {
    put32(code + 1, target - (address + 5));
}

uint64_t stub_call_word(const uint8_t *code, uint64_t address) {
    int32_t distance;
    if (code[-1] != 0xff || code[0] != 0x15)
        return 0;
    memcpy(&distance, code + 1, sizeof distance);
    return address + 5 + (uint64_t)(int64_t)distance;
}

/* The prefix means nothing here, but that the return address is where it was. */
void stub_call_set_direct(uint8_t *code, uint64_t address, uint64_t target) {
    code[-1] = 0x67;
    code[0] = 0xe8;
    stub_call_set(code, address, target);
}

/* (endbr64) push $number; (bnd) jmp */
bool stub_is_binder(const uint8_t *code) {
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    if (memcmp(code, endbr, sizeof endbr) == 0)
        code += sizeof endbr;
    return code[0] == 0x68 && (code[5] == 0xe9 || (code[5] == 0xf2 && code[6] == 0xe9));
}

#else

void stub_call_often(uint64_t stub, uint32_t n, struct calls_frame *caller) {
    (void)stub, (void)n, (void)caller;
}

void stub_return(void) {}

bool stub_is_binder(const uint8_t *code) {
    (void)code;
    return false;
}

bool stub_start(void) {
    return false;
}

uint64_t stub_area_bytes(void) {
    return 64;
}

void stub_write_head(struct stub_page *head, const struct redirect_module *module, uint64_t first) {
    (void)head, (void)module, (void)first;
}

void stub_write(uint8_t *page, uint64_t base, uint32_t i, uint64_t target) {
    (void)page, (void)base, (void)i, (void)target;
}

void stub_write_unwind(struct stub_unwind *unwind, uint64_t low, uint64_t bytes) {
    (void)unwind, (void)low, (void)bytes;
}

void stub_write_by_word(uint8_t *page, uint64_t base, uint32_t i, uint64_t word) {
    (void)page, (void)base, (void)i, (void)word;
}

uint64_t stub_call_target(const uint8_t *code, uint64_t address) {
    (void)code, (void)address;
    return 0;
}

uint64_t stub_call_word(const uint8_t *code, uint64_t address) {
    (void)code, (void)address;
    return 0;
}

void stub_call_set_direct(uint8_t *code, uint64_t address, uint64_t target) {
    (void)code, (void)address, (void)target;
}

void stub_call_set(uint8_t *code, uint64_t address, uint64_t target) {
    (void)code, (void)address, (void)target;
}

void stub_with_all_kept(void (*what)(void *argument), void *argument, void *stack_end, void *area) {
    (void)stack_end, (void)area;
    what(argument);
}

#endif

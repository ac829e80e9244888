/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_entry_x86_64.c - the entries, in a row, each of as many bytes.
 */
#include "preload/wrap/handler_entry.h"

#include <stddef.h>

#include "preload/life/thread.h"

#define BYTES 16

#if defined(__CET__) && (__CET__ & 1) != 0
#define ENTRY "endbr64\n"
#else
#define ENTRY ""
#endif

_Static_assert(offsetof(struct agent_thread, handlers) == 24, "the assembly knows the place");
_Static_assert(HANDLER_ENTRIES == 64, "the assembly knows how many");

/* clang-format off */

/* eax is which of them. What the handler is called with is in rdi, rsi and rdx. When it has returned,
 * the word below the stack pointer, where it has returned from, is kept: it looks as at its
 * beginning there. */
__asm__(".pushsection .text\n"
        ".p2align 4\n"
        ".type handler_entry_first, @function\n"
        "handler_entry_first:\n"
        ".cfi_startproc\n"
        ".set handler_entry_number, 0\n"
        ".rept 64\n"
        ".p2align 4\n"
        ENTRY
        "movl $handler_entry_number, %eax\n"
        "jmp handler_entry_common\n"
        ".set handler_entry_number, handler_entry_number + 1\n"
        ".endr\n"
        ".cfi_endproc\n"
        ".size handler_entry_first, .-handler_entry_first\n"
        ".p2align 4\n"
        ".type handler_entry_common, @function\n"
        "handler_entry_common:\n"
        ".cfi_startproc\n"
        "movq thread_self@gottpoff(%rip), %r10\n"
        "leaq handler_entries(%rip), %r11\n"
        "movq (%r11,%rax,8), %rax\n"
        "movq %fs:(%r10), %r10\n"
        "testq %r10, %r10\n"
        "jne 1f\n"
        "jmp *%rax\n"
        "1: pushq %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset rbp, -16\n"
        "movq %rsp, %rbp\n"
        ".cfi_def_cfa_register rbp\n"
        "subq $48, %rsp\n"
        "incl 24(%r10)\n" /* handlers */
        "movq %rax, 8(%rsp)\n"
        "movq %rdi, 16(%rsp)\n"
        "movq %rsi, 24(%rsp)\n"
        "movq %rdx, 32(%rsp)\n"
        "movq %rdx, %rsi\n"
        "call handler_in_call_begin\n"
        "movq %rax, 40(%rsp)\n"
        "testq %rax, %rax\n"
        "movq 8(%rsp), %rax\n"
        "movq 16(%rsp), %rdi\n"
        "movq 24(%rsp), %rsi\n"
        "movq 32(%rsp), %rdx\n"
        "jne 2f\n"
        ".cfi_remember_state\n"
        "leave\n"
        ".cfi_def_cfa rsp, 8\n"
        ".cfi_restore rbp\n"
        "jmp *%rax\n"
        ".cfi_restore_state\n"
        "2: call *%rax\n"
        "movq 40(%rsp), %rdi\n"
        "movq 8(%rsp), %rsi\n"
        "leaq -8(%rsp), %rdx\n"
        "movq %rbp, %rcx\n"
        "xorl %r8d, %r8d\n"
        "subq $16, %rsp\n"
        "call handler_in_call_end\n"
        "leave\n"
        ".cfi_def_cfa rsp, 8\n"
        ".cfi_restore rbp\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size handler_entry_common, .-handler_entry_common\n"
        ".popsection\n");
/* clang-format on */

extern const uint8_t handler_entry_first[] __attribute__((visibility("hidden")));

uintptr_t handler_entry_address(unsigned which) {
    return (uintptr_t)handler_entry_first + (uintptr_t)which * BYTES;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * faults_x86_64.c - faults where an unwind entry begins, and where its second row does: one byte
 * before, other code and other rules hold.
 */

__asm__(".text\n"
        ".globl fault_at_once\n"
        ".type fault_at_once, @function\n"
        "fault_at_once:\n"
        ".cfi_startproc\n"
        "movl (%rdi), %eax\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size fault_at_once, . - fault_at_once\n"
        ".globl fault_after_push\n"
        ".type fault_after_push, @function\n"
        "fault_after_push:\n"
        ".cfi_startproc\n"
        "push %rbx\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_offset %rbx, -16\n"
        "movl (%rdi), %eax\n"
        "pop %rbx\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_restore %rbx\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size fault_after_push, . - fault_after_push\n");

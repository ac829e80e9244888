/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_stack_aarch64.c - a function is called on another stack.
 */
#include "preload/life/handler_stack.h"

/* The caller's stack pointer is kept in x29, by which this can be unwound. */
__asm__(".pushsection .text\n"
        ".p2align 4\n"
        ".type handler_stack_switch, %function\n"
        ".globl handler_stack_switch\n"
        ".hidden handler_stack_switch\n"
        "handler_stack_switch:\n" /* thread, argument, function, top */
        ".cfi_startproc\n"
        "hint #34\n" /* bti c */
        "stp x29, x30, [sp, #-16]!\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset 29, -16\n"
        ".cfi_offset 30, -8\n"
        "mov x29, sp\n"
        ".cfi_def_cfa_register 29\n"
        "mov sp, x3\n"
        "blr x2\n"
        "mov sp, x29\n"
        ".cfi_def_cfa_register 31\n"
        "ldp x29, x30, [sp], #16\n"
        ".cfi_def_cfa_offset 0\n"
        ".cfi_restore 29\n"
        ".cfi_restore 30\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size handler_stack_switch, .-handler_stack_switch\n"
        ".popsection\n");

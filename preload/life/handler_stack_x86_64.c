/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_stack_x86_64.c - a function is called on another stack.
 */
#include "preload/life/handler_stack.h"

/* The caller's stack pointer is kept in rbp, by which this can be unwound. */
__asm__(".pushsection .text\n"
        ".p2align 4\n"
        ".type handler_stack_switch, @function\n"
        ".globl handler_stack_switch\n"
        ".hidden handler_stack_switch\n"
        "handler_stack_switch:\n" /* thread, argument, function, top */
        ".cfi_startproc\n"
        "pushq %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset rbp, 0\n"
        "movq %rsp, %rbp\n"
        ".cfi_def_cfa_register rbp\n"
        "movq %rcx, %rsp\n"
        "call *%rdx\n"
        "leave\n"
        ".cfi_def_cfa rsp, 8\n"
        ".cfi_restore rbp\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size handler_stack_switch, .-handler_stack_switch\n"
        ".popsection\n");

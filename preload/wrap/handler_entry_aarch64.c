/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_entry_aarch64.c - the entries, in a row, each of as many bytes.
 */
#include "preload/wrap/handler_entry.h"

#include <stddef.h>

#include "common/wire/arch.h"
#include "preload/life/thread.h"

#define BYTES 16

_Static_assert(offsetof(struct agent_thread, handlers) == 24, "the assembly knows the place");
_Static_assert(HANDLER_ENTRIES == 64, "the assembly knows how many");
_Static_assert(ARCH_SIGINFO_BYTES == 128, "the assembly knows where the kernel's frame has what");

/* clang-format off */

/* w16 is which of them. What the handler is called with is in x0, x1 and x2, and x30 is where it
 * returns to. The kernel gives no context to handlers without SA_SIGINFO; it is in its frame, at the
 * stack pointer, where x30 is the kernel's own code (arch_is_sigreturn). Whoever else calls an entry
 * comes to the handler. A jump by x16 may lead to a landing pad of calls. */
__asm__(".pushsection .text\n"
        ".p2align 4\n"
        ".type handler_entry_first, %function\n"
        "handler_entry_first:\n"
        ".cfi_startproc\n"
        ".set handler_entry_number, 0\n"
        ".rept 64\n"
        ".p2align 4\n"
        "hint #34\n" /* bti c */
        "mov w16, #handler_entry_number\n"
        "b handler_entry_common\n"
        ".set handler_entry_number, handler_entry_number + 1\n"
        ".endr\n"
        ".cfi_endproc\n"
        ".size handler_entry_first, .-handler_entry_first\n"
        ".p2align 4\n"
        ".type handler_entry_common, %function\n"
        "handler_entry_common:\n"
        ".cfi_startproc\n"
        "mrs x9, tpidr_el0\n"
        "adrp x10, :gottprel:thread_self\n"
        "ldr x10, [x10, :gottprel_lo12:thread_self]\n"
        "adrp x11, handler_entries\n"
        "add x11, x11, :lo12:handler_entries\n"
        "ldr x16, [x11, x16, lsl #3]\n"
        "ldr x10, [x9, x10]\n"
        "cbz x10, 3f\n"
        "ldr x11, [x30]\n"
        "movz x12, #0x1168\n" /* mov x8, #139; svc #0 */
        "movk x12, #0xd280, lsl #16\n"
        "movk x12, #0x0001, lsl #32\n"
        "movk x12, #0xd400, lsl #48\n"
        "cmp x11, x12\n"
        "b.eq 1f\n"
        "3: br x16\n"
        "1: stp x29, x30, [sp, #-64]!\n"
        ".cfi_def_cfa_offset 64\n"
        ".cfi_offset 29, -64\n"
        ".cfi_offset 30, -56\n"
        "mov x29, sp\n"
        "ldr w11, [x10, #24]\n" /* handlers */
        "add w11, w11, #1\n"
        "str w11, [x10, #24]\n"
        "stp x0, x1, [sp, #16]\n"
        "stp x2, x16, [sp, #32]\n"
        "add x1, sp, #192\n" /* in the frame, behind what it has of the signal */
        "bl handler_in_call_begin\n"
        "str x0, [sp, #48]\n"
        "mov x9, x0\n"
        "ldp x0, x1, [sp, #16]\n"
        "ldp x2, x16, [sp, #32]\n"
        "cbnz x9, 2f\n"
        "ldp x29, x30, [sp], #64\n"
        ".cfi_remember_state\n"
        ".cfi_def_cfa_offset 0\n"
        ".cfi_restore 29\n"
        ".cfi_restore 30\n"
        "br x16\n"
        ".cfi_restore_state\n"
        "2: blr x16\n"
        "handler_entry_returned:\n"
        "ldp x1, x0, [sp, #40]\n" /* the handler, and the call */
        "mov x2, sp\n"
        "mov x3, x29\n"
        "adr x4, handler_entry_returned\n"
        "bl handler_in_call_end\n"
        "ldp x29, x30, [sp], #64\n"
        ".cfi_def_cfa_offset 0\n"
        ".cfi_restore 29\n"
        ".cfi_restore 30\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size handler_entry_common, .-handler_entry_common\n"
        ".popsection\n");
/* clang-format on */

extern const uint8_t handler_entry_first[] __attribute__((visibility("hidden")));

uintptr_t handler_entry_address(unsigned which) {
    return (uintptr_t)handler_entry_first + (uintptr_t)which * BYTES;
}

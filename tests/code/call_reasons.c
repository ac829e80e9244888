/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_reasons.c - a library with a call for each reason for which one is left alone, and with
 * each form of those that are not. The labels that begin with at_ stand before what the test asks
 * about.
 */
#if defined(__x86_64__)

#define FUNCTION(name) ".p2align 4\n.type " name ", @function\n" name ":\n"
#define BEGIN          ".cfi_startproc\n"
#define END            ".cfi_endproc\n"
#define LOWER          "subq $8, %rsp\n.cfi_def_cfa_offset 16\n"
#define RAISE          "addq $8, %rsp\n.cfi_def_cfa_offset 8\nret\n"

__asm__(
    ".text\n"
    /* Two symbols for one function. */
    FUNCTION("leaf") "cr_leaf_mark:\n" BEGIN "ret\nnop\n" END

        FUNCTION("plain") BEGIN LOWER "at_leaf: call leaf\n"
                                      "at_puts: call puts@PLT\n"
                                      "pushq %rbx\n.cfi_adjust_cfa_offset 8\n"
                                      "at_pushed: call leaf\n"
                                      "popq %rbx\n.cfi_adjust_cfa_offset -8\n" RAISE END

                                          FUNCTION("framed") BEGIN
    "pushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\n"
    "movq %rsp, %rbp\n.cfi_def_cfa_register 6\n"
    "at_framed: call leaf\n"
    "leave\n.cfi_def_cfa 7, 8\nret\n" END

        /* Prefixes: what linkers write for calls that they have relaxed, compilers for those of
         * __tls_get_addr, and what the instruction is called bnd by. */
        FUNCTION("prefixed") BEGIN LOWER
    ".byte 0x67\nat_67: call leaf\n"
    ".byte 0x66, 0x66, 0x48\nat_66_48: call leaf\n"
    ".byte 0xf2\nat_f2: call leaf\n" RAISE END

        /* As long as the next instruction says, or two bytes shorter, by the processor's maker. */
        FUNCTION("odd") BEGIN LOWER ".byte 0x66\ncall leaf\nnop\nnop\n" RAISE END

            FUNCTION("indirect") BEGIN LOWER
    "call *%rax\ncall *8(%rax)\nat_word: call *puts@GOTPCREL(%rip)\n" RAISE END

        /* Three tail jumps; a jump within, and one through a table, are none. */
        FUNCTION("tail") BEGIN
    "testl %edi, %edi\nje leaf\njs 1f\njmp *%rax\n"
    "1: jmp puts@PLT\n"
    "jmp *puts@GOTPCREL(%rip)\n" END

        /* Into a function's middle, to the next instruction, and to code without an entry. */
        FUNCTION("targets") BEGIN LOWER
    "call leaf + 1\ncall 1f\n1: popq %rax\ncall bare\n" RAISE END

        FUNCTION("bare") "call leaf\nret\n"

    FUNCTION("minds_caller") BEGIN LOWER "call _setjmp@PLT\ncall dlsym@PLT\ncall vfork\n"
                                         "at_kept: call leaf\n" RAISE END
                                             /* One of the library's own. */
                                             FUNCTION("vfork") BEGIN "ret\n" END

                                                 FUNCTION("no_rule") BEGIN
    "movq %rsp, %rbx\n.cfi_def_cfa 3, 8\ncall leaf\n"
    ".cfi_def_cfa 7, 8\nret\n" END

        /* The return address is not where the call has put it, or there is none. */
        FUNCTION("moved_ra") BEGIN ".cfi_offset 16, -16\n"
                                   "call leaf\nret\n" END FUNCTION("no_ra") BEGIN
    ".cfi_undefined 16\n"
    "call leaf\nret\n" END

        /* 06 is no instruction of 64-bit code. */
        FUNCTION("broken") BEGIN LOWER "call leaf\n.byte 0x06\ncall leaf\n" RAISE END

            /* An entry that ends within an instruction. */
            FUNCTION("cut") BEGIN LOWER "call leaf\n.byte 0x48\n" END ".byte 0x90\nret\n"

    /* A function that only jumps on is no PLT entry, though it looks like one. */
    FUNCTION("jumps_on") BEGIN "jmp *puts@GOTPCREL(%rip)\n" END FUNCTION("calls_it") BEGIN LOWER
    "at_jumps_on: call jumps_on\n" RAISE END);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * aligned.c - a program that asks for a fault at each access to memory that is not aligned (the
 * flag AC of x86-64), and computes without one.
 */
#include <stdio.h>

int main(void) {
#ifdef __x86_64__
    for (int i = 0; i < 40; i++)
        __asm__ volatile("subq $128, %%rsp\n"
                         "pushfq\n"
                         "orl $0x40000, (%%rsp)\n"
                         "popfq\n"
                         "movq $8000000, %%rcx\n"
                         "1: decq %%rcx\n"
                         "jnz 1b\n"
                         "pushfq\n"
                         "andl $~0x40000, (%%rsp)\n"
                         "popfq\n"
                         "addq $128, %%rsp\n"
                         :
                         :
                         : "rcx", "cc", "memory");
#endif
    puts("done");
    return 0;
}

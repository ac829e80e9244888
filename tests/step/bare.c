/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * bare.c - code as people write it by hand, without any unwind data, in the shapes that codecs and
 * crypto libraries have: its callers are found by its instructions alone.
 */
#include <alloca.h>

void bare_shapes(void);
int bare_work(int n);
typedef int callback(int n);

/* int f(int n, callback *fn), without a .cfi directive. */
__asm__(".text\n"
        ".p2align 4\n"
        "bare_leaf:\n"
        "    lea 3(%rdi,%rdi,2), %eax\n"
        "    pxor %xmm0, %xmm0\n"
        "    movd %xmm0, %ecx\n"
        "    add %ecx, %eax\n"
        "    ret\n"
        ".p2align 4\n"
        "bare_pushes:\n" /* the frame pointer is a counter, both ways of a branch return */
        "    push %rbx\n"
        "    push %rbp\n"
        "    push %r12\n"
        "    sub $0x30, %rsp\n"
        "    movups %xmm0, (%rsp)\n"
        "    mov $5, %ebp\n"
        "    xor %eax, %eax\n"
        "1:  lea (%rax,%rdi,4), %rax\n"
        "    imul $7, %rax, %rbx\n"
        "    movzbl %bl, %r12d\n"
        "    test $1, %r12b\n"
        "    jz 2f\n"
        "    xor %r12, %rax\n"
        "2:  dec %ebp\n"
        "    jnz 1b\n"
        "    cmp $9, %eax\n"
        "    je 3f\n"
        "    movups (%rsp), %xmm0\n"
        "    add $0x30, %rsp\n"
        "    pop %r12\n"
        "    pop %rbp\n"
        "    pop %rbx\n"
        "    ret\n"
        "3:  xor %eax, %eax\n"
        "    add $0x30, %rsp\n"
        "    pop %r12\n"
        "    pop %rbp\n"
        "    pop %rbx\n"
        "    ret $0\n"
        ".p2align 4\n"
        "bare_aligned:\n" /* the stack pointer is kept in a register */
        "    push %rbx\n"
        "    push %rbp\n"
        "    mov %rsp, %rbx\n"
        "    and $-32, %rsp\n"
        "    sub $0x60, %rsp\n"
        "    movaps %xmm0, 0x40(%rsp)\n"
        "    mov %rdi, 8(%rsp)\n"
        "    mov $0x123456789abcdef0, %rbp\n"
        "    mov 8(%rsp), %rax\n"
        "    mov %rbx, %rsp\n"
        "    pop %rbp\n"
        "    pop %rbx\n"
        "    ret\n"
        ".p2align 4\n"
        "bare_kept:\n" /* the stack pointer is kept on the stack */
        "    mov %rsp, %rax\n"
        "    sub $0xa0, %rsp\n"
        "    and $-64, %rsp\n"
        "    mov %rax, 0x90(%rsp)\n"
        "    movl $0, 4(%rsp)\n"
        "    cmpl $0, 4(%rsp)\n"
        "    nopw 0x200(%rax,%rax,1)\n"
        "    xor %eax, %eax\n"
        "    mov 0x90(%rsp), %rsp\n"
        "    ret\n"
        ".p2align 4\n"
        "bare_framed:\n"
        "    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "    push %r15\n"
        "    sub $0x18, %rsp\n"
        "    movq $1, -0x18(%rbp)\n"
        "    mov -0x18(%rbp), %rax\n"
        "    mov -8(%rbp), %r15\n"
        "    leave\n"
        "    ret\n"
        ".p2align 4\n"
        "bare_tail:\n"
        "    inc %edi\n"
        "    jmp bare_pushes\n"
        ".p2align 4\n"
        "bare_tail_far:\n" /* to code that has a rule */
        "    push %rbx\n"
        "    mov %edi, %ebx\n"
        "    lea 1(%rbx), %edi\n"
        "    pop %rbx\n"
        "    jmp bare_work\n"
        ".p2align 4\n"
        "bare_calls:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    sub $8, %rsp\n"
        "    mov %rsi, %rbx\n"
        "    mov %edi, %ebp\n"
        "    call bare_leaf\n"
        "    lea (%rax,%rbp), %edi\n"
        "    call *%rbx\n"
        "    mov %ebp, %edi\n"
        "    call bare_aligned\n"
        "    add $8, %rsp\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".p2align 4\n"
        "bare_shuffles:\n" /* pushes and pops around a loop that has two ways out */
        "    push %r13\n"
        "    push %r14\n"
        "    mov %rsp, %r14\n"
        "    mov $3, %r13d\n"
        "1:  push %rdi\n"
        "    pushq $7\n"
        "    pop %rax\n"
        "    pop %rdi\n"
        "    sub $1, %r13d\n"
        "    jz 2f\n"
        "    cmp $1000, %edi\n"
        "    jb 1b\n"
        "2:  lea (%r14), %rsp\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    ret\n");

int bare_leaf(int n, callback *fn), bare_pushes(int n, callback *fn),
    bare_aligned(int n, callback *fn), bare_kept(int n, callback *fn),
    bare_framed(int n, callback *fn), bare_tail(int n, callback *fn),
    bare_tail_far(int n, callback *fn), bare_calls(int n, callback *fn),
    bare_shuffles(int n, callback *fn);

static volatile int sink;

int bare_work(int n) {
    sink = sink + n;
    return n / 3;
}

static int (*const shapes[])(int, callback *) = {
    bare_leaf, bare_pushes,   bare_aligned, bare_kept,     bare_framed,
    bare_tail, bare_tail_far, bare_calls,   bare_shuffles,
};

/* Its frame goes by the frame pointer, which such code has to give back. */
__attribute__((noinline, noclone)) static int by_frame_pointer(int n) {
    char *room = alloca((unsigned)(n % 7 + 1) * 16);
    room[0] = (char)n;
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        sink = sink + shapes[i](n + room[0], bare_work);
    return room[0];
}

void bare_shapes(void) {
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        sink = sink + shapes[i]((int)i, i % 2 != 0 ? by_frame_pointer : bare_work);
}

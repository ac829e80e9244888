/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * copied.c - a program whose stacks are large and can only be unwound by the daemon: each sample
 * is a copy that takes most of a ring.
 *
 *   usage: copied SECONDS [generated]
 *
 * Two functions take 1 ms of CPU time in turns, above 50,000 bytes of stack and a frame whose rule
 * is an expression of the kind that no compact table holds. The program prints the CPU time that
 * each has taken by the thread's own clock, as "NANOSECONDS NAME". With "generated" they are called
 * through generated code without a frame pointer, and the stack is small. Status 77: code can't be
 * generated here.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define TURN_NS     1000000u
#define STACK_BYTES 50000

static volatile uint64_t sink;
static uint64_t spent[2], seconds;

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline __attribute__((always_inline)) uint64_t burn(void) {
    uint64_t start = cpu_ns(), now = start;
    for (; now - start < TURN_NS; now = cpu_ns())
        for (unsigned i = 0; i < 200; i++)
            sink += i;
    return now - start;
}

__attribute__((noinline)) static void first(void) {
    spent[0] += burn();
}

__attribute__((noinline)) static void second(void) {
    spent[1] += burn();
}

static void take_turns(void) {
    while (spent[0] + spent[1] < seconds * 1000000000u) {
        first();
        second();
    }
}

__attribute__((noinline)) void rounds(void);
void rounds(void) {
    volatile char stack[STACK_BYTES];
    memset((void *)stack, 1, sizeof stack);
    take_turns();
    sink += (uint64_t)stack[STACK_BYTES / 2];
}

void (*called)(void) = rounds; /* by enter() */

#ifdef __x86_64__
/* void (void): sub $24, %rsp; call *16(%rip), which is the word behind it; add $24, %rsp; ret */
static const uint8_t code[] = {0x48, 0x83, 0xec, 0x18, 0xff, 0x15, 0x06, 0x00,
                               0x00, 0x00, 0x48, 0x83, 0xc4, 0x18, 0xc3, 0x90};

static void generate(void) {
    void (*target)(void) = take_turns;
    size_t bytes = sizeof code + sizeof target;
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        exit(77);
    memcpy(at, code, sizeof code);
    memcpy(at + sizeof code, &target, sizeof target);
    if (mprotect(at, bytes, PROT_READ | PROT_EXEC) != 0)
        exit(77);
    memcpy(&called, &at, sizeof called);
}

/* Calls what `called` points to. The CFA is rbp + 16, as (breg6 8) + 8: DW_OP_breg6, DW_OP_lit8,
 * DW_OP_plus. */
void enter(void);
__asm__(".text\n"
        ".type enter, @function\n"
        "enter:\n"
        ".cfi_startproc\n"
        "pushq %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset 6, -16\n"
        "movq %rsp, %rbp\n"
        ".cfi_escape 0x0f, 0x04, 0x76, 0x08, 0x38, 0x22\n"
        "call *called(%rip)\n"
        "popq %rbp\n"
        ".cfi_def_cfa 7, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size enter, .-enter\n");
#else
static void generate(void) {
    exit(77);
}

static void enter(void) {
    called();
}
#endif

int main(int argc, char **argv) {
    seconds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    if (argc > 2)
        generate();
    enter();
    printf("%lu first\n%lu second\n", (unsigned long)spent[0], (unsigned long)spent[1]);
    return 0;
}

/*
 * copied.c - a program whose stacks are large and can only be unwound by the daemon: each sample
 * is a copy that takes most of a ring.
 *
 *   usage: copied SECONDS
 *
 * Two functions take 1 ms of CPU time in turns, above 50,000 bytes of stack and a frame whose rule
 * is an expression of the kind that no compact table holds. The program prints the CPU time that
 * each has taken by the thread's own clock, as "NANOSECONDS NAME".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

__attribute__((noinline)) void rounds(void);
void rounds(void) {
    volatile char stack[STACK_BYTES];
    memset((void *)stack, 1, sizeof stack);
    while (spent[0] + spent[1] < seconds * 1000000000u) {
        first();
        second();
    }
    sink += (uint64_t)stack[STACK_BYTES / 2];
}

#ifdef __x86_64__
/* Calls rounds(). The CFA is rbp + 16, as (breg6 8) + 8: DW_OP_breg6, DW_OP_lit8, DW_OP_plus. */
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
        "call rounds\n"
        "popq %rbp\n"
        ".cfi_def_cfa 7, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size enter, .-enter\n");
#else
static void enter(void) {
    rounds();
}
#endif

int main(int argc, char **argv) {
    seconds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    enter();
    printf("%lu first\n%lu second\n", (unsigned long)spent[0], (unsigned long)spent[1]);
    return 0;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stubs_bench.c - what it takes to keep a context as a number, to read it, and to decode it.
 *
 * A function that only returns is called through a slot (tests/encode/stubs.h) of each kind, in
 * turn with a direct call, and what comes on top is shown: the least of some rounds, by CPU time.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "common/base/clock.h"
#include "common/encode/adaptive.h"
#include "tests/encode/stubs.h"

#if defined(__x86_64__)

#define CALLS  2000000u
#define ROUNDS 15u
#define CODE   (1ull << 40) /* a code that needs two instructions */

static uint8_t memory[4096] __attribute__((aligned(4096)));

/* In memory: the loop at 0, the function at 64, the slot at 128. */
static void write_loop(bool direct) {
    static const uint8_t enter[] = {0x53, 0x89, 0xfb}; /* push %rbx; mov %edi, %ebx */
    static const uint8_t next[] = {0xff, 0xcb, 0x75, 0xf7, 0x5b, 0xc3}; /* dec; jne; pop; ret */
    int32_t distance = (direct ? 64 : 128) - (3 + 5);
    memcpy(memory, enter, sizeof enter);
    memory[3] = direct ? 0xe8 : 0xe9;
    memcpy(memory + 4, &distance, 4);
    memcpy(memory + 8, next, sizeof next);
    memory[64] = 0xc3;
}

static double ns_a_call(void) {
    uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    ((void (*)(uint32_t))(uintptr_t)memory)(CALLS);
    return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) / CALLS;
}

struct kind {
    const char *name;
    uint64_t code;
    bool repeated; /* the top of the stack is this call already */
};

static double more_ns(const struct kind *kind) {
    uint64_t codes[2] = {ENCODING_NO_CODE, kind->code};
    const struct encoding encoding = {.edges = 1, .code = codes};
    double least = 1e9, direct_least = 1e9;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        write_loop(true);
        double direct = ns_a_call();
        write_loop(false);
        stub_slot_write(memory + 128, 1, &encoding, (uintptr_t)memory + 64, (uintptr_t)memory + 8);
        stub_thread_start();
        if (kind->repeated)
            *++stub_thread.top = (struct context_entry){.id = 0, .edge = 1};
        double by_slot = ns_a_call();
        direct_least = direct < direct_least ? direct : direct_least;
        least = by_slot < least ? by_slot : least;
    }
    return least - direct_least;
}

/* ---- reading and decoding ---- */

static double ns_of_number(void) {
    volatile uint64_t sink;
    uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint32_t i = 0; i < CALLS; i++) {
        sink = stub_thread.id;
        sink = (uintptr_t)stub_thread.top;
    }
    (void)sink;
    return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) / CALLS;
}

static double ns_of_read(uint32_t depth) {
    struct context context = {0};
    uint32_t n = CALLS / 20;
    stub_thread_start();
    stub_thread.top += depth;
    uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint32_t i = 0; i < n; i++)
        stub_read(0, NULL, &context);
    double ns = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) / n;
    context_free(&context);
    return ns;
}

/* A chain of so many calls, with two edges to each function. */
static double ns_of_decoding(uint32_t calls) {
    struct adaptive a;
    struct context context = {0};
    struct context_path path = {0};
    uint32_t n = 2000000 / calls;
    adaptive_start(&a, 64);
    for (uint32_t i = 0; i < calls; i++) {
        call_edges_number(&a.graph, i, 0, i + 1);
        call_edges_number(&a.graph, i, 1, i + 1);
    }
    adaptive_renew(&a);
    for (uint32_t i = 0; i < calls; i++)
        context_call(&context, &a.graph, adaptive_now(&a), 2 * i + 1 + i % 2);
    uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint32_t i = 0; i < n; i++)
        context_decode(&context, &a.graph, adaptive_now(&a), &path);
    double ns = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) / n;
    context_path_free(&path);
    context_free(&context);
    adaptive_end(&a);
    return ns;
}

int main(void) {
    static const struct kind kinds[] = {{"code 0, through a slot", 0, false},
                                        {"code added", 7, false},
                                        {"code of 64 bits added", CODE, false},
                                        {"pushed on the stack", ENCODING_NO_CODE, false},
                                        {"repeated on the stack", ENCODING_NO_CODE, true}};
    if (mprotect(memory, sizeof memory, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return 77;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        printf("%-26s %6.2f ns a call more\n", kinds[i].name, more_ns(&kinds[i]));
    printf("%-26s %6.2f ns\n", "number and top are read", ns_of_number());
    for (uint32_t depth = 0; depth <= 64; depth = depth == 0 ? 4 : depth * 4)
        printf("copied with %2u entries     %6.1f ns\n", depth, ns_of_read(depth));
    for (uint32_t calls = 10; calls <= 1000; calls *= 10)
        printf("decoded, %4u calls         %6.0f ns\n", calls, ns_of_decoding(calls));
    return 0;
}

#else

int main(void) {
    return 77;
}

#endif

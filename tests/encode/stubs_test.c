/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stubs_test.c - programs made of machine code whose calls go through slots: at each single
 * instruction of slots and functions, the context that a signal handler reads is the path that the
 * program has taken. With codes of 31 and of 64 bits, with calls by the stack, with a stack that is
 * full, and with all slots written anew while calls by them are open. Now and then the handler
 * takes the thread out of a slot, and gives new codes there and then: nothing is different
 * afterwards.
 *
 * A function asks a C function what to do, again and again: which of its call sites to take, or to
 * return. The trap flag is set while its own code and the slots execute.
 */
#include "tests/encode/programs.h"
#include "tests/encode/stubs.h"

#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/check.h"

#if defined(__x86_64__)

#define FUNCTION_BYTES 64u /* and then its sites, of 8 bytes each */
#define SITES          4u
#define FUNCTIONS      24u
#define EDGES_MAX      (FUNCTIONS * SITES + 2)
#define TRAP_FLAG      0x100u

/* Places in a function's code. */
enum { AT_ASK = 4, AT_TRAP = 21, AT_OUT = 43, AT_SITES = FUNCTION_BYTES };

#define FUNCTION_ROOM (FUNCTION_BYTES + SITES * 8)

struct world {
    struct program program; /* its random numbers */
    uint8_t *code, *slots;  /* one slot for each edge, by its number */
    uint32_t edge[FUNCTIONS + 1][SITES];
    struct adaptive adaptive;
    struct context_path path, decoded; /* as it is; as it was read */
    struct context context;
    uint32_t chosen, left; /* the edge that is about to be entered, or was just left; 0: none */
    uint32_t steps, deepest;
    bool stepping;
    uint64_t widest; /* largest id of an encoding */
    uint64_t wrong, checked, in_slot, untold, renewed, stepped_out;
};

static struct world w;

static uint8_t *function_at(uint32_t i) {
    return w.code + (size_t)i * FUNCTION_ROOM;
}

static uint8_t *slot_of(uint32_t edge) {
    return w.slots + (size_t)edge * STUB_SLOT;
}

/* ---- what a handler sees ---- */

/* The path as it is for the function at that place in its code. */
static void expected_at(uint64_t place, struct context_path *path) {
    context_path_copy(path, &w.path);
    if (place < AT_TRAP && w.chosen != 0)
        context_path_add(path, w.chosen); /* entered, and not asked yet */
    if (place >= AT_TRAP && place < AT_SITES && w.left != 0)
        context_path_add(path, w.left); /* asked, and about to return */
}

static void compare(const struct context_path *path, bool read) {
    w.checked++;
    if (!read) {
        w.untold++;
        return;
    }
    bool right =
        context_decode(&w.context, &w.adaptive.graph, adaptive_now(&w.adaptive), &w.decoded) &&
        context_path_equal(&w.decoded, path);
    w.wrong += !right;
}

static bool is_code(uint64_t pc) {
    return pc - (uintptr_t)w.code < (uint64_t)(FUNCTIONS + 1) * FUNCTION_ROOM;
}

static const uint8_t *slot_at(uint64_t pc) {
    uint64_t at = pc - (uintptr_t)w.slots;
    return at < (uint64_t)EDGES_MAX * STUB_SLOT ? w.slots + at / STUB_SLOT * STUB_SLOT : NULL;
}

/* Of common code: the slot is the one of the return address. */
static const uint8_t *slot_of_helper(const uint64_t *sp) {
    for (unsigned i = 0; i < 5; i++)
        if (slot_at(sp[i]) != NULL)
            return slot_at(sp[i]);
    return NULL;
}

static void check_here(uint64_t pc, const uint64_t *sp) {
    static struct context_path path;
    if (is_code(pc)) {
        uint64_t at = pc - (uintptr_t)w.code;
        w.context.node = (uint32_t)(at / FUNCTION_ROOM);
        expected_at(at % FUNCTION_ROOM, &path);
        bool read = stub_read(pc, NULL, &w.context);
        w.context.node = (uint32_t)(at / FUNCTION_ROOM);
        compare(&path, read);
        return;
    }
    const uint8_t *slot = stub_is_helper(pc) ? slot_of_helper(sp) : slot_at(pc);
    if (slot == NULL)
        return;
    w.in_slot++;
    bool read = stub_read(pc, slot, &w.context);
    w.context.node = w.adaptive.graph.edge[(slot - w.slots) / STUB_SLOT].caller;
    context_path_copy(&path, &w.path);
    compare(&path, read);
}

/* As the caller's code has set them before the call, and as the function has left them. */
static bool has_its_registers(const greg_t *reg, const struct call_edge *edge, uint64_t back) {
    uint64_t sites = (uintptr_t)function_at(edge->caller) + AT_SITES;
    if ((uint64_t)reg[REG_RIP] == back)
        return reg[REG_RAX] == -1;
    return (uint64_t)reg[REG_RAX] == sites + edge->site * 8 && (uint64_t)reg[REG_RCX] == sites;
}

static void renew(uint32_t node);

static void step_out(ucontext_t *context) {
    greg_t *reg = context->uc_mcontext.gregs;
    uint64_t pc = (uint64_t)reg[REG_RIP];
    const uint8_t *slot =
        stub_is_helper(pc) ? slot_of_helper((const uint64_t *)reg[REG_RSP]) : slot_at(pc);
    if (slot == NULL || program_random(&w.program, 40) != 0)
        return;
    uint32_t caller = w.adaptive.graph.edge[(slot - w.slots) / STUB_SLOT].caller;
    uint64_t back = (uintptr_t)function_at(caller) + AT_ASK;
    if (!stub_step_out(context, slot, back, &w.context))
        return;
    w.stepped_out++;
    w.wrong += !has_its_registers(reg, &w.adaptive.graph.edge[(slot - w.slots) / STUB_SLOT], back);
    if (program_random(&w.program, 4) == 0)
        renew(caller);
}

/* Off in the C function, on again at the breakpoint behind its call. */
static void on_trap(int number, siginfo_t *info, void *opaque) {
    ucontext_t *context = opaque;
    uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    (void)number, (void)info;
    bool ours = is_code(pc) || slot_at(pc) != NULL || stub_is_helper(pc);
    if (ours)
        check_here(pc, (const uint64_t *)context->uc_mcontext.gregs[REG_RSP]);
    if (ours)
        step_out(context);
    if (ours && w.stepping)
        context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    else
        context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

/* ---- new codes, while all functions of the path are executing ---- */

static void write_slots(void) {
    const struct encoding *now = adaptive_now(&w.adaptive);
    for (uint32_t e = 1; e <= w.adaptive.graph.edges; e++) {
        const struct call_edge *edge = &w.adaptive.graph.edge[e];
        if (edge->caller != CALL_EDGES_ROOT)
            stub_slot_write(slot_of(e), e, now, (uintptr_t)function_at(edge->callee),
                            (uintptr_t)function_at(edge->caller) + AT_ASK);
    }
}

static void renew(uint32_t node) {
    const struct encoding *before = adaptive_now(&w.adaptive);
    if (!stub_read(0, NULL, &w.context))
        return;
    for (uint32_t e = 1; e <= w.adaptive.graph.edges; e++)
        w.adaptive.graph.edge[e].weight = program_random(&w.program, 9);
    adaptive_renew(&w.adaptive);
    w.context.node = node;
    w.wrong += !context_translate(&w.context, &w.adaptive.graph, before, adaptive_now(&w.adaptive),
                                  &w.decoded);
    stub_set(&w.context, adaptive_now(&w.adaptive)->max_id);
    write_slots();
    w.renewed++;
    if (adaptive_now(&w.adaptive)->max_id > w.widest)
        w.widest = adaptive_now(&w.adaptive)->max_id;
}

/* ---- the programs ---- */

/* What function i does next: 0 to SITES - 1, or -1: it returns. */
static int64_t decide(uint32_t i) {
    if (w.chosen != 0)
        context_path_add(&w.path, w.chosen);
    w.chosen = w.left = 0;
    if (program_random(&w.program, 60) == 0)
        renew(i);
    uint64_t what = program_random(&w.program, 100);
    if (w.steps == 0 || w.path.n > w.deepest || what < (w.path.n < w.deepest / 2 ? 30 : 60)) {
        w.left = w.path.edge[--w.path.n];
        return -1;
    }
    w.steps--;
    uint32_t site = what == 99 ? 0 : (uint32_t)program_random(&w.program, SITES);
    w.chosen = w.edge[i][site];
    return site;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t n) {
    memcpy(at, bytes, n);
    return at + n;
}

static void write_function(uint32_t i) {
    static const uint8_t enter[] = {0x48, 0x83, 0xec, 0x08};             /* sub $8, %rsp */
    static const uint8_t out[] = {0x48, 0x83, 0xc4, 0x08, 0xc3};         /* add $8, %rsp; ret */
    static const uint8_t asked[] = {0xcc, 0x85, 0xc0, 0x0f, 0x88};       /* int3; test; js out */
    static const uint8_t jump[] = {0x48, 0x8d, 0x0d, 0,    0,    0,   0, /* lea sites, %rcx */
                                   0x48, 0x8d, 0x04, 0xc1, 0xff, 0xe0};  /* lea, jmp *%rax */
    uint8_t *first = function_at(i), *at = put(first, enter, sizeof enter);
    uint64_t ask = (uintptr_t)decide;
    int32_t distance;
    *at++ = 0xbf; /* mov $i, %edi */
    at = put(at, &i, 4);
    *at++ = 0x48; /* mov $decide, %rax */
    *at++ = 0xb8;
    at = put(at, &ask, 8);
    *at++ = 0xff; /* call *%rax */
    *at++ = 0xd0;
    at = put(at, asked, sizeof asked);
    distance = (int32_t)(first + AT_OUT - (at + 4));
    at = put(at, &distance, 4);
    at = put(at, jump, sizeof jump);
    distance = (int32_t)(first + AT_SITES - (at - 6));
    memcpy(at - 10, &distance, 4);
    put(first + AT_OUT, out, sizeof out);
    for (uint32_t k = 0; k < SITES; k++) {
        uint8_t *site = first + AT_SITES + k * 8;
        *site = 0xe9;
        distance = (int32_t)(slot_of(w.edge[i][k]) - (site + 5));
        put(site + 1, &distance, 4);
    }
}

/* A ladder has the most paths: 4^23, whose codes do not fit into one instruction. */
static void make(uint64_t seed, uint32_t functions) {
    bool ladder = functions == FUNCTIONS;
    w.program.random = seed;
    call_edges_number(&w.adaptive.graph, CALL_EDGES_ROOT, 0, 1);
    for (uint32_t i = 1; i <= functions; i++)
        for (uint32_t k = 0; k < SITES; k++) {
            uint32_t callee = 1 + (uint32_t)program_random(&w.program, functions);
            if (i < functions && program_random(&w.program, 4) != 0)
                callee = i + 1 + (uint32_t)program_random(&w.program, functions - i);
            if (ladder && i < functions)
                callee = i + 1;
            w.edge[i][k] = call_edges_number(&w.adaptive.graph, i, k, callee);
        }
    for (uint32_t i = 1; i <= functions; i++)
        write_function(i);
}

/* The root calls function 1 without a slot, as the outermost function is called. */
static void execute(uint64_t seed, uint32_t functions, unsigned bits, uint32_t room) {
    adaptive_start(&w.adaptive, bits);
    make(seed, functions);
    write_slots();
    stub_thread_start();
    stub_thread.limit = stub_thread.entry + room;
    struct context root = {0};
    context_call(&root, &w.adaptive.graph, adaptive_now(&w.adaptive), 1);
    stub_set(&root, adaptive_now(&w.adaptive)->max_id);
    w.chosen = 1;
    w.steps = 250;
    w.deepest = 40;
    w.stepping = true;
    ((void (*)(void))(uintptr_t)function_at(1))();
    w.stepping = false;
    w.wrong += w.path.n != 0;
    context_free(&root);
    adaptive_end(&w.adaptive);
    w.chosen = w.left = 0;
}

static void test_programs(void) {
    static const unsigned bits[] = {64, 64, 8, 3};
    for (uint64_t seed = 1; seed <= check_rounds(12); seed++)
        execute(seed, 1 + (uint32_t)(seed % FUNCTIONS), bits[seed % 4], STUB_ENTRIES - 1);
    for (uint64_t seed = 1; seed <= 4; seed++)
        execute(seed, FUNCTIONS, 64, STUB_ENTRIES - 1);
    CHECK_UINT(w.wrong, 0);
    CHECK_UINT(w.untold, 0);
    CHECK(w.checked > 3000);
    CHECK(w.in_slot > 3000);
    CHECK(w.renewed > 3);
    CHECK(w.stepped_out > 50);
    CHECK(w.widest > 1ull << 33);
    printf(
        "%llu instructions, %llu of them in slots; %llu new encodings, %llu times out of a slot\n",
        (unsigned long long)w.checked, (unsigned long long)w.in_slot, (unsigned long long)w.renewed,
        (unsigned long long)w.stepped_out);
}

/* What can't be told is known not to be, and all is right again when the calls have returned. */
static void test_full_stack(void) {
    uint64_t before = w.checked;
    for (uint64_t seed = 1; seed <= 4; seed++)
        execute(seed, 6, 2, 3);
    CHECK_UINT(w.wrong, 0);
    CHECK(w.untold > 100);
    CHECK(w.checked - before - w.untold > 100);
}

int main(void) {
    struct sigaction trap = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    static uint8_t memory[1u << 16] __attribute__((aligned(4096))); /* in reach of common code */
    if (mprotect(memory, sizeof memory, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return 77; /* this machine has no memory that can be written and executed */
    w.code = memory;
    w.slots = memory + sizeof memory / 2;
    sigaction(SIGTRAP, &trap, NULL);
    test_programs();
    test_full_stack();
    return check_report();
}

#else

int main(void) {
    return 77;
}

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * slot_test.c - slots of two functions that are made up, tried instruction by instruction: what is
 * kept of their calls, where the thread would be without slots, and that nothing else changes.
 */
#include "preload/encode/slot.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#include "preload/context/exports.h"
#include "preload/encode/shallow.h"
#include "preload/redirect/form.h"
#include "preload/redirect/redirect.h"
#include "preload/redirect/stub.h"
#include "tests/check.h"

#define ENTRIES    64
#define SLOTS_AT   WIRE_PAGE
#define ROOM       (4 * WIRE_PAGE)
#define SITES      2
#define TRAP       0x100u
#define BRANCH     5u
#define FIRST_SITE 0u /* outer's direct call, by frame pointer */
#define LAST_SITE  1u /* inner's call through a word */

/* outer: push %rbp; mov %rsp, %rbp; call inner; pop %rbp; ret
 * inner: sub $8, %rsp; call *word(%rip); add $8, %rsp; ret */
static const uint8_t outer_code[] = {0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3};
static const uint8_t inner_code[] = {0x48, 0x83, 0xec, 8,    0xff, 0x15, 0,   0,
                                     0,    0,    0x48, 0x83, 0xc4, 8,    0xc3};
#define INNER_AT 32u
#define WORD_AT  64u

static bool others_are_led = true; /* calls of the function outside, too */

bool redirect_means_at(uint64_t code) {
    (void)code;
    return others_are_led;
}

uint64_t hcct_agent_context(void) {
    return 0;
}

uint64_t hcct_context(void) {
    return 0;
}

bool stub_is_binder(const uint8_t *code) {
    (void)code;
    return false;
}

static uint8_t *text;
static struct redirect_site site[SITES];
static struct redirect_callee callee[SITES];
static struct redirect_module module;
static struct slot_entry entry[ENTRIES];
static struct slot_self self;
__attribute__((visibility("hidden"))) void (*innermost)(void);

/* All registers that a call may not change for who knows what is called (-fipa-ra) are the same
 * afterwards. The stack pointer within the calls is told. */
static uint64_t outer_sp;
bool call_outer(void *outer, uint64_t *sp);
__asm__(".text\n"
        "call_outer:\n"
        "pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n pushq %rdi\n"
        "leaq -8(%rsp), %rax\n"
        "movq %rax, (%rsi)\n"
        "movq %rdi, %r11\n"
        "movq $1, %rax\n movq $2, %rbx\n movq $3, %rcx\n movq $4, %rdx\n movq $5, %rsi\n"
        "movq $6, %rdi\n movq $7, %rbp\n movq $8, %r8\n movq $9, %r9\n movq $10, %r10\n"
        "movq $12, %r12\n movq $13, %r13\n movq $14, %r14\n movq $15, %r15\n"
        "call *%r11\n"
        "cmpq (%rsp), %r11\n jne 1f\n cmpq $1, %rax\n jne 1f\n cmpq $2, %rbx\n jne 1f\n"
        "cmpq $3, %rcx\n jne 1f\n cmpq $4, %rdx\n jne 1f\n cmpq $5, %rsi\n jne 1f\n"
        "cmpq $6, %rdi\n jne 1f\n cmpq $7, %rbp\n jne 1f\n cmpq $8, %r8\n jne 1f\n"
        "cmpq $9, %r9\n jne 1f\n cmpq $10, %r10\n jne 1f\n cmpq $12, %r12\n jne 1f\n"
        "cmpq $13, %r13\n jne 1f\n cmpq $14, %r14\n jne 1f\n cmpq $15, %r15\n jne 1f\n"
        "movl $1, %eax\n jmp 2f\n"
        "1: xorl %eax, %eax\n"
        "2: popq %rdi\n popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n"
        "ret\n"
        ".globl do_nothing\n"
        "do_nothing: ret\n"
        /* a function of the usual kind may change the registers */
        ".globl call_innermost\n"
        "call_innermost:\n"
        "pushq %rax\n pushq %rcx\n pushq %rdx\n pushq %rsi\n pushq %rdi\n pushq %r8\n pushq %r9\n"
        "pushq %r10\n pushq %r11\n"
        "call *innermost(%rip)\n"
        "popq %r11\n popq %r10\n popq %r9\n popq %r8\n popq %rdi\n popq %rsi\n"
        "popq %rdx\n popq %rcx\n popq %rax\n"
        "ret\n");
void do_nothing(void);
void call_innermost(void);

static void put_distance(uint8_t *at, const void *target) {
    int32_t distance = (int32_t)((const uint8_t *)target - (at + 4));
    memcpy(at, &distance, sizeof distance);
}

static void set_called(void (*function)(void)) {
    memcpy(text + WORD_AT, &function, sizeof function);
}

static void set_innermost(void (*function)(void)) {
    innermost = function;
    set_called(function == do_nothing ? do_nothing : call_innermost);
}

/* Where a function's own return address is, and where its call's is. */
static uint64_t place_of(unsigned i) {
    uint64_t outer_place = outer_sp - 16; /* its frame pointer is between */
    return i == FIRST_SITE ? outer_place : outer_place - 16;
}

static void make(void) {
    text = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(text, outer_code, sizeof outer_code);
    memcpy(text + INNER_AT, inner_code, sizeof inner_code);
    put_distance(text + 5, text + INNER_AT);
    put_distance(text + INNER_AT + 6, text + WORD_AT);
    callee[0] = (struct redirect_callee){.target = (uintptr_t)text + INNER_AT};
    callee[1] = (struct redirect_callee){.word = (const uint64_t *)(void *)(text + WORD_AT)};
    site[0] = (struct redirect_site){
        .routine = (uintptr_t)text, .back = 9, .callee = 0 | REDIRECT_BY_FP, .cfa = 16};
    site[1] = (struct redirect_site){.routine = (uintptr_t)text + INNER_AT,
                                     .back = INNER_AT + 10,
                                     .callee = 1 | REDIRECT_BY_WORD};
    module = (struct redirect_module){.form = slot_form(),
                                      .text = (uintptr_t)text,
                                      .bytes = WIRE_PAGE,
                                      .site = site,
                                      .callee = callee,
                                      .sites = SITES,
                                      .callees = SITES,
                                      .stubs = (uintptr_t)text + SLOTS_AT};
    module.stub_bytes = module.form->bytes(SITES);
    module.form->write(&module);
    module.form->write_unwind(&module.unwind, module.stubs, module.stub_bytes);
    for (uint32_t i = 0; i < SITES; i++) {
        uint64_t call = site[i].back - BRANCH;
        module.form->lead(&module, i, text + call, module.text + call);
    }
}

static void begin(void) {
    static const uint64_t reach = 1u << 20;
    uint64_t here = (uintptr_t)__builtin_frame_address(0);
    entry[0].place = UINT64_MAX;
    self = (struct slot_self){
        .top = entry, .limit = &entry[ENTRIES - 1], .low = here - reach, .span = 2 * reach};
    slot_self = &self;
}

static bool run(void) {
    return call_outer(text, &outer_sp);
}

/* ---- what is kept ---- */

static bool is_entry(const struct slot_entry *e, unsigned i) {
    return e->place == place_of(i) && slot_site(e->from) == &site[i] && e->number == 0 &&
           slot_back(e->from) == module.text + site[i].back;
}

/* The two innermost. */
static void check_both(void) {
    const struct slot_entry *last = self.top, *first = last - 1;
    bool both = last > entry + 1 && is_entry(first, FIRST_SITE) && is_entry(last, LAST_SITE);
    CHECK(both && first->fp == place_of(FIRST_SITE) + 8 && last->fp == first->fp);
    for (unsigned i = 0; i < SITES && both; i++)
        CHECK(*(const uint64_t *)place_of(i) == slot_start(first[i].from) + SLOT_BACK);
}

static void check_both_alone(void) {
    CHECK(self.top == entry + 2);
    check_both();
}

static void check_first_only(void) {
    CHECK(self.top == entry + 1 && is_entry(&entry[1], FIRST_SITE));
}

static void check_none(void) {
    CHECK(self.top == entry);
}

static void test_kept(void) {
    begin();
    for (unsigned i = 1; i < ENTRIES; i++)
        entry[i].number = i; /* of contexts that are over */
    set_innermost(check_both_alone);
    CHECK(run() && self.top == entry);
    set_innermost(do_nothing);
    CHECK(run() && self.top == entry);
}

static void test_full(void) {
    begin();
    self.limit = entry + 1;
    set_innermost(check_first_only);
    CHECK(run() && self.top == entry);
}

static void test_elsewhere(void) {
    begin();
    self.span = 0;
    set_innermost(check_none);
    CHECK(run());
    slot_self = NULL;
    set_innermost(do_nothing);
    CHECK(run() && self.top == entry);
}

/* A longjmp has left calls open. */
static void test_left(void) {
    begin();
    set_innermost(check_both_alone);
    CHECK(run());
    for (unsigned i = 1; i <= 8; i++)
        entry[i] = (struct slot_entry){.place = place_of(FIRST_SITE) - 8 * (i - 1), .from = 1};
    self.top = entry + 8;
    CHECK(run() && self.top == entry);
}

/* ---- at each instruction ---- */

static unsigned steps, in_slots, nests_at;
static bool right;

static bool is_in_slots(uint64_t address) {
    return address - module.stubs < module.stub_bytes;
}

/* As a walk has it of the thread's registers: 0 where it is not on its way through a slot. */
static uint64_t stepped_out(uint64_t pc, uint64_t *sp) {
    uint64_t depth = is_in_slots(pc) && slot_is_head(pc) ? 8 : slot_helper_depth(pc);
    *sp += depth;
    if (depth == 0)
        return is_in_slots(pc) ? module.form->in_program(pc) : 0;
    uint64_t slot = *(const uint64_t *)(*sp - 8);
    return is_in_slots(slot) ? module.form->in_program(slot) : 1;
}

static bool is_of_site(unsigned i, uint64_t pc, uint64_t sp) {
    uint64_t back = module.text + site[i].back;
    return (pc == back || pc == back - BRANCH) && sp == place_of(i) + 8;
}

static void on_step(int number, siginfo_t *info, void *context) {
    const greg_t *reg = ((const ucontext_t *)context)->uc_mcontext.gregs;
    uint64_t sp = (uint64_t)reg[REG_RSP], pc = stepped_out((uint64_t)reg[REG_RIP], &sp);
    (void)number, (void)info;
    bool nests = ++steps == nests_at;
    if (pc != 0) {
        in_slots++;
        right = right && (is_of_site(FIRST_SITE, pc, sp) || is_of_site(LAST_SITE, pc, sp));
    }
    if (nests) {
        uint64_t before = outer_sp;
        right = run() && right;
        outer_sp = before;
    }
}

static bool run_stepped(void) {
    bool same;
    __asm__ volatile("pushfq\n orl %0, (%%rsp)\n popfq" ::"i"(TRAP) : "memory", "cc");
    same = run();
    __asm__ volatile("pushfq\n andl %0, (%%rsp)\n popfq" ::"i"(~TRAP) : "memory", "cc");
    return same;
}

static void step_through(void (*function)(void), unsigned at) {
    begin();
    set_innermost(function);
    steps = in_slots = 0;
    nests_at = at;
    right = true;
    CHECK(run_stepped() && right && self.top == entry);
    CHECK(in_slots > 60 && steps > in_slots);
}

static void test_stepped(void) {
    const struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    step_through(do_nothing, 0);
}

/* A handler that makes the same calls may write over an entry that is being made. */
static void test_nested(void) {
    for (unsigned at = 1; at <= steps; at++)
        step_through(check_both, at);
}

/* ---- unwinding ---- */

void __register_frame(void *begin);
void __deregister_frame(void *begin);

static bool met;

static _Unwind_Reason_Code meet(struct _Unwind_Context *context, void *arg) {
    (void)arg;
    met = met || _Unwind_GetIP(context) == module.text + site[LAST_SITE].back - 1;
    return _URC_NO_REASON;
}

static void unwind_here(void) {
    _Unwind_Backtrace(meet, NULL);
}

/* From a slot to its caller. */
static void test_unwind(void) {
    void *entries = module.unwind.bytes + 8;
    begin();
    set_called(unwind_here); /* from the slot itself: what is between has no unwind entry */
    __register_frame(entries);
    run();
    __deregister_frame(entries);
    CHECK(met);
}

/* Calls of a function that calls nothing, and of one that calls only that. */
static void test_shallow(void) {
    shallow_find(&module);
    CHECK(!shallow_is(&site[FIRST_SITE]) && !shallow_is(&site[LAST_SITE]));
    others_are_led = false;
    shallow_find(&module);
    CHECK_UINT(site[LAST_SITE].level, 0);
    CHECK_UINT(site[FIRST_SITE].level, 1);
    CHECK(shallow_is(&site[FIRST_SITE]) && shallow_is(&site[LAST_SITE]));
    CHECK(!shallow_asks(&module, &site[LAST_SITE]) && !shallow_asks(&module, &site[FIRST_SITE]));
    set_called((void (*)(void))hcct_context); /* a function that asks is to have an entry */
    shallow_find(&module);
    CHECK(!shallow_is(&site[FIRST_SITE]) && shallow_asks(&module, &site[LAST_SITE]));
}

int main(void) {
    make();
    test_kept();
    test_full();
    test_elsewhere();
    test_left();
    test_stepped();
    test_nested();
    test_unwind();
    test_shallow();
    return check_report();
}

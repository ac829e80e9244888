/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * machine.c - each function has 64 bytes of code that do not exist: bytes 0 to 7 are the prologue,
 * all others the body, and after each eighth one it can have been called from. Where code is read,
 * it looks like calls by register, or like the prologue of a function that sets up a frame pointer.
 */
#include "tests/agent/machine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/check.h"

#define FUNCTIONS  64u
#define CODE_BYTES 64u /* of a function */
#define PROLOGUE   8u
#define CODE       0x10000000u /* run-time address of function 0 */
#define GENERATED  0x20000000u /* of functions that no module covers */
#define BIAS       0x0ff00000u
#define RBX        3
#define SIZES      24u /* of frames by stack pointer: 8 to 192 bytes */

enum { RULE_NONE, RULE_ENTRY, RULE_FIXED, RULE_SIZES = RULE_FIXED + MACHINE_KINDS };
#define RULES (RULE_SIZES + 2 * SIZES)

struct table {
    struct unwind_table header;
    struct unwind_row row[2 * FUNCTIONS];
    struct unwind_rule rule[RULES];
    uint32_t block[FUNCTIONS];
};

uint64_t machine_random(struct machine *machine, uint64_t n) {
    machine->random ^= machine->random << 13;
    machine->random ^= machine->random >> 7;
    machine->random ^= machine->random << 17;
    return (machine->random >> 8) % n;
}

/* ---- functions and their table ---- */

static enum machine_kind kind_of(unsigned function) {
    static const enum machine_kind kinds[] = {
        MACHINE_PLAIN,   MACHINE_PLAIN,   MACHINE_PLAIN,     MACHINE_PLAIN,
        MACHINE_SAVES,   MACHINE_SAVES,   MACHINE_BY_FP,     MACHINE_BY_FP,
        MACHINE_PLAIN,   MACHINE_SAVES,   MACHINE_REALIGNED, MACHINE_NO_RULE,
        MACHINE_OUTSIDE, MACHINE_FAILING, MACHINE_LOSES_FP,  MACHINE_RICH,
    };
    return function < 2 ? (enum machine_kind)function
                        : kinds[function % (sizeof kinds / sizeof kinds[0])];
}

static uint64_t start_of(unsigned function) {
    return (kind_of(function) == MACHINE_OUTSIDE ? GENERATED : CODE) + CODE_BYTES * function;
}

/* Bytes of a frame that is found by the stack pointer, return address included. */
static uint32_t size_of(unsigned function) {
    return 8 * (2 + function * 7 % (SIZES - 2));
}

static unsigned rule_of(unsigned function) {
    enum machine_kind kind = kind_of(function);
    if (kind == MACHINE_NO_RULE || kind == MACHINE_OUTSIDE)
        return RULE_NONE;
    if (kind == MACHINE_PLAIN || kind == MACHINE_SAVES)
        return RULE_SIZES + size_of(function) / 8 + (kind == MACHINE_SAVES ? SIZES : 0);
    return RULE_FIXED + kind;
}

static void make_rules(struct unwind_rule *rule) {
    const struct unwind_rule plain = {
        .cfa = UNWIND_CFA_REG, .cfa_reg = ARCH_SP, .ra = UNWIND_AT_CFA, .ra_off = -8, .cfa_off = 8};
    struct unwind_rule *fixed = rule + RULE_FIXED;
    for (unsigned i = 0; i < 2 * SIZES; i++) {
        rule[RULE_SIZES + i] = plain;
        rule[RULE_SIZES + i].cfa_off = (int32_t)(8 * (i % SIZES));
        rule[RULE_SIZES + i].fp = i < SIZES ? UNWIND_SAME : UNWIND_AT_CFA;
        rule[RULE_SIZES + i].fp_off = -16;
    }
    for (unsigned i = RULE_ENTRY; i < RULE_SIZES; i++)
        rule[i] = plain;
    fixed[MACHINE_START].ra = UNWIND_UNDEFINED;
    fixed[MACHINE_SIGNAL].cfa = UNWIND_CFA_SIGNAL;
    fixed[MACHINE_BY_FP] =
        (struct unwind_rule){UNWIND_CFA_REG, ARCH_FP, UNWIND_AT_CFA, UNWIND_AT_CFA, 16, 0, -8, -16};
    fixed[MACHINE_REALIGNED] =
        (struct unwind_rule){UNWIND_CFA_DEREF, ARCH_FP, UNWIND_AT_CFA, UNWIND_AT_REG, -8, 0, -8, 0};
    fixed[MACHINE_FAILING].cfa_reg = RBX;
    fixed[MACHINE_FAILING].cfa_off = 16;
    fixed[MACHINE_LOSES_FP].fp = UNWIND_UNDEFINED;
    fixed[MACHINE_LOSES_FP].cfa_off = 16;
    fixed[MACHINE_RICH].cfa = UNWIND_CFA_RICH;
}

static void *make_table(void) {
    struct table *t = calloc(1, sizeof *t);
    if (t == NULL)
        abort();
    t->header = (struct unwind_table){.magic = UNWIND_TABLE_MAGIC,
                                      .bytes = sizeof *t,
                                      .text_start = CODE - BIAS,
                                      .text_span = CODE_BYTES * FUNCTIONS,
                                      .rows = 2 * FUNCTIONS,
                                      .rules = RULES,
                                      .blocks = FUNCTIONS,
                                      .block_shift = 6,
                                      .rows_off = offsetof(struct table, row),
                                      .rules_off = offsetof(struct table, rule),
                                      .blocks_off = offsetof(struct table, block)};
    make_rules(t->rule);
    for (unsigned f = 0; f < FUNCTIONS; f++) {
        unsigned rule = rule_of(f);
        bool entry = rule >= RULE_FIXED && f >= 2;
        t->row[2 * f] = (struct unwind_row){CODE_BYTES * f, entry ? RULE_ENTRY : (uint16_t)rule, 0};
        t->row[2 * f + 1] = (struct unwind_row){CODE_BYTES * f + PROLOGUE, (uint16_t)rule, 1};
        t->block[f] = 2 * f;
    }
    return t;
}

/* ---- the stack ---- */

static bool on_other(const struct machine *m, uint64_t address) {
    uint64_t low = (uintptr_t)m->other;
    return address >= low && address < low + 8 * MACHINE_OTHER;
}

static void put(struct machine *m, uint64_t address, uint64_t word) {
    uint64_t *stack = on_other(m, address) ? m->other : m->stack;
    stack[(address - (uintptr_t)stack) / 8] = word;
}

static uint64_t room_below(const struct machine *m) {
    return m->sp - (uintptr_t)(on_other(m, m->sp) ? m->other : m->stack);
}

/* What a program may have in a register. */
static uint64_t any_value(struct machine *m) {
    switch (machine_random(m, 3)) {
    case 0:
        return machine_random(m, 1000);
    case 1:
        return (uintptr_t)m->stack + 8 * machine_random(m, MACHINE_WORDS);
    default:
        return machine_random(m, UINT64_MAX);
    }
}

static void fill(struct machine *m, uint64_t low, uint64_t high) {
    for (uint64_t at = low; at < high; at += 8)
        put(m, at, any_value(m));
}

/* The running function makes its frame; its return address is on top of the stack. */
static void make_frame(struct machine *m) {
    struct machine_level *l = &m->level[m->levels - 1];
    uint64_t cfa = m->sp + 8, old_fp = m->fp;
    m->entering = false;
    m->pc = start_of(l->function) + PROLOGUE;
    m->sp = cfa - 16;
    switch (kind_of(l->function)) {
    case MACHINE_PLAIN:
        m->sp = cfa - size_of(l->function);
        fill(m, m->sp, cfa - 8);
        break;
    case MACHINE_SAVES:
        put(m, cfa - 16, m->fp);
        m->sp = cfa - size_of(l->function);
        m->fp = any_value(m);
        break;
    case MACHINE_REALIGNED:
        m->fp = (cfa - 24) & ~63ull;
        put(m, m->fp, old_fp);
        put(m, m->fp - 8, cfa);
        m->sp = m->fp - 8 - 8 * machine_random(m, 8);
        break;
    case MACHINE_FAILING:
        m->rbx = cfa - 16;
        break;
    case MACHINE_LOSES_FP:
        m->fp = any_value(m);
        break;
    default: /* by frame pointer; the frame grows as it likes */
        put(m, cfa - 16, m->fp);
        m->fp = cfa - 16;
        m->sp = cfa - 16 - 8 * machine_random(m, 8);
        fill(m, m->sp, cfa - 16);
        break;
    }
}

/* ---- what it does ---- */

void machine_go_on(struct machine *m) {
    const struct machine_level *l = &m->level[m->levels - 1];
    if (m->entering)
        make_frame(m);
    m->pc = start_of(l->function) + PROLOGUE + machine_random(m, CODE_BYTES - 2 * PROLOGUE);
}

static void enter(struct machine *m, unsigned function, uint64_t return_address) {
    m->sp -= 8;
    put(m, m->sp, return_address);
    m->pc = start_of(function);
    m->entering = true;
    m->level[m->levels++] = (struct machine_level){.function = function, .ra_at = m->sp};
}

static bool has_room(const struct machine *m) {
    return m->levels < MACHINE_LEVELS - 2 && room_below(m) > 4096 + 2 * sizeof(ucontext_t);
}

static void call_function(struct machine *m, unsigned function) {
    struct machine_level *caller = &m->level[m->levels - 1];
    if (!has_room(m))
        return;
    if (m->entering)
        make_frame(m);
    caller->pc = start_of(caller->function) + 16 + 8 * machine_random(m, 5);
    caller->sp = m->sp;
    caller->fp = m->fp;
    enter(m, function, caller->pc);
}

void machine_call(struct machine *m, enum machine_kind kind) {
    unsigned function = 2 + (unsigned)machine_random(m, FUNCTIONS - 2);
    while (kind_of(function) != kind)
        function = 2 + (function - 1) % (FUNCTIONS - 2);
    call_function(m, function);
}

static void call_any(struct machine *m) {
    unsigned function;
    bool failing = machine_random(m, 1000) < m->failing_of_1000;
    do
        function = 2 + (unsigned)machine_random(m, FUNCTIONS - 2);
    while ((kind_of(function) >= MACHINE_FAILING) != failing);
    call_function(m, function);
}

static void resume(struct machine *m, uint32_t level) {
    const struct machine_level *l = &m->level[level];
    m->levels = level + 1;
    m->pc = l->pc;
    m->sp = l->sp;
    m->fp = l->fp;
    m->entering = false;
    if (l->function == 1) /* a handler returns to what the signal has interrupted */
        resume(m, level - 1);
}

void machine_return(struct machine *m) {
    if (m->levels > 1)
        resume(m, m->levels - 2);
}

/* To any level by longjmp. */
static void jump(struct machine *m) {
    if (m->levels > 1)
        resume(m, (uint32_t)machine_random(m, m->levels - 1));
}

/* A handler runs above the kernel's frame, on this stack or on another. */
static void take_signal(struct machine *m) {
    struct machine_level *l = &m->level[m->levels - 1];
    struct unwind_registers regs;
    if (!has_room(m))
        return;
    if (m->entering)
        make_frame(m);
    machine_registers(m, &regs);
    l->pc = m->pc;
    l->sp = m->sp;
    l->fp = m->fp;
    if (machine_random(m, 4) == 0 && !on_other(m, m->sp))
        m->sp = (uintptr_t)m->other + 8 * MACHINE_OTHER;
    m->sp = (m->sp - 256 - sizeof(ucontext_t)) & ~15ull;
    put(m, m->sp + ARCH_SIGFRAME_PC, regs.pc);
    for (unsigned i = 0; i < ARCH_REGS; i++)
        put(m, m->sp + ARCH_SIGFRAME_REG(i), regs.reg[i]);
    m->level[m->levels++] =
        (struct machine_level){.function = 1, .pc = start_of(1) + 16, .sp = m->sp, .fp = m->fp};
    enter(m, 2, start_of(1) + 16);
}

static void break_a_word(struct machine *m) {
    uint64_t words = ((uintptr_t)m->stack + 8 * MACHINE_WORDS - m->sp) / 8;
    if (on_other(m, m->sp) || words == 0)
        return;
    if (machine_random(m, 2) == 0) {
        struct machine_level *l = &m->level[machine_random(m, m->levels)];
        if (l->ra_at != 0)
            put(m, l->ra_at, start_of(2 + (unsigned)machine_random(m, FUNCTIONS - 2)) + 24);
    } else {
        put(m, m->sp + 8 * machine_random(m, words), any_value(m));
    }
}

void machine_act(struct machine *m) {
    uint64_t what = machine_random(m, 1000);
    if (what < 430)
        call_any(m);
    else if (what < 830)
        machine_return(m);
    else if (what < 980)
        machine_go_on(m);
    else if (what < 985)
        take_signal(m);
    else if (what < 987)
        jump(m);
    else if (what < 990)
        m->other_unreadable = machine_random(m, 2) == 0;
    else if (machine_random(m, 1000) < m->failing_of_1000)
        break_a_word(m);
}

/* ---- its stack, as a walk sees it ---- */

static bool find(void *arg, uint64_t pc, struct unwind_module *module) {
    const struct machine *m = arg;
    if (pc < CODE || pc >= CODE + CODE_BYTES * FUNCTIONS)
        return false;
    *module = (struct unwind_module){
        .start = CODE, .end = CODE + CODE_BYTES * FUNCTIONS, .bias = BIAS, .table = m->table};
    return true;
}

static bool read_code(uint64_t address, uint64_t *word) {
    static const uint8_t prologue[8] = {0x55, 0x48, 0x89, 0xe5},
                         body[8] = {0, 0, 0, 0, 0, 0, 0xff, 0xd0};
    bool module = address >= CODE && address < CODE + CODE_BYTES * FUNCTIONS;
    bool generated = address >= GENERATED && address < GENERATED + CODE_BYTES * FUNCTIONS;
    memcpy(word, address % CODE_BYTES == 0 ? prologue : body, 8);
    return module || generated;
}

static bool read_word(void *arg, uint64_t address, uint64_t *word) {
    const struct machine *m = arg;
    uint64_t stack = (uintptr_t)m->stack;
    CHECK(address % 8 == 0);
    if (on_other(m, address) && !m->other_unreadable) {
        *word = *(const uint64_t *)(uintptr_t)address;
        return true;
    }
    if (address >= stack && address < stack + 8 * MACHINE_WORDS) {
        *word = *(const uint64_t *)(uintptr_t)address;
        return true;
    }
    return read_code(address, word);
}

void machine_env(struct machine *m, struct unwind_env *env) {
    uint64_t high = (uintptr_t)m->stack + 8 * MACHINE_WORDS;
    bool own = !on_other(m, m->sp);
    *env = (struct unwind_env){
        .find = find, .read = read_word, .arg = m, .low = own ? m->sp : 8, .high = own ? high : 8};
}

void machine_registers(struct machine *m, struct unwind_registers *regs) {
    for (unsigned i = 0; i < ARCH_REGS; i++)
        regs->reg[i] = i; /* the table uses none but these three */
    regs->reg[ARCH_SP] = m->sp;
    regs->reg[ARCH_FP] = m->fp;
    regs->reg[RBX] = m->rbx;
    regs->pc = m->pc;
    regs->known = ARCH_ALL_REGS;
    regs->exact = true;
}

bool machine_is_honest(const struct machine *m) {
    return m->failing_of_1000 == 0 && ARCH_HAS_LINK == 0 &&
           !(on_other(m, m->sp) && m->other_unreadable);
}

uint64_t machine_site(const struct machine *m, uint32_t i) {
    return i + 1 < m->levels ? m->level[m->levels - 2 - i].pc : 0;
}

/* Always there, so that the same seed makes the same machine: its words hold addresses. */
static uint64_t *memory_at(uintptr_t address, size_t words) {
    void *memory = mmap((void *)address, 8 * words, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != (void *)address)
        abort();
    return memory;
}

void machine_make(struct machine *m, uint64_t seed, unsigned failing_of_1000) {
    *m = (struct machine){.random = seed | 1, .failing_of_1000 = failing_of_1000, .levels = 1};
    m->stack = memory_at(0x7ff000000000, MACHINE_WORDS);
    m->other = memory_at(0x7fe000000000, MACHINE_OTHER);
    m->table = make_table();
    m->sp = (uintptr_t)m->stack + 8 * (MACHINE_WORDS - 4);
    m->pc = start_of(0) + PROLOGUE;
}

void machine_free(struct machine *m) {
    munmap(m->stack, 8 * MACHINE_WORDS);
    munmap(m->other, 8 * MACHINE_OTHER);
    free(m->table);
}

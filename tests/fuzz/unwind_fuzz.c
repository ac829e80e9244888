/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_fuzz.c - any table that the daemon's check lets pass, any registers, any stack: no walk
 * reads what it must not, none goes on for ever, and the memoized walk finds the same as the full
 * one.
 *
 * A table out of random bytes says little, so most inputs are of the numbers of which one is made.
 */
#include <stdbool.h>
#include <sys/mman.h>

#include "common/code/unwind_compile.h"
#include "preload/sample/memo.h"
#include "tests/fuzz/fuzz.h"

static uint64_t scratch[UNWIND_SCRATCH_WORDS];

#define PAGE       4096u
#define WORDS      (PAGE / 8)
#define ROOM       64u
#define ROWS       16u
#define BLOCKS     64u
#define WALKS      4u
#define CODE       0x400000u /* where the table's code is */
#define READ_WORDS 64u       /* code bytes that the reader has, from CODE on */

/* ---- what is walked ---- */

static struct {
    uint64_t *stack; /* a page between two that must not be touched */
    void *table;
    uint64_t code[READ_WORDS];
    uint64_t unreadable; /* bit n: word n of code */
} world;

static bool find(void *arg, uint64_t pc, struct unwind_module *module) {
    (void)arg;
    if (pc < CODE || pc >= 2 * CODE)
        return false;
    *module = (struct unwind_module){
        .start = CODE, .end = 2 * CODE, .bias = CODE, .table = world.table, .pending = false};
    return true;
}

static bool read_word(void *arg, uint64_t address, uint64_t *word) {
    uint64_t i = (address - CODE) / 8;
    (void)arg;
    if ((address & 7) != 0 || address - (uintptr_t)world.stack < PAGE)
        abort(); /* the reader is for aligned words elsewhere */
    if (i >= READ_WORDS || (world.unreadable >> i & 1) != 0)
        return false;
    *word = world.code[i];
    return true;
}

static void map_stack(void) {
    char *at = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at, PAGE, PROT_NONE) != 0 ||
        mprotect(at + 2 * PAGE, PAGE, PROT_NONE) != 0)
        abort();
    world.stack = (uint64_t *)(void *)(at + PAGE);
}

/* The input says little of addresses: small numbers mean code, or the stack. */
static uint64_t meaning(uint64_t word) {
    switch (word >> 62) {
    case 0:
        return CODE + word % 4096;
    case 1:
        return (uintptr_t)world.stack + word % PAGE / 8 * 8;
    default:
        return word;
    }
}

struct table {
    struct unwind_table header;
    struct unwind_row row[ROWS];
    struct unwind_rule rule[ROWS];
    uint32_t block[BLOCKS];
};

static void take_rules(struct fuzz_input *input, struct unwind_rule *rule) {
    fuzz_take(input, rule, ROWS * sizeof *rule);
    for (unsigned i = 0; i < ROWS; i++) {
        rule[i].cfa %= UNWIND_CFA_RICH + 1;
        rule[i].cfa_reg = i % 4 != 0 ? ARCH_FP + rule[i].cfa_reg % 2 : rule[i].cfa_reg % 32;
        rule[i].ra %= UNWIND_UNDEFINED + 1;
        rule[i].fp %= UNWIND_AT_REG + 1;
    }
    rule[UNWIND_RULE_NONE] = (struct unwind_rule){0};
}

static void take_rows(struct fuzz_input *input, struct table *t) {
    uint32_t pc = 0, row = 0;
    for (unsigned i = 0; i < ROWS; i++) {
        uint8_t bytes[2];
        fuzz_take(input, bytes, sizeof bytes);
        bool goes_on = i > 0 && bytes[1] % 2 != 0;
        t->row[i] = (struct unwind_row){pc, bytes[0] % ROWS,
                                        goes_on ? (uint16_t)(t->row[i - 1].back + 1) : 0};
        pc += 1 + bytes[1];
    }
    for (uint32_t b = 0; b < BLOCKS; t->block[b++] = row)
        while (row + 1 < ROWS && t->row[row + 1].pc <= b << 6)
            row++;
}

/* A table of a few rows and rules, consistent in itself, out of any bytes. */
static void *make_table(struct fuzz_input *input) {
    struct table *t = calloc(1, sizeof *t);
    if (t == NULL)
        abort();
    t->header = (struct unwind_table){.magic = UNWIND_TABLE_MAGIC,
                                      .bytes = sizeof *t,
                                      .text_span = BLOCKS << 6,
                                      .rows = ROWS,
                                      .rules = ROWS,
                                      .blocks = BLOCKS,
                                      .block_shift = 6,
                                      .rows_off = offsetof(struct table, row),
                                      .rules_off = offsetof(struct table, rule),
                                      .blocks_off = offsetof(struct table, block)};
    take_rules(input, t->rule);
    take_rows(input, t);
    if (!unwind_table_check(t, sizeof *t))
        abort(); /* then nothing would be tried */
    return t;
}

/* ---- the walks ---- */

static void walk(const struct unwind_env *env, const struct unwind_registers *regs,
                 struct memo *memo) {
    struct unwind_frame frames[ROOM];
    struct unwind_registers copy = *regs;
    struct memo_result result;
    uint32_t n;
    memo_walk(memo, env, regs, ROOM, &result);
    enum unwind_end end = unwind_walk(env, &copy, frames, ROOM, &n);
    if (n > ROOM || end != result.end)
        abort();
    if (end == UNWIND_RICH)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (memo->depth != n || memo->frame[n - 1 - i].frame.routine != frames[i].routine ||
            memo->frame[n - 1 - i].frame.site != frames[i].site)
            abort();
}

static void take_registers(struct fuzz_input *input, struct unwind_registers *regs) {
    *regs = (struct unwind_registers){.pc = CODE + fuzz_take_word(input) % 4096};
    for (unsigned i = 0; i < ARCH_REGS; i++)
        regs->reg[i] = meaning(fuzz_take_word(input));
    regs->known = (uint32_t)fuzz_take_word(input) & 0xffff;
    regs->exact = true;
}

static void walk_input(struct fuzz_input *input) {
    static struct memo_frame frame[ROOM];
    static struct memo_step step[ROOM];
    static struct memo_word word[2 * ROOM];
    static _Alignas(64) struct unwind_cached cache[1u << UNWIND_CACHE_BITS];
    struct memo memo = {.frame = frame,
                        .step = step,
                        .word = word,
                        .room = ROOM,
                        .words_room = 2 * ROOM,
                        .cache = cache,
                        .used = true}; /* the cache has another input's rules */
    struct unwind_env env = {.find = find,
                             .scratch = scratch,
                             .read = read_word,
                             .low = (uintptr_t)world.stack,
                             .high = (uintptr_t)world.stack + PAGE};
    struct unwind_registers regs;
    memo_forget(&memo);
    fuzz_take(input, world.code, sizeof world.code);
    world.unreadable = fuzz_take_word(input);
    take_registers(input, &regs);
    for (unsigned i = 0; i < WORDS; i++)
        world.stack[i] = meaning(fuzz_take_word(input));
    walk(&env, &regs, &memo);
    for (unsigned i = 1; i < WALKS; i++) { /* a few words change in between */
        uint64_t change = fuzz_take_word(input);
        world.stack[change % WORDS] = meaning(fuzz_take_word(input));
        if (change >> 63 != 0)
            take_registers(input, &regs);
        walk(&env, &regs, &memo);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    if (world.stack == NULL)
        map_stack();
    uint64_t kind = fuzz_take_word(&input);
    if (kind % 8 == 0) { /* the check itself, on bytes that are no table at all */
        void *copy = malloc(input.size + 1);
        if (copy == NULL)
            abort();
        memcpy(copy, input.data, input.size);
        bool passes = unwind_table_check(copy, input.size);
        world.table = passes ? copy : NULL;
        walk_input(&input);
        free(copy);
        return 0;
    }
    world.table = make_table(&input);
    walk_input(&input);
    free(world.table);
    return 0;
}

/* ---- made up ---- */

static size_t make_up(uint64_t *random, uint8_t *into) {
    uint64_t words[FUZZ_INPUT_MAX / 8];
    for (unsigned w = 0; w < FUZZ_INPUT_MAX / 8; w++) {
        uint64_t word = fuzz_random(random);
        /* mostly words that mean something, and small offsets in rules */
        words[w] = w < 64 ? word & 0x00f800f8ffffffffull : word >> (word % 4 == 0 ? 0 : 1);
    }
    words[0] = *random;
    memcpy(into, words, sizeof words);
    return *random % sizeof words;
}

const struct fuzz_target fuzz_target = {
    .name = "unwind", .mutations = 2000, .made_up = 20000, .make_up = make_up};

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * syscall_passed_x86_64.c - follows a function from its beginning to its system call, with what is
 * known of registers and of the words that it writes to the stack; then the code before the call of
 * that function, if the number is only there.
 *
 * Where that code begins is not known, so it is decoded from each of a range of bytes: decoders
 * agree after a few instructions. All that find what the argument is must find the same, and no
 * jump near by may lead between that and the call, as it may bring another number.
 */
#include "preload/wrap/syscall_passed.h"

#include <stddef.h>
#include <string.h>

#include "common/wire/arch.h"
#include "preload/sample/instruction.h"

#define RAX        0 /* in DWARF's numbers, as all below */
#define RCX        2
#define RBP        6
#define R11        11
#define WORDS_MAX  24           /* above the stack pointer, one of which is the return address */
#define STEPS_MAX  48           /* instructions of the function, and of what jumps to it */
#define STORED_MAX 10           /* words that it writes */
#define NEAR       (1ull << 31) /* code that calls lead to */
#define BEFORE     80           /* bytes of code before a call that are searched, ... */
#define STARTS     12           /* ... and the first of them, where decoders begin */
#define JUMPS      256          /* bytes before and after the call that are searched for jumps */

/* What a register or a word is known to be. */
struct value {
    enum { UNKNOWN, PASSED, CONSTANT, STACK, LOADED } kind;
    uint64_t word; /* the register that it was in at the beginning; the constant; the address; where
                    * it was loaded from */
};

struct course {
    const struct syscall_site *site;
    uint64_t pc;
    struct value reg[ARCH_REGS];
    struct {
        uint64_t address;
        struct value value;
    } stored[STORED_MAX];
    unsigned n_stored;
};

static const struct value unknown = {.kind = UNKNOWN, .word = 0};

/* ---- the application's memory ---- */

static bool read_bytes(const struct syscall_site *site, uint64_t address, uint8_t *to, size_t n) {
    uint64_t word;
    for (size_t have = 0; have < n;) {
        size_t within = (size_t)((address + have) & 7), some = 8 - within;
        if (some > n - have)
            some = n - have;
        if (!site->read(site->arg, (address + have) & ~7ull, &word))
            return false;
        memcpy(to + have, (const uint8_t *)&word + within, some);
        have += some;
    }
    return true;
}

/* Numbers are ints: the lower half of a word. */
static long read_number(const struct syscall_site *site, uint64_t address) {
    uint32_t number;
    return read_bytes(site, address, (uint8_t *)&number, sizeof number) ? (long)number : -1;
}

/* ---- registers and words ---- */

static struct value *stored_at(struct course *c, uint64_t address) {
    for (unsigned i = 0; i < c->n_stored; i++)
        if (c->stored[i].address == address)
            return &c->stored[i].value;
    return NULL;
}

/* False: there is no room to keep account of it. */
static bool store(struct course *c, uint64_t address, struct value value) {
    for (unsigned i = 0; i < ARCH_REGS; i++)
        if (c->reg[i].kind == LOADED && c->reg[i].word + 8 > address &&
            c->reg[i].word < address + 8)
            c->reg[i] = unknown;
    struct value *before = stored_at(c, address);
    if (before != NULL) {
        *before = value;
        return true;
    }
    if (c->n_stored == STORED_MAX)
        return false;
    c->stored[c->n_stored].address = address;
    c->stored[c->n_stored++].value = value;
    return true;
}

static struct value load(struct course *c, uint64_t address) {
    const struct value *stored = stored_at(c, address);
    return stored != NULL && stored->kind == STACK
               ? *stored
               : (struct value){.kind = LOADED, .word = address};
}

static bool push(struct course *c, struct value value) {
    struct value *sp = &c->reg[ARCH_SP];
    sp->word -= 8;
    return store(c, sp->word, value);
}

static void pop(struct course *c, unsigned reg) {
    struct value value = load(c, c->reg[ARCH_SP].word);
    c->reg[ARCH_SP].word += 8;
    if (reg < ARCH_REGS)
        c->reg[reg] = value;
}

/* ---- instructions ---- */

/* The decoder gives moves of 64 bits alone. Those of 32 bits count as such: the upper half of a
 * number means nothing, and addresses are not moved so. */
static bool decode(const struct course *c, struct instruction *in, uint8_t code[]) {
    uint8_t wide[INSTRUCTION_BYTES];
    if (!read_bytes(c->site, c->pc, code, INSTRUCTION_BYTES))
        return false;
    instruction_decode(code, c->pc, in);
    unsigned rex = (code[0] & 0xf0) == 0x40;
    uint8_t op = code[rex];
    bool moves = op == 0x89 || op == 0x8b || op == 0x63;
    if (in->kind != INSTRUCTION_OTHER || !moves)
        return true;
    wide[0] = rex ? code[0] | 8 : 0x48;
    memcpy(wide + 1, code + rex, INSTRUCTION_BYTES - 1);
    if (op == 0x63) /* with a sign */
        wide[1] = 0x8b;
    uint8_t length = in->length;
    instruction_decode(wide, c->pc, in);
    in->length = length;
    return in->kind != INSTRUCTION_OTHER;
}

/* The constant that the instruction puts into a register; INSTRUCTION_NONE: none. */
static unsigned constant_of(const uint8_t *code, uint32_t *constant) {
    static const uint8_t dwarf_of[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
    unsigned has_rex = (code[0] & 0xf0) == 0x40, rex = has_rex ? code[0] : 0;
    const uint8_t *op = code + has_rex;
    *constant = 0;
    if (*op == 0x31 && op[1] >= 0xc0 && (op[1] & 7) == (op[1] >> 3 & 7) &&
        (rex & 1) == (rex >> 2 & 1)) /* xor with itself */
        return dwarf_of[(op[1] & 7) | (rex & 1) << 3];
    bool moves = (*op & 0xf8) == 0xb8, moves_signed = *op == 0xc7 && (op[1] & 0xf8) == 0xc0;
    if (!moves && !moves_signed)
        return INSTRUCTION_NONE;
    memcpy(constant, op + 1 + moves_signed, sizeof *constant);
    return dwarf_of[((moves ? *op : op[1]) & 7) | (rex & 1) << 3];
}

static void do_other(struct course *c, const struct instruction *in, const uint8_t *code) {
    uint32_t constant;
    bool extends = in->length == 2 && code[0] == 0x48 && code[1] == 0x98; /* eax to rax */
    if (extends)
        return;
    for (unsigned i = 0; i < ARCH_REGS; i++)
        if ((in->writes & 1u << i) != 0)
            c->reg[i] = unknown;
    unsigned reg = constant_of(code, &constant);
    if (reg < ARCH_REGS)
        c->reg[reg] = (struct value){.kind = CONSTANT, .word = constant};
}

/* Where on the stack the operand is; false: elsewhere, or it is not known. */
static bool operand(const struct course *c, const struct instruction *in, uint64_t *address) {
    if (in->base >= ARCH_REGS || in->index != INSTRUCTION_NONE || c->reg[in->base].kind != STACK)
        return false;
    *address = c->reg[in->base].word + (uint64_t)in->displacement;
    return true;
}

static void add(struct course *c, const struct instruction *in) {
    struct value *value = &c->reg[in->reg];
    if (value->kind != STACK)
        *value = unknown;
    else if (in->kind == INSTRUCTION_AND)
        value->word &= (uint64_t)in->value;
    else
        value->word += (uint64_t)in->value;
}

/* Where the instruction leads elsewhere. */
static bool follow_jump(struct course *c, const struct instruction *in) {
    if (in->kind == INSTRUCTION_JUMP)
        c->pc = in->target;
    else if (in->kind != INSTRUCTION_JUMP_SLOT || (in->target & 7) != 0 ||
             !c->site->read(c->site->arg, in->target, &c->pc))
        return false;
    return true;
}

/* False: what it does is not known in full. */
static bool execute(struct course *c, const struct instruction *in, const uint8_t *code) {
    uint64_t address = 0;
    bool on_stack = operand(c, in, &address);
    struct value from = in->from < ARCH_REGS ? c->reg[in->from] : unknown;
    switch ((enum instruction_kind)in->kind) {
    case INSTRUCTION_OTHER:
        do_other(c, in, code);
        break;
    case INSTRUCTION_PUSH:
        return push(c, in->reg < ARCH_REGS ? c->reg[in->reg] : unknown);
    case INSTRUCTION_POP:
        pop(c, in->reg);
        break;
    case INSTRUCTION_MOVE:
        c->reg[in->reg] = from;
        break;
    case INSTRUCTION_LEA:
        c->reg[in->reg] = on_stack ? (struct value){.kind = STACK, .word = address} : unknown;
        break;
    case INSTRUCTION_LOAD:
        c->reg[in->reg] = on_stack ? load(c, address) : unknown;
        break;
    case INSTRUCTION_STORE:
        return !on_stack || store(c, address, from);
    case INSTRUCTION_ADD:
    case INSTRUCTION_AND:
        add(c, in);
        break;
    case INSTRUCTION_LEAVE:
        c->reg[ARCH_SP] = c->reg[RBP];
        pop(c, RBP);
        break;
    case INSTRUCTION_JUMP:
    case INSTRUCTION_JUMP_SLOT:
        return follow_jump(c, in);
    case INSTRUCTION_RETURN:
    case INSTRUCTION_BRANCH:
    case INSTRUCTION_CALL:
    case INSTRUCTION_END:
        return false;
    }
    return true;
}

/* False: it leads elsewhere, or nobody knows where. */
static bool step(struct course *c) {
    struct instruction in;
    uint8_t code[INSTRUCTION_BYTES];
    if (!decode(c, &in, code))
        return false;
    c->pc += in.length;
    return execute(c, &in, code) && c->reg[ARCH_SP].kind == STACK;
}

static void begin(struct course *c, uint64_t pc, uint64_t sp) {
    c->pc = pc;
    c->n_stored = 0;
    for (unsigned i = 0; i < ARCH_REGS; i++)
        c->reg[i] = (struct value){.kind = PASSED, .word = i};
    c->reg[ARCH_SP] = (struct value){.kind = STACK, .word = sp};
}

/* From where a call leads to, whose return address is at `sp`, to the system call. */
static bool follow(struct course *c, uint64_t target, uint64_t sp) {
    uint64_t goal = c->site->pc - ARCH_SYSCALL_BYTES;
    begin(c, target, sp);
    for (unsigned i = 0; i < STEPS_MAX && c->pc != goal; i++)
        if (!step(c))
            return false;
    return c->pc == goal && c->reg[ARCH_SP].word == c->site->sp;
}

/* ---- the call of the function ---- */

/* The instruction that ends at `back`: its length; 0: it is no call that leads to a known place. */
static unsigned call_before(const struct syscall_site *site, uint64_t back, uint64_t *target) {
    uint8_t code[6];
    int32_t distance;
    if (back + NEAR - site->pc >= 2 * NEAR || !read_bytes(site, back - sizeof code, code, 6))
        return 0;
    memcpy(&distance, code + 2, sizeof distance);
    *target = back + (uint64_t)(int64_t)distance;
    if (code[1] == 0xe8)
        return 5;
    bool by_word = code[0] == 0xff && code[1] == 0x15 && (*target & 7) == 0;
    return by_word && site->read(site->arg, *target, target) ? 6 : 0;
}

/* An argument as a decoder finds it. */
struct argument {
    uint64_t behind;    /* the instruction that has set it; 0: none has */
    unsigned from;      /* the register from where, if it has that still; else INSTRUCTION_NONE */
    struct value value; /* a constant, or where it was loaded from; else unknown */
};

#define LOST_IN_CALL                                                                               \
    (1u << 0 | 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5 | 1u << 8 | 1u << 9 | 1u << 10 | 1u << 11)

static void lose(struct course *c, uint32_t registers) {
    for (unsigned i = 0; i < ARCH_REGS; i++)
        if (i != ARCH_SP && (registers & 1u << i) != 0)
            c->reg[i] = unknown;
}

/* The code goes on from elsewhere, or with another stack pointer: addresses count from there. */
static void begin_again(struct course *c, uint64_t sp) {
    lose(c, UINT32_MAX);
    c->n_stored = 0;
    c->reg[ARCH_SP] = (struct value){.kind = STACK, .word = sp};
}

/* In code that is decoded from its beginning to its end, wherever jumps lead. A call leaves `reg`
 * alone: else nobody would have set it before, and passed it on. */
static bool step_on(struct course *c, struct instruction *in, unsigned reg) {
    uint8_t code[INSTRUCTION_BYTES];
    if (!decode(c, in, code) || in->kind == INSTRUCTION_END)
        return false;
    c->pc += in->length;
    if (in->kind == INSTRUCTION_BRANCH)
        return true;
    bool ends = in->kind == INSTRUCTION_JUMP || in->kind == INSTRUCTION_JUMP_SLOT ||
                in->kind == INSTRUCTION_RETURN;
    uint64_t sp = c->reg[ARCH_SP].word;
    if (in->kind == INSTRUCTION_CALL)
        lose(c, LOST_IN_CALL & ~(1u << reg));
    else if (!ends && !execute(c, in, code))
        return false;
    if (ends || c->reg[ARCH_SP].kind != STACK)
        begin_again(c, sp);
    return true;
}

static bool sets(const struct instruction *in, unsigned reg) {
    if (in->kind == INSTRUCTION_CALL)
        return reg < ARCH_REGS && (LOST_IN_CALL & 1u << reg) != 0;
    bool by_name = in->kind == INSTRUCTION_POP || in->kind == INSTRUCTION_MOVE ||
                   in->kind == INSTRUCTION_LEA || in->kind == INSTRUCTION_LOAD ||
                   in->kind == INSTRUCTION_ADD || in->kind == INSTRUCTION_AND;
    return reg < ARCH_REGS && ((in->writes & 1u << reg) != 0 || (by_name && in->reg == reg));
}

/* Register `reg` at the call, where the stack pointer is `sp`, by a decoder that begins at `start`.
 * False: none that reaches the call, or it is not set. */
static bool decode_argument(const struct syscall_site *site, uint64_t start, uint64_t call,
                            uint64_t sp, unsigned reg, struct argument *argument) {
    struct course c = {.site = site};
    struct instruction in;
    begin(&c, start, sp);
    argument->behind = 0;
    argument->from = INSTRUCTION_NONE;
    argument->value = unknown;
    while (c.pc < call) {
        if (!step_on(&c, &in, reg))
            return false;
        if (in.kind != INSTRUCTION_CALL && sets(&in, reg)) {
            argument->behind = c.pc;
            argument->from = in.kind == INSTRUCTION_MOVE ? in.from : INSTRUCTION_NONE;
        } else if (sets(&in, argument->from)) {
            argument->from = INSTRUCTION_NONE;
        }
    }
    if (c.reg[reg].kind == CONSTANT || c.reg[reg].kind == LOADED)
        argument->value = c.reg[reg];
    if (c.reg[reg].kind == LOADED) /* what was pushed meanwhile is known now */
        argument->value.word += sp - c.reg[ARCH_SP].word;
    return c.pc == call && argument->behind != 0;
}

static bool is_same(const struct argument *one, const struct argument *other) {
    return one->behind == other->behind && one->from == other->from &&
           one->value.kind == other->value.kind && one->value.word == other->value.word;
}

/* Whether a jump leads to behind `from`, up to `call`, in the code from `start` on, as far as JUMPS
 * bytes behind the call. *reaches: the decoder comes to the call; else false says nothing. */
static bool jumps_into(const struct syscall_site *site, uint64_t start, uint64_t from,
                       uint64_t call, bool *reaches) {
    struct instruction in;
    uint8_t code[INSTRUCTION_BYTES];
    *reaches = false;
    for (uint64_t pc = start; pc < call + JUMPS; pc += in.length) {
        *reaches |= pc == call;
        if ((pc > call && !*reaches) || !read_bytes(site, pc, code, sizeof code))
            return false;
        instruction_decode(code, pc, &in);
        bool jumps = in.kind == INSTRUCTION_JUMP || in.kind == INSTRUCTION_BRANCH;
        if (jumps && in.target >= from && in.target <= call)
            return true;
    }
    return false;
}

/* The same from whichever start leads to the call; true if there is none. */
static bool is_jumped_into(const struct syscall_site *site, uint64_t from, uint64_t call) {
    bool reaches = false;
    for (unsigned i = 0; i < STARTS && !reaches; i++)
        if (jumps_into(site, call - JUMPS + i, from, call, &reaches))
            return true;
    return !reaches;
}

static bool find_argument(const struct syscall_site *site, uint64_t call, uint64_t sp, unsigned reg,
                          struct argument *found) {
    struct argument argument;
    *found = (struct argument){.from = INSTRUCTION_NONE, .value = unknown};
    for (unsigned i = 0; i < STARTS; i++) {
        if (!decode_argument(site, call - BEFORE + i, call, sp, reg, &argument))
            continue;
        if (found->behind == 0)
            *found = argument;
        else if (!is_same(found, &argument))
            return false;
    }
    return found->behind != 0 && !is_jumped_into(site, found->behind, call);
}

static bool is_kept_by_kernel(unsigned reg) {
    return reg != RAX && reg != RCX && reg != R11 && reg != ARCH_SP;
}

/* The value of a register at the beginning of the function, where it still stands. */
static bool number_kept(const struct course *c, unsigned reg, long *number) {
    const struct syscall_site *site = c->site;
    for (unsigned i = 0; i < ARCH_REGS; i++)
        if (is_kept_by_kernel(i) && c->reg[i].kind == PASSED && c->reg[i].word == reg) {
            *number = (long)(uint32_t)site->held(site->arg, i);
            return true;
        }
    for (unsigned i = 0; i < c->n_stored; i++)
        if (c->stored[i].value.kind == PASSED && c->stored[i].value.word == reg) {
            *number = read_number(site, c->stored[i].address);
            return true;
        }
    return false;
}

/* The same, or as it was given. `sp`: of the caller. */
static long number_passed(const struct course *c, unsigned reg, uint64_t call, uint64_t sp) {
    struct argument argument;
    long number = -1;
    if (number_kept(c, reg, &number) || !find_argument(c->site, call, sp, reg, &argument))
        return number;
    if (argument.value.kind == CONSTANT)
        return (long)(uint32_t)argument.value.word;
    if (argument.from < ARCH_REGS && number_kept(c, argument.from, &number))
        return number;
    return argument.value.kind == LOADED ? read_number(c->site, argument.value.word) : -1;
}

static long number_of(const struct course *c, uint64_t call, uint64_t sp) {
    const struct value *number = &c->reg[RAX];
    switch (number->kind) {
    case CONSTANT:
        return (long)(uint32_t)number->word;
    case LOADED:
        return read_number(c->site, number->word);
    case PASSED:
        return number_passed(c, (unsigned)number->word, call, sp);
    case UNKNOWN:
    case STACK:
        break;
    }
    return -1;
}

long syscall_passed(const struct syscall_site *site) {
    struct course c = {.site = site};
    uint64_t back, target;
    for (unsigned i = 0; i < WORDS_MAX; i++) {
        uint64_t sp = site->sp + 8ull * i;
        if (!site->read(site->arg, sp, &back))
            break;
        unsigned length = call_before(site, back, &target);
        if (length != 0 && follow(&c, target, sp))
            return number_of(&c, back - length, sp + 8);
    }
    return -1;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * instruction_aarch64.c - by the encoding groups of the architecture manual (C4.1): branches, loads
 * and stores, arithmetic on addresses; all others matter by the register that they write.
 *
 * A signed return address is as good as the plain one, since who reads it takes the signature off:
 * so instructions that sign and authenticate change nothing.
 */
#include "preload/sample/instruction.h"

#include <string.h>

#define ZERO 31u /* as a register of data: none */

#define BITS(word, high, low) ((word) >> (low) & ((1u << ((high) - (low) + 1)) - 1))

static int64_t sign_extended(uint32_t value, unsigned bits) {
    return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

static uint32_t written(uint32_t reg) {
    return reg == ZERO ? 0 : 1u << reg;
}

static uint8_t data(uint32_t reg) {
    return reg == ZERO ? INSTRUCTION_NONE : (uint8_t)reg;
}

/* ---- branches, exceptions, system ---- */

static void jump(struct instruction *in, enum instruction_kind kind, uint64_t pc, uint32_t offset,
                 unsigned bits) {
    in->kind = (uint8_t)kind;
    in->target = pc + (uint64_t)(sign_extended(offset, bits) * 4);
}

/* A jump by one of the registers that linkers' stubs use (IP0, IP1) is a tail jump. */
static void jump_by_register(uint32_t word, struct instruction *in) {
    uint32_t what = BITS(word, 24, 21), reg = BITS(word, 9, 5);
    in->kind = INSTRUCTION_END;
    if ((what & 7) == 1)
        in->kind = INSTRUCTION_CALL;
    else if (what == 0 && (reg == 16 || reg == 17))
        in->kind = INSTRUCTION_RETURN;
    else if (what == 2 && (reg == ARCH_LINK || BITS(word, 11, 11) != 0))
        in->kind = INSTRUCTION_RETURN;
}

static void branch(uint32_t word, uint64_t pc, struct instruction *in) {
    if (BITS(word, 30, 26) == 5) {
        jump(in, BITS(word, 31, 31) ? INSTRUCTION_CALL : INSTRUCTION_JUMP, pc, BITS(word, 25, 0),
             26);
    } else if (BITS(word, 30, 25) == 0x1a) { /* compare and branch */
        jump(in, INSTRUCTION_BRANCH, pc, BITS(word, 23, 5), 19);
    } else if (BITS(word, 30, 25) == 0x1b) { /* test and branch */
        jump(in, INSTRUCTION_BRANCH, pc, BITS(word, 18, 5), 14);
    } else if (BITS(word, 31, 24) == 0x54) {
        bool always = BITS(word, 3, 1) == 7;
        jump(in, always ? INSTRUCTION_JUMP : INSTRUCTION_BRANCH, pc, BITS(word, 23, 5), 19);
    } else if (BITS(word, 31, 25) == 0x6b) {
        jump_by_register(word, in);
    } else if (BITS(word, 31, 22) == 0x354) { /* system: hints, barriers, registers */
        in->writes = BITS(word, 21, 21) != 0 ? written(BITS(word, 4, 0)) : 0;
    } else if (BITS(word, 31, 21) == 0x6a0 && BITS(word, 4, 0) == 1) {
        in->writes = 1u << ARCH_RESULT; /* a system call */
    } else {
        in->kind = INSTRUCTION_END;
    }
}

/* ---- loads and stores ---- */

/* How the address register is used. */
enum index { INDEX_OFFSET, INDEX_POST, INDEX_PRE };

static void operand(struct instruction *in, uint32_t word, enum index index, int64_t offset) {
    in->base = (uint8_t)BITS(word, 9, 5);
    in->displacement = index == INDEX_POST ? 0 : offset;
    in->step = index == INDEX_OFFSET ? 0 : offset;
}

/* Of whole general registers: values that are followed. */
static void transfer(struct instruction *in, bool load, uint32_t first, uint32_t second) {
    in->kind = load ? INSTRUCTION_LOAD : INSTRUCTION_STORE;
    in->reg = in->from = data(first);
    in->pair = data(second);
    in->is_pair = true;
}

static void pair(uint32_t word, struct instruction *in) {
    static const uint8_t indexes[] = {INDEX_OFFSET, INDEX_POST, INDEX_OFFSET, INDEX_PRE};
    uint32_t size = BITS(word, 31, 30), first = BITS(word, 4, 0), second = BITS(word, 14, 10);
    bool vector = BITS(word, 26, 26) != 0, load = BITS(word, 22, 22) != 0;
    unsigned bytes = vector ? 4u << size : size == 2 ? 8 : size == 1 && !load ? 16 : 4;
    operand(in, word, indexes[BITS(word, 24, 23)], sign_extended(BITS(word, 21, 15), 7) * bytes);
    if (!vector && size == 2)
        transfer(in, load, first, second);
    else if (!load)
        in->kind = INSTRUCTION_STORE; /* of something else */
    else if (!vector)
        in->writes = written(first) | written(second);
}

static void single(uint32_t word, struct instruction *in) {
    static const uint8_t indexes[] = {INDEX_OFFSET, INDEX_POST, INDEX_OFFSET, INDEX_PRE};
    uint32_t size = BITS(word, 31, 30), what = BITS(word, 23, 22), reg = BITS(word, 4, 0);
    bool vector = BITS(word, 26, 26) != 0, load = vector ? (what & 1) != 0 : what != 0;
    bool atomic = BITS(word, 24, 24) == 0 && BITS(word, 21, 21) != 0 && BITS(word, 11, 10) == 0;
    bool prefetch = !vector && size == 3 && what == 2 && !atomic, known = true;
    unsigned shift = vector && what >= 2 ? 4 : size;
    if (BITS(word, 24, 24) != 0) {
        operand(in, word, INDEX_OFFSET, (int64_t)BITS(word, 21, 10) << shift);
    } else if (BITS(word, 21, 21) == 0) {
        operand(in, word, indexes[BITS(word, 11, 10)], sign_extended(BITS(word, 20, 12), 9));
    } else { /* by an index register; atomic; authenticated, which may write its base */
        known = false;
        in->writes = BITS(word, 10, 10) != 0 ? written(BITS(word, 9, 5)) : 0;
        load = load || atomic;
    }
    if (known && !vector && size == 3 && what <= 1) {
        transfer(in, load, reg, ZERO);
        in->is_pair = false;
    } else if (known && !load && !prefetch) {
        in->kind = INSTRUCTION_STORE;
    } else if (load && !vector && !prefetch) {
        in->writes |= written(reg);
    }
}

static void load_or_store(uint32_t word, struct instruction *in) {
    uint32_t group = BITS(word, 29, 27);
    bool vector = BITS(word, 26, 26) != 0;
    if (group == 5)
        pair(word, in);
    else if (group == 7)
        single(word, in);
    else if (group == 3 && BITS(word, 24, 24) == 0) /* at a distance from the pc */
        in->writes = vector ? 0 : written(BITS(word, 4, 0));
    else if (vector) /* whole structures */
        in->writes = BITS(word, 23, 23) != 0 ? 1u << BITS(word, 9, 5) : 0;
    else /* exclusive, ordered, tags, copies */
        in->writes = written(BITS(word, 4, 0)) | written(BITS(word, 14, 10)) |
                     written(BITS(word, 20, 16)) | (group == 3 ? 1u << BITS(word, 9, 5) : 0);
}

/* ---- data ---- */

/* Of 64 bits: ones in a row, turned to the right. */
static uint64_t mask_of(uint32_t word) {
    unsigned ones = BITS(word, 15, 10) + 1, turn = BITS(word, 21, 16);
    uint64_t mask = ones < 64 ? (1ull << ones) - 1 : ~0ull;
    return turn == 0 ? mask : mask >> turn | mask << (64 - turn);
}

static void by_immediate(uint32_t word, uint64_t pc, struct instruction *in) {
    uint32_t group = BITS(word, 25, 23), to = BITS(word, 4, 0);
    bool flags = BITS(word, 29, 29) != 0, wide = BITS(word, 31, 31) != 0;
    if (group <= 1) { /* adr, adrp */
        int64_t offset = sign_extended(BITS(word, 23, 5) << 2 | BITS(word, 30, 29), 21);
        in->kind = to == ZERO ? INSTRUCTION_OTHER : INSTRUCTION_LEA;
        in->reg = (uint8_t)to;
        in->displacement = wide ? (int64_t)(pc & ~0xfffull) + offset * 4096 : (int64_t)pc + offset;
    } else if (group == 2 && wide && !flags) { /* here 31 is the stack pointer */
        int64_t value = (int64_t)BITS(word, 21, 10) << (BITS(word, 22, 22) != 0 ? 12 : 0);
        in->kind = INSTRUCTION_LEA;
        in->reg = (uint8_t)to;
        in->base = (uint8_t)BITS(word, 9, 5);
        in->displacement = BITS(word, 30, 30) != 0 ? -value : value;
    } else if (BITS(word, 31, 22) == 0x249 && BITS(word, 9, 5) != ZERO) { /* and */
        in->kind = INSTRUCTION_AND;
        in->reg = (uint8_t)to;
        in->from = (uint8_t)BITS(word, 9, 5);
        in->value = (int64_t)mask_of(word);
    } else {
        bool logical = group == 4 && BITS(word, 30, 29) != 3;
        bool of_stack = (group <= 3 && !flags) || logical;
        in->writes = of_stack ? 1u << to : written(to);
    }
}

static void by_register(uint32_t word, struct instruction *in) {
    uint32_t to = BITS(word, 4, 0), first = BITS(word, 9, 5), second = BITS(word, 20, 16);
    bool extended = BITS(word, 28, 24) == 0x0b && BITS(word, 21, 21) != 0;
    in->writes = written(to);
    if (BITS(word, 31, 21) == 0x550 && BITS(word, 15, 10) == 0 && first == ZERO && second != ZERO &&
        to != ZERO) { /* mov */
        in->kind = INSTRUCTION_MOVE;
        in->reg = (uint8_t)to;
        in->from = (uint8_t)second;
    } else if (extended && BITS(word, 29, 29) == 0) {
        in->writes = 1u << to;
    } else if (BITS(word, 31, 16) == 0xdac1) {
        in->writes = 0; /* signs or authenticates */
    }
}

/* Vector instructions write a general register where they compare nothing and move to one. */
static void vector(uint32_t word, struct instruction *in) {
    bool scalar = BITS(word, 28, 24) == 0x1e && BITS(word, 21, 21) != 0 && BITS(word, 15, 10) == 0;
    bool element = BITS(word, 31, 31) == 0 && BITS(word, 29, 21) == 0x070 &&
                   (BITS(word, 15, 10) == 0x0b || BITS(word, 15, 10) == 0x0f);
    bool fixed = BITS(word, 30, 24) == 0x1e && BITS(word, 21, 21) == 0;
    if (scalar || element || fixed)
        in->writes = written(BITS(word, 4, 0));
}

/* SVE counts elements in general registers, and moves to them; addvl moves the stack pointer. */
static void scalable(uint32_t word, struct instruction *in) {
    bool of_stack = BITS(word, 31, 24) == 0x04 && BITS(word, 15, 11) == 0x0a;
    in->writes = of_stack ? 1u << BITS(word, 4, 0) : written(BITS(word, 4, 0));
}

void instruction_decode(const uint8_t *code, uint64_t pc, struct instruction *in) {
    uint32_t word;
    memcpy(&word, code, sizeof word);
    *in = (struct instruction){.reg = INSTRUCTION_NONE,
                               .from = INSTRUCTION_NONE,
                               .pair = INSTRUCTION_NONE,
                               .base = INSTRUCTION_NONE,
                               .index = INSTRUCTION_NONE,
                               .length = 4};
    uint32_t group = BITS(word, 28, 25);
    if ((group & 0xe) == 0x8)
        by_immediate(word, pc, in);
    else if ((group & 0xe) == 0xa)
        branch(word, pc, in);
    else if ((group & 0x5) == 0x4)
        load_or_store(word, in);
    else if ((group & 0x7) == 0x5)
        by_register(word, in);
    else if ((group & 0x7) == 0x7)
        vector(word, in);
    else if (group == 0x2)
        scalable(word, in);
    else
        in->kind = INSTRUCTION_END;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * instruction.h - how long an instruction is, where it leads, and what it does to the registers
 * that a caller may want back. One file for each architecture.
 *
 * What is not known in full is given as a set of registers that lose their values. Pure.
 */
#ifndef HCCT_INSTRUCTION_H
#define HCCT_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/arch.h"

#define INSTRUCTION_BYTES 16u   /* that are read */
#define INSTRUCTION_NONE  0xffu /* no register */

enum instruction_kind {
    INSTRUCTION_OTHER,     /* goes on; registers in `writes` are not known any more */
    INSTRUCTION_PUSH,      /* of `reg`, or of something else (INSTRUCTION_NONE) */
    INSTRUCTION_POP,       /* into `reg`, or elsewhere */
    INSTRUCTION_MOVE,      /* reg = from */
    INSTRUCTION_LEA,       /* reg = address of the memory operand */
    INSTRUCTION_LOAD,      /* reg = the word at the memory operand */
    INSTRUCTION_STORE,     /* the word at the memory operand = from, or something else */
    INSTRUCTION_ADD,       /* reg += value */
    INSTRUCTION_AND,       /* reg = from & value; `from` may be none: reg itself */
    INSTRUCTION_LEAVE,     /* mov rbp to rsp, pop rbp */
    INSTRUCTION_RETURN,    /* and `value` bytes of arguments are popped; or a jump at the end of all
                            * that the code does, to where the link register leads back from */
    INSTRUCTION_JUMP,      /* to `target` */
    INSTRUCTION_JUMP_SLOT, /* to where the word at `target` says */
    INSTRUCTION_BRANCH,    /* to `target`, or on */
    INSTRUCTION_CALL,      /* goes on when it returns; target 0: not known */
    INSTRUCTION_END,       /* where it goes is not known, or it is no instruction */
};

struct instruction {
    uint8_t kind, length;
    uint8_t reg, from;           /* DWARF numbers */
    uint8_t pair;                /* loaded from, or stored to, the word above; */
    bool is_pair;                /* if there is one */
    uint8_t base, index, scale;  /* of the memory operand, index << scale */
    int64_t step;                /* added to the base in the end */
    uint32_t writes;             /* bit n: register n gets a value that is not given here */
    int64_t displacement, value; /* without base and index the displacement is the address */
    uint64_t target;
};

/* The instruction at `pc`, whose first INSTRUCTION_BYTES bytes are `code`. */
void instruction_decode(const uint8_t *code, uint64_t pc, struct instruction *in);

#endif

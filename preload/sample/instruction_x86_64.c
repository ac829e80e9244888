/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * instruction_x86_64.c - prefixes, opcode map, ModRM, immediate; then what the opcode means for
 * general registers. Vector instructions matter by their length, and where they write a general
 * register.
 */
#include "preload/sample/instruction.h"

#include <string.h>

/* By the processor's numbers. */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R11 = 11 };
static const uint8_t dwarf_of[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

#define BIT(r) (1u << dwarf_of[(r)&15])

/* Where opcodes are looked up. */
enum map { MAP_ONE, MAP_0F, MAP_38, MAP_3A };

struct decoder {
    const uint8_t *code;
    uint64_t pc;
    struct instruction *in;
    uint8_t at;
    bool operand16, address32, repeat, repne; /* prefixes 66, 67, F3, F2 */
    bool rex;        /* there is one: byte registers are all of the low kind */
    bool wide;       /* REX.W */
    uint8_t r, x, b; /* extensions of reg, index and base: 0 or 8 */
    bool vector;     /* VEX or EVEX */
    bool evex;
    uint8_t vvvv;
    enum map map;
    uint8_t opcode;
    bool has_modrm, is_register; /* the operand rm is a register */
    uint8_t reg, rm;             /* the processor's numbers */
};

static int64_t take(struct decoder *d, unsigned bytes) {
    int64_t value = 0;
    if (d->at + bytes > INSTRUCTION_BYTES) { /* longer than any instruction is */
        d->at = INSTRUCTION_BYTES + 1;
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        value |= (int64_t)((uint64_t)d->code[d->at++] << (8 * i));
    unsigned unused = 64 - 8 * bytes;
    return bytes == 0 || bytes == 8 ? value : (int64_t)((uint64_t)value << unused) >> unused;
}

/* ---- prefixes ---- */

static void take_vex(struct decoder *d, uint8_t first) {
    uint8_t p0 = (uint8_t)take(d, 1), p1 = p0;
    d->vector = true;
    d->r = p0 & 0x80 ? 0 : 8;
    d->map = MAP_0F;
    if (first != 0xc5) {
        p1 = (uint8_t)take(d, 1);
        d->x = p0 & 0x40 ? 0 : 8;
        d->b = p0 & 0x20 ? 0 : 8;
        d->wide = (p1 & 0x80) != 0;
        uint8_t map = first == 0x62 ? p0 & 7 : p0 & 31;
        d->map = map == 2 || map == 6 ? MAP_38 : map == 3 ? MAP_3A : MAP_0F;
    }
    d->vvvv = (uint8_t)(~p1 >> 3 & 15);
    d->operand16 = (p1 & 3) == 1;
    d->repeat = (p1 & 3) == 2;
    d->repne = (p1 & 3) == 3;
    if (first == 0x62) {
        d->evex = true;
        take(d, 1);
    }
    d->opcode = (uint8_t)take(d, 1);
}

static bool is_legacy_prefix(uint8_t byte) {
    return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0xf0 ||
           byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 ||
           byte == 0x65;
}

static void take_opcode(struct decoder *d) {
    uint8_t byte = (uint8_t)take(d, 1);
    for (; is_legacy_prefix(byte) && d->at < INSTRUCTION_BYTES; byte = (uint8_t)take(d, 1)) {
        d->operand16 |= byte == 0x66;
        d->address32 |= byte == 0x67;
        d->repeat |= byte == 0xf3;
        d->repne |= byte == 0xf2;
    }
    if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
        take_vex(d, byte);
        return;
    }
    if ((byte & 0xf0) == 0x40) {
        d->rex = true;
        d->wide = (byte & 8) != 0;
        d->r = (byte & 4) != 0 ? 8 : 0;
        d->x = (byte & 2) != 0 ? 8 : 0;
        d->b = (byte & 1) != 0 ? 8 : 0;
        byte = (uint8_t)take(d, 1);
    }
    if (byte == 0x0f) {
        d->map = MAP_0F;
        byte = (uint8_t)take(d, 1);
        if (byte == 0x38 || byte == 0x3a) {
            d->map = byte == 0x38 ? MAP_38 : MAP_3A;
            byte = (uint8_t)take(d, 1);
        }
    }
    d->opcode = byte;
}

/* ---- operands ---- */

static bool has_modrm_one(uint8_t op) {
    if (op < 0x40)
        return (op & 7) < 4;
    return op == 0x63 || op == 0x69 || op == 0x6b || (op >= 0x80 && op <= 0x8f) || op == 0xc0 ||
           op == 0xc1 || op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3) ||
           (op >= 0xd8 && op <= 0xdf) || op == 0xf6 || op == 0xf7 || op == 0xfe || op == 0xff;
}

static bool has_modrm_0f(uint8_t op) {
    return !(op == 0x05 || op == 0x0b || (op >= 0x30 && op <= 0x37) || op == 0x77 ||
             (op >= 0x80 && op <= 0x8f) || (op >= 0xa0 && op <= 0xa2) ||
             (op >= 0xa8 && op <= 0xaa) || (op >= 0xc8 && op <= 0xcf) || op == 0x06 || op == 0x08 ||
             op == 0x09 || op == 0x0e);
}

static bool needs_modrm(const struct decoder *d) {
    if (d->evex)
        return true;
    return d->map == MAP_ONE  ? has_modrm_one(d->opcode)
           : d->map == MAP_0F ? has_modrm_0f(d->opcode)
                              : true;
}

static unsigned immediate_one(const struct decoder *d) {
    uint8_t op = d->opcode;
    unsigned word = d->operand16 && !d->wide ? 2 : 4;
    if (op < 0x40)
        return (op & 7) == 4 ? 1 : (op & 7) == 5 ? word : 0;
    if (op == 0x68 || op == 0x69 || op == 0x81 || op == 0xa9 || op == 0xc7)
        return word;
    if (op >= 0xb8 && op <= 0xbf)
        return d->wide ? 8 : word;
    if (op == 0xe8 || op == 0xe9)
        return 4;
    if (op >= 0xa0 && op <= 0xa3)
        return 8;
    if (op == 0xc2)
        return 2;
    if (op == 0xf6 || op == 0xf7)
        return (d->reg & 7) > 1 ? 0 : op == 0xf6 ? 1 : word;
    return op == 0x6a || op == 0x6b || (op >= 0x70 && op <= 0x80) || op == 0x83 || op == 0xa8 ||
                   (op >= 0xb0 && op <= 0xb7) || op == 0xc0 || op == 0xc1 || op == 0xc6 ||
                   op == 0xcd || (op >= 0xe0 && op <= 0xe7) || op == 0xeb
               ? 1
               : 0;
}

static unsigned immediate(const struct decoder *d) {
    uint8_t op = d->opcode;
    if (d->map == MAP_ONE)
        return immediate_one(d);
    if (d->map == MAP_38)
        return 0;
    if (d->map == MAP_3A)
        return 1;
    if (op >= 0x80 && op <= 0x8f && !d->vector)
        return 4;
    return (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba || op == 0xc2 ||
                   (op >= 0xc4 && op <= 0xc6)
               ? 1
               : 0;
}

/* The registers of a memory operand; where it goes by the pc, base is INSTRUCTION_NONE and the
 * displacement counts from the next instruction: true. */
static bool take_memory(struct decoder *d, uint8_t mod) {
    struct instruction *in = d->in;
    uint8_t base = d->rm & 7;
    if (base == 4) {
        uint8_t sib = (uint8_t)take(d, 1), index = (uint8_t)((sib >> 3 & 7) | d->x);
        base = sib & 7;
        in->scale = sib >> 6;
        in->index = index == 4 ? INSTRUCTION_NONE : dwarf_of[index];
    } else if (base == 5 && mod == 0) {
        in->displacement = take(d, 4);
        return true;
    }
    if (base == 5 && mod == 0) {
        in->displacement = take(d, 4);
        return false;
    }
    in->base = dwarf_of[base | d->b];
    in->displacement = take(d, mod == 1 ? 1 : mod == 2 ? 4 : 0);
    return false;
}

/* ---- what registers are written ---- */

/* A byte register's number may mean the second byte of one of the first four. */
static uint32_t byte_bit(const struct decoder *d, uint8_t number) {
    return !d->rex && number >= 4 && number < 8 ? BIT(number - 4) : BIT(number);
}

static uint32_t rm_bit(const struct decoder *d, bool byte) {
    if (!d->is_register)
        return 0;
    return byte ? byte_bit(d, d->rm) : BIT(d->rm);
}

static uint32_t writes_one(const struct decoder *d) {
    uint8_t op = d->opcode, what = d->reg & 7;
    bool byte = (op & 1) == 0;
    uint32_t rm = rm_bit(d, byte), reg = byte ? byte_bit(d, d->reg) : BIT(d->reg);
    if (op < 0x38)
        return (op & 7) >= 4 ? BIT(RAX) : (op & 2) != 0 ? reg : rm;
    if (op < 0x40 || op == 0x84 || op == 0x85 || op == 0x8e)
        return 0; /* compare, test */
    if (op == 0x63 || op == 0x69 || op == 0x6b)
        return BIT(d->reg);
    if (op >= 0x80 && op <= 0x83)
        return what == 7 ? 0 : rm;
    if (op == 0x86 || op == 0x87)
        return rm | reg;
    if (op == 0x88 || op == 0x89 || op == 0x8c)
        return op == 0x8c ? rm_bit(d, false) : rm;
    if (op == 0x8a || op == 0x8b || op == 0x8d)
        return op == 0x8d ? BIT(d->reg) : reg;
    if (op > 0x90 && op <= 0x97)
        return BIT(RAX) | BIT((op & 7) | d->b);
    if (op == 0x98 || op == 0x99 || op == 0x9f || op == 0xd7 || (op >= 0xa0 && op <= 0xa1) ||
        (op >= 0xd8 && op <= 0xdf) || (op >= 0xe4 && op <= 0xe7))
        return BIT(RAX) | (op == 0x99 ? BIT(RDX) : 0);
    if ((op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf))
        return BIT(RAX) | BIT(RCX) | BIT(RSI) | BIT(RDI);
    if (op >= 0xb0 && op <= 0xb7)
        return byte_bit(d, (op & 7) | d->b);
    if (op >= 0xb8 && op <= 0xbf)
        return BIT((op & 7) | d->b);
    if (op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3))
        return rm;
    if (op >= 0xe0 && op <= 0xe3)
        return BIT(RCX);
    if (op == 0xf6 || op == 0xf7)
        return what < 2 ? 0 : what < 4 ? rm : BIT(RAX) | BIT(RDX);
    return (op == 0xfe || op == 0xff) && what < 2 ? rm : 0;
}

static uint32_t writes_0f(const struct decoder *d) {
    uint8_t op = d->opcode;
    uint32_t rm = rm_bit(d, false), reg = BIT(d->reg);
    if (op == 0x2c || op == 0x2d || op == 0x50 || op == 0xc5 || op == 0xd7)
        return reg;
    if (op == 0x7e)
        return d->repeat ? 0 : rm;
    if (d->vector) /* from a mask register, and to an unsigned number */
        return (!d->evex && op == 0x93) || (d->evex && (op == 0x78 || op == 0x79)) ? reg : 0;
    if (op == 0x02 || op == 0x03 || (op >= 0x40 && op <= 0x4f) || op == 0xaf || op == 0xb6 ||
        op == 0xb7 || op == 0xb8 || (op >= 0xbc && op <= 0xbf))
        return reg;
    if (op >= 0x90 && op <= 0x9f)
        return rm_bit(d, true);
    if (op == 0xa4 || op == 0xa5 || op == 0xab || op == 0xac || op == 0xad || op == 0xb3 ||
        op == 0xba || op == 0xbb)
        return rm;
    if (op == 0xb0 || op == 0xb1 || op == 0xc0 || op == 0xc1)
        return rm_bit(d, (op & 1) == 0) | BIT(RAX) | ((op & 0x40) != 0 ? BIT(d->reg) : 0);
    if (op >= 0xc8 && op <= 0xcf)
        return BIT((op & 7) | d->b);
    if (op == 0x01 || op == 0x31 || op == 0xa2 || op == 0x05 || op == 0xc7 || op == 0xae ||
        (op >= 0x30 && op <= 0x33))
        return rm | BIT(RAX) | BIT(RBX) | BIT(RCX) | BIT(RDX) | BIT(R11);
    return op == 0x1e && d->repeat && d->code[d->at - 1] < 0xf0 ? rm : 0; /* rdssp */
}

static uint32_t writes_far(const struct decoder *d) {
    uint8_t op = d->opcode;
    if (d->map == MAP_3A) {
        if (op >= 0x14 && op <= 0x17)
            return rm_bit(d, false);
        return op >= 0x60 && op <= 0x63 ? BIT(RCX) : op == 0xf0 ? BIT(d->reg) : 0;
    }
    if (op < 0xf0 || d->evex)
        return 0;
    if (!d->vector) /* movbe, crc32, adcx, adox */
        return BIT(d->reg);
    return op == 0xf3 ? BIT(d->vvvv) : BIT(d->reg) | (op == 0xf6 ? BIT(d->vvvv) : 0);
}

/* Instructions that store a general register, or change a word that may be one's. */
static bool stores(const struct decoder *d) {
    uint8_t op = d->opcode;
    if (d->is_register || d->vector || d->map != MAP_ONE)
        return false;
    return (op < 0x38 && (op & 7) < 2) || (op >= 0x80 && op <= 0x83 && (d->reg & 7) != 7) ||
           (op >= 0x86 && op <= 0x89) || op == 0xc6 || op == 0xc7;
}

/* ---- kinds ---- */

static void jump(struct decoder *d, enum instruction_kind kind) {
    d->in->kind = (uint8_t)kind;
    d->in->target = d->pc + d->at + (uint64_t)d->in->value;
}

static void group_five(struct decoder *d, bool by_pc) {
    struct instruction *in = d->in;
    switch (d->reg & 7) {
    case 2:
        in->kind = INSTRUCTION_CALL;
        break;
    case 4:
        in->kind = by_pc ? INSTRUCTION_JUMP_SLOT : INSTRUCTION_END;
        in->target = (uint64_t)in->displacement;
        break;
    case 3:
    case 5:
    case 7:
        in->kind = INSTRUCTION_END;
        break;
    case 6:
        in->kind = INSTRUCTION_PUSH;
        in->reg = d->is_register ? dwarf_of[d->rm] : INSTRUCTION_NONE;
        break;
    default:;
    }
}

/* Additions to a register, and masks of one. */
static void group_one(struct decoder *d) {
    struct instruction *in = d->in;
    uint8_t what = d->reg & 7;
    if (!d->wide || !d->is_register || d->opcode == 0x80 || (what != 0 && what != 4 && what != 5))
        return;
    in->kind = what == 4 ? INSTRUCTION_AND : INSTRUCTION_ADD;
    in->reg = dwarf_of[d->rm];
    if (what == 5)
        in->value = -in->value;
}

static void move(struct decoder *d, bool to_rm) {
    struct instruction *in = d->in;
    uint8_t reg = dwarf_of[d->reg], rm = dwarf_of[d->rm];
    if (!d->wide)
        return;
    in->kind = d->is_register ? INSTRUCTION_MOVE : to_rm ? INSTRUCTION_STORE : INSTRUCTION_LOAD;
    in->reg = to_rm ? rm : reg;
    in->from = to_rm ? reg : rm;
}

static void classify_one(struct decoder *d, bool by_pc) {
    struct instruction *in = d->in;
    uint8_t op = d->opcode;
    if (op < 0x40 && (op & 7) > 5)
        in->kind = INSTRUCTION_END;
    else if (op >= 0x50 && op <= 0x5f) {
        in->kind = op < 0x58 ? INSTRUCTION_PUSH : INSTRUCTION_POP;
        in->reg = dwarf_of[(op & 7) | d->b];
        if (d->operand16)
            in->kind = INSTRUCTION_END;
    } else if (op == 0x68 || op == 0x6a || op == 0x9c)
        in->kind = INSTRUCTION_PUSH;
    else if (op == 0x9d)
        in->kind = INSTRUCTION_POP;
    else if ((op >= 0x70 && op <= 0x7f) || (op >= 0xe0 && op <= 0xe3))
        jump(d, INSTRUCTION_BRANCH);
    else if (op == 0x81 || op == 0x83)
        group_one(d);
    else if (op == 0x89 || op == 0x8b)
        move(d, op == 0x89);
    else if (op == 0x8d && d->wide && !d->is_register) {
        in->kind = INSTRUCTION_LEA;
        in->reg = dwarf_of[d->reg];
    } else if (op == 0x8f) {
        in->kind = (d->reg & 7) == 0 ? INSTRUCTION_POP : INSTRUCTION_END;
        in->reg = d->is_register ? dwarf_of[d->rm] : INSTRUCTION_NONE;
    } else if (op == 0xc2 || op == 0xc3)
        in->kind = INSTRUCTION_RETURN;
    else if (op == 0xc9)
        in->kind = INSTRUCTION_LEAVE;
    else if (op == 0xe8)
        jump(d, INSTRUCTION_CALL);
    else if (op == 0xe9 || op == 0xeb)
        jump(d, INSTRUCTION_JUMP);
    else if (op == 0xff)
        group_five(d, by_pc);
    else if (op == 0xc8 || (op >= 0xca && op <= 0xcf) || op == 0xf4 || op == 0xf1 ||
             (op >= 0x60 && op <= 0x62) || op == 0x82 || op == 0x9a || op == 0xea)
        in->kind = INSTRUCTION_END;
}

static void classify(struct decoder *d, bool by_pc) {
    struct instruction *in = d->in;
    uint8_t op = d->opcode;
    if (by_pc) { /* an address by now */
        in->displacement += (int64_t)(d->pc + d->at);
        in->base = INSTRUCTION_NONE;
    }
    if (d->map == MAP_ONE) {
        in->writes = writes_one(d);
        if (stores(d))
            in->kind = INSTRUCTION_STORE;
        classify_one(d, by_pc);
    } else if (d->map == MAP_0F) {
        in->writes = writes_0f(d);
        if (!d->vector && op >= 0x80 && op <= 0x8f)
            jump(d, INSTRUCTION_BRANCH);
        else if (!d->vector && (op == 0xa0 || op == 0xa8))
            in->kind = INSTRUCTION_PUSH;
        else if (!d->vector && (op == 0xa1 || op == 0xa9))
            in->kind = INSTRUCTION_POP;
        else if (!d->vector && (op == 0x0b || op == 0xb9 || op == 0xff || op == 0x34))
            in->kind = INSTRUCTION_END;
    } else {
        in->writes = writes_far(d);
    }
    if (d->address32 && (in->kind == INSTRUCTION_LEA || in->kind == INSTRUCTION_LOAD ||
                         in->kind == INSTRUCTION_STORE))
        in->kind = INSTRUCTION_OTHER; /* the address is cut to 32 bits: nobody's stack is there */
}

void instruction_decode(const uint8_t *code, uint64_t pc, struct instruction *in) {
    struct decoder d = {.code = code, .pc = pc, .in = in};
    bool by_pc = false;
    *in = (struct instruction){.reg = INSTRUCTION_NONE,
                               .from = INSTRUCTION_NONE,
                               .pair = INSTRUCTION_NONE,
                               .base = INSTRUCTION_NONE,
                               .index = INSTRUCTION_NONE};
    take_opcode(&d);
    if (needs_modrm(&d)) {
        uint8_t modrm = (uint8_t)take(&d, 1);
        d.has_modrm = true;
        d.is_register = modrm >> 6 == 3;
        d.reg = (uint8_t)((modrm >> 3 & 7) | d.r);
        d.rm = (uint8_t)((modrm & 7) | (d.is_register ? d.b : 0));
        if (!d.is_register)
            by_pc = take_memory(&d, modrm >> 6);
    }
    in->value = take(&d, immediate(&d));
    if (d.at <= INSTRUCTION_BYTES)
        classify(&d, by_pc);
    else
        in->kind = INSTRUCTION_END;
    in->length = d.at <= INSTRUCTION_BYTES ? d.at : 1;
}

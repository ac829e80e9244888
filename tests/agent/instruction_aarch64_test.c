/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * instruction_aarch64_test.c - instructions of the C library, which has some of every kind, against
 * objdump: where branches go, what loads and stores of the stack do, and that no instruction that
 * writes a register is said not to. And a few by hand.
 */
#include "preload/sample/instruction.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/compiler.h"
#include "tests/check.h"

#if defined(__aarch64__)

#define LINE_MAX_BYTES 512

static uint64_t instructions, wrong;

/* ---- by objdump's text ---- */

/* A register by its name: -1: none that is followed. */
static int reg_of(const char *name) {
    int n;
    if (strncmp(name, "sp", 2) == 0)
        return ARCH_SP;
    if ((name[0] != 'x' && name[0] != 'w') || sscanf(name + 1, "%d", &n) != 1)
        return -1;
    return n;
}

static int kind_of(const char *name) {
    static const struct {
        const char *name;
        int kind;
    } kinds[] = {
        {"ret", INSTRUCTION_RETURN}, {"bl", INSTRUCTION_CALL},     {"blr", INSTRUCTION_CALL},
        {"b", INSTRUCTION_JUMP},     {"cbz", INSTRUCTION_BRANCH},  {"cbnz", INSTRUCTION_BRANCH},
        {"tbz", INSTRUCTION_BRANCH}, {"tbnz", INSTRUCTION_BRANCH}, {"retaa", INSTRUCTION_RETURN},
        {"udf", INSTRUCTION_END},    {"brk", INSTRUCTION_END}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(name, kinds[i].name) == 0)
            return kinds[i].kind;
    return strncmp(name, "b.", 2) == 0 ? INSTRUCTION_BRANCH : -1;
}

/* The last number of a branch is its target. */
static bool goes_right(const struct instruction *in, const char *operands, uint64_t bias) {
    const char *comma = strrchr(operands, ','), *last = comma != NULL ? comma + 1 : operands;
    uint64_t target;
    return sscanf(last, "%" SCNx64, &target) != 1 || in->target == target + bias;
}

/* "x29, x30, [sp, #-32]!" and the like, of whole registers. */
static bool moves_right(const struct instruction *in, bool load, const char *operands) {
    char first[16] = "", second[16] = "", base[16] = "";
    int offset = 0, n = 0;
    bool pair =
        sscanf(operands, "%15[a-z0-9], %15[a-z0-9], [%15[a-z0-9]%n", first, second, base, &n) == 3;
    if (!pair && sscanf(operands, "%15[a-z0-9], [%15[a-z0-9]%n", first, base, &n) != 2)
        return true;
    const char *rest = operands + n;
    bool post = strncmp(rest, "], #", 4) == 0, pre = strchr(rest, '!') != NULL;
    if (first[0] != 'x' || (pair && second[0] != 'x') || strcmp(first, "xzr") == 0 ||
        strcmp(second, "xzr") == 0 || strstr(rest, ", x") != NULL || strstr(rest, ", w") != NULL)
        return true;
    if (strchr(rest, '#') != NULL)
        offset = atoi(strchr(rest, '#') + 1);
    return in->kind == (load ? INSTRUCTION_LOAD : INSTRUCTION_STORE) &&
           (load ? in->reg : in->from) == reg_of(first) && in->is_pair == pair &&
           (!pair || in->pair == reg_of(second)) && in->base == reg_of(base) &&
           in->displacement == (post ? 0 : offset) && in->step == (post || pre ? offset : 0);
}

/* "x2, x1, #0xfff0": of whole registers, whose pattern is one of 64 bits; others only write. */
static bool masks_right(const struct instruction *in, const char *operands) {
    char to[16] = "", from[16] = "";
    uint64_t mask;
    return sscanf(operands, "%15[a-z0-9], %15[a-z0-9], #%" SCNx64, to, from, &mask) == 3 &&
           in->reg == reg_of(to) && in->from == reg_of(from) && (uint64_t)in->value == mask;
}

/* What the first operand of all others is, most write. */
static bool writes_right(const struct instruction *in, const char *name, const char *operands) {
    static const char *const readers[] = {"cmp", "cmn", "tst", "ccm", "st",  "prfm", "msr", "dc",
                                          "ic",  "sys", "cas", "swp", "fcm", "b",    "svc", "hlt"};
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        if (strncmp(name, readers[i], strlen(readers[i])) == 0)
            return true;
    int reg = reg_of(operands);
    if (reg < 0 || strncmp(operands, "xzr", 3) == 0 || strncmp(operands, "wzr", 3) == 0 ||
        strncmp(name, "pac", 3) == 0 || strncmp(name, "aut", 3) == 0 ||
        strncmp(name, "xpac", 4) == 0 || strcmp(name, "br") == 0)
        return true;
    bool gives = in->kind == INSTRUCTION_MOVE || in->kind == INSTRUCTION_LEA ||
                 in->kind == INSTRUCTION_LOAD || in->kind == INSTRUCTION_ADD;
    return gives ? in->reg == reg : (in->writes & 1u << reg) != 0 || in->kind == INSTRUCTION_END;
}

static bool is_right(const struct instruction *in, const char *name, const char *operands,
                     uint64_t bias) {
    int kind = kind_of(name);
    if (strcmp(name, "ret") == 0 && operands[0] != '\0')
        kind = INSTRUCTION_END; /* by a register that is not followed */
    if (in->length != 4 || (kind >= 0 && in->kind != kind))
        return false;
    if (kind == INSTRUCTION_JUMP || kind == INSTRUCTION_BRANCH || strcmp(name, "bl") == 0)
        return goes_right(in, operands, bias);
    if (kind >= 0)
        return true;
    bool load = strcmp(name, "ldp") == 0 || strcmp(name, "ldr") == 0 || strcmp(name, "ldur") == 0;
    if (in->kind == INSTRUCTION_AND)
        return strcmp(name, "and") == 0 && masks_right(in, operands);
    bool store = strcmp(name, "stp") == 0 || strcmp(name, "str") == 0 || strcmp(name, "stur") == 0;
    return load || store ? moves_right(in, load, operands) : writes_right(in, name, operands);
}

static void compare(uint64_t bias, uint64_t vaddr, const char *text) {
    struct instruction in;
    uint8_t code[INSTRUCTION_BYTES];
    char name[32] = "", operands[128] = "";
    if (sscanf(text, "%31s %127[^/<]", name, operands) < 1 || name[0] == '.')
        return;
    memcpy(code, (const void *)(uintptr_t)(vaddr + bias), sizeof code);
    instruction_decode(code, vaddr + bias, &in);
    instructions++;
    if (!is_right(&in, name, operands, bias) && wrong++ < 20)
        printf("0x%" PRIx64 " %s: kind %u\n", vaddr, text, in.kind);
}

static void test_library(const char *path, uint64_t bias) {
    char command[4096], line[LINE_MAX_BYTES];
    uint64_t vaddr;
    snprintf(command, sizeof command, "objdump -d --no-show-raw-insn -j .text '%s'", path);
    FILE *listing = popen(command, "r");
    while (listing != NULL && fgets(line, sizeof line, listing) != NULL) {
        char *text = strchr(line, '\t');
        if (text == NULL || line[0] != ' ' || sscanf(line, "%" SCNx64, &vaddr) != 1)
            continue;
        text[strcspn(text, "\n")] = '\0';
        compare(bias, vaddr, text + 1);
    }
    if (listing != NULL)
        pclose(listing);
}

/* ---- by hand ---- */

static struct instruction decode(uint32_t word) {
    struct instruction in;
    uint8_t code[INSTRUCTION_BYTES] = {0};
    memcpy(code, &word, sizeof word);
    instruction_decode(code, 0x1000, &in);
    CHECK_UINT(in.length, 4);
    return in;
}

static void test_effects(void) {
    struct instruction in = decode(0xd10083ff); /* sub sp, sp, #0x20 */
    CHECK(in.kind == INSTRUCTION_LEA && in.reg == ARCH_SP && in.base == ARCH_SP &&
          in.displacement == -0x20);
    in = decode(0x910003fd); /* mov x29, sp */
    CHECK(in.kind == INSTRUCTION_LEA && in.reg == ARCH_FP && in.base == ARCH_SP);
    in = decode(0xa9be7bfd); /* stp x29, x30, [sp, #-32]! */
    CHECK(in.kind == INSTRUCTION_STORE && in.from == 29 && in.is_pair && in.pair == 30 &&
          in.base == ARCH_SP && in.displacement == -32 && in.step == -32);
    in = decode(0xa8c27bfd); /* ldp x29, x30, [sp], #32 */
    CHECK(in.kind == INSTRUCTION_LOAD && in.reg == 29 && in.is_pair && in.pair == 30 &&
          in.displacement == 0 && in.step == 32);
    in = decode(0xf81f0ffe); /* str x30, [sp, #-16]! */
    CHECK(in.kind == INSTRUCTION_STORE && in.from == 30 && !in.is_pair && in.step == -16);
    in = decode(0x927ae53f); /* and sp, x9, #-64 */
    CHECK(in.kind == INSTRUCTION_AND && in.reg == ARCH_SP && in.from == 9 && in.value == -64);
    in = decode(0x12000000); /* and w0, w0, #1 */
    CHECK(in.kind == INSTRUCTION_OTHER && (in.writes & 1u) != 0);
    in = decode(0xcb2163ff); /* sub sp, sp, x1 */
    CHECK(in.kind == INSTRUCTION_OTHER && (in.writes & 1u << ARCH_SP) != 0);
    in = decode(0xaa1303fd); /* mov x29, x19 */
    CHECK(in.kind == INSTRUCTION_MOVE && in.reg == 29 && in.from == 19);
    in = decode(0xd503233f); /* paciasp */
    CHECK(in.kind == INSTRUCTION_OTHER && in.writes == 0);
    in = decode(0xd65f0bff); /* retaa */
    CHECK(in.kind == INSTRUCTION_RETURN);
    in = decode(0xd61f0220); /* br x17 */
    CHECK(in.kind == INSTRUCTION_RETURN);
    in = decode(0xd61f0060); /* br x3 */
    CHECK(in.kind == INSTRUCTION_END);
    in = decode(0xd4000001); /* svc #0 */
    CHECK(in.kind == INSTRUCTION_OTHER && in.writes == 1);
    in = decode(0);
    CHECK(in.kind == INSTRUCTION_END);
}

/* How far a frame is set up, with an interruption between the first two instructions and the last
 * two. */
static void test_frames(void) {
    static const struct {
        uint32_t word[4];
        enum arch_frame frame;
    } cases[] = {
        {{0xd503201f, 0xd503233f, 0xa9be7bfd, 0x910003fd}, ARCH_FRAME_NONE}, /* before stp */
        {{0xd503201f, 0xd503201f, 0xd503233f, 0xa9be7bfd}, ARCH_FRAME_NONE}, /* paciasp */
        {{0xd503201f, 0xd503201f, 0xd503237f, 0xa9be7bfd}, ARCH_FRAME_NONE}, /* pacibsp */
        {{0xd503201f, 0xd503201f, 0xd503245f, 0xa9be7bfd}, ARCH_FRAME_NONE}, /* bti c */
        {{0xd503233f, 0xa9be7bfd, 0x910003fd, 0xd503201f}, ARCH_FRAME_PUSHED},
        {{0xa9be7bfd, 0x910003fd, 0xd503201f, 0xd503201f}, ARCH_FRAME_SET},
        {{0xd503201f, 0xd503201f, 0xa8c27bfd, 0xd65f03c0}, ARCH_FRAME_SET},  /* before ldp */
        {{0xd503201f, 0xa8c27bfd, 0xd65f03c0, 0xd503201f}, ARCH_FRAME_NONE}, /* ret */
        {{0xd503201f, 0xa8c27bfd, 0xd50323bf, 0xd65f03c0}, ARCH_FRAME_NONE}, /* autiasp */
        {{0xd503201f, 0xa8c27bfd, 0xd50323ff, 0xd65f03c0}, ARCH_FRAME_NONE}, /* autibsp */
        {{0xd503201f, 0xa8c27bfd, 0xd65f0bff, 0xd503201f}, ARCH_FRAME_NONE}, /* retaa */
        {{0xd503201f, 0xa8c27bfd, 0xd65f0fff, 0xd503201f}, ARCH_FRAME_NONE}, /* retab */
    };
    for (size_t i = 0; i < HCCT_ARRAY_LEN(cases); i++)
        CHECK_UINT(arch_frame_at((const uint8_t *)&cases[i].word[2]), cases[i].frame);
}

int main(void) {
    Dl_info info;
    test_effects();
    test_frames();
    if (system("objdump --version >/dev/null 2>&1") == 0 &&
        dladdr((void *)(uintptr_t)qsort, &info)) {
        test_library(info.dli_fname, (uintptr_t)info.dli_fbase);
        printf("%" PRIu64 " instructions of %s, %" PRIu64 " differ\n", instructions, info.dli_fname,
               wrong);
        CHECK(instructions > 100000);
        CHECK_UINT(wrong, 0);
    }
    return check_report();
}

#else

int main(void) {
    printf("knows no instructions of this machine\n");
    return 77;
}

#endif

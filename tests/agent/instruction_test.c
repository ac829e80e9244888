/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * instruction_test.c - lengths, targets and kinds of instructions: those of the C library, which
 * has some of every kind, against objdump; and a few by hand.
 */
#include "preload/sample/instruction.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

#if defined(__x86_64__)

#define LINE_MAX_BYTES 512

static uint64_t instructions, wrong;

/* What objdump calls it, in a few classes. -1: does not matter. */
static int class_of(const char *name) {
    static const struct {
        const char *name;
        int kind;
    } classes[] = {{"ret", INSTRUCTION_RETURN}, {"leave", INSTRUCTION_LEAVE},
                   {"push", INSTRUCTION_PUSH},  {"pop", INSTRUCTION_POP},
                   {"call", INSTRUCTION_CALL},  {"pushf", INSTRUCTION_PUSH}};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (strcmp(name, classes[i].name) == 0)
            return classes[i].kind;
    return -1;
}

/* A direct jump, and a branch, go where objdump says. */
static bool goes_right(const struct instruction *in, const char *name, const char *operands,
                       uint64_t bias) {
    uint64_t target;
    if (name[0] != 'j' || sscanf(operands, "%" SCNx64, &target) != 1 || operands[0] == '*')
        return true;
    int kind = strcmp(name, "jmp") == 0 ? INSTRUCTION_JUMP : INSTRUCTION_BRANCH;
    return in->kind == kind && in->target == target + bias;
}

/* An instruction at `vaddr` that ends at `end`. */
static void compare(uint64_t bias, uint64_t vaddr, uint64_t end, const char *text) {
    struct instruction in;
    uint8_t code[INSTRUCTION_BYTES + 1];
    char name[32] = "", operands[128] = "";
    sscanf(text, "%31s %127s", name, operands);
    if (strstr(text, "(bad)") != NULL || strstr(text, "addr32") != NULL)
        return;
    memcpy(code, (const void *)(uintptr_t)(vaddr + bias), sizeof code);
    instruction_decode(code, vaddr + bias, &in);
    int kind = class_of(name);
    instructions++;
    if (in.length == end - vaddr && (kind < 0 || in.kind == kind) &&
        goes_right(&in, name, operands, bias))
        return;
    if (wrong++ < 20)
        printf("0x%" PRIx64 " %s: %u bytes of kind %u, %" PRIu64 " are right\n", vaddr, text,
               in.length, in.kind, end - vaddr);
}

/* "  address:\ttext": each instruction reaches to the next line's. */
static void test_library(const char *path, uint64_t bias) {
    char command[4096], line[LINE_MAX_BYTES], last[LINE_MAX_BYTES] = "";
    uint64_t vaddr, before = 0;
    snprintf(command, sizeof command, "objdump -d --no-show-raw-insn -j .text '%s'", path);
    FILE *listing = popen(command, "r");
    while (listing != NULL && fgets(line, sizeof line, listing) != NULL) {
        char *text = strchr(line, '\t');
        if (text == NULL || line[0] != ' ' || sscanf(line, "%" SCNx64, &vaddr) != 1)
            continue;
        text[strcspn(text, "\n")] = '\0';
        if (before != 0 && vaddr > before && vaddr - before <= 15)
            compare(bias, before, vaddr, last);
        before = vaddr;
        snprintf(last, sizeof last, "%s", text + 1);
    }
    if (listing != NULL)
        pclose(listing);
}

static struct instruction decode(const char *bytes, size_t n) {
    struct instruction in;
    uint8_t code[INSTRUCTION_BYTES] = {0};
    memcpy(code, bytes, n);
    instruction_decode(code, 0x1000, &in);
    CHECK_UINT(in.length, n);
    return in;
}

#define DECODE(bytes) decode(bytes, sizeof(bytes) - 1)

static void test_effects(void) {
    struct instruction in = DECODE("\x48\x83\xec\x28"); /* sub $0x28, %rsp */
    CHECK(in.kind == INSTRUCTION_ADD && in.reg == ARCH_SP && in.value == -0x28);
    in = DECODE("\x48\x83\xe4\xe0"); /* and $-32, %rsp */
    CHECK(in.kind == INSTRUCTION_AND && in.reg == ARCH_SP && in.value == -32);
    in = DECODE("\x48\x8d\x65\xd8"); /* lea -0x28(%rbp), %rsp */
    CHECK(in.kind == INSTRUCTION_LEA && in.reg == ARCH_SP && in.base == ARCH_FP &&
          in.displacement == -0x28);
    in = DECODE("\x48\x89\xdc"); /* mov %rbx, %rsp */
    CHECK(in.kind == INSTRUCTION_MOVE && in.reg == ARCH_SP && in.from == 3);
    in = DECODE("\x48\x8b\xa4\x24\x90\x00\x00\x00"); /* mov 0x90(%rsp), %rsp */
    CHECK(in.kind == INSTRUCTION_LOAD && in.reg == ARCH_SP && in.base == ARCH_SP);
    in = DECODE("\x41\x5e"); /* pop %r14 */
    CHECK(in.kind == INSTRUCTION_POP && in.reg == 14);
    in = DECODE("\xc5\xf9\x7e\xc5"); /* vmovd %xmm0, %ebp */
    CHECK(in.kind == INSTRUCTION_OTHER && in.writes == 1u << ARCH_FP);
    in = DECODE("\xc5\xf1\xef\xed"); /* vpxor %xmm5, %xmm1, %xmm5 */
    CHECK(in.kind == INSTRUCTION_OTHER && in.writes == 0);
    in = DECODE("\x62\xf1\x7d\x48\x6f\x6c\x24\x01"); /* vmovdqa32 0x40(%rsp), %zmm5 */
    CHECK(in.kind == INSTRUCTION_OTHER && in.writes == 0);
    in = DECODE("\xff\x25\x10\x00\x00\x00"); /* jmp *0x10(%rip) */
    CHECK(in.kind == INSTRUCTION_JUMP_SLOT && in.target == 0x1016);
    in = DECODE("\x66\x0f\x1f\x84\x00\x00\x00\x00\x00"); /* nopw 0(%rax,%rax) */
    CHECK(in.kind == INSTRUCTION_OTHER && in.writes == 0);
}

int main(void) {
    Dl_info info;
    test_effects();
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

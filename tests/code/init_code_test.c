/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * init_code_test.c - the code of _init, _fini and _start: at each offset of what crti.o, crtn.o and
 * pieces between them come to, the frame is what their instructions make of it; whatever is damaged
 * is not taken for such code.
 */
#include "common/code/init_code.h"

#include <string.h>

#include "tests/check.h"

#include "common/wire/compiler.h"

#define SAMPLE_MAX 64

/* Hexadecimal, the instructions that move the stack pointer in brackets. */
struct sample {
    const char *what, *hex;
};

#define ENDBR64 "f30f1efa"
#define LOWER   "[4883ec08]"
#define RAISE   "[4883c408]"
#define GMON    "488b0571efac04 4885c0 7402 ffd0"

#define SAVE "[fd7bbfa9]"
#define LOAD "[fd7bc1a8]"

static const struct sample good[] = {
    {"crti.o and crtn.o", LOWER GMON RAISE "c3"},
    {"with endbr64", ENDBR64 LOWER GMON RAISE "c3"},
    {"without any call", LOWER RAISE "c3"},
    {"_fini with endbr64", ENDBR64 LOWER RAISE "c3"},
    {"a call", ENDBR64 LOWER GMON "e855680601" RAISE "c3"},
    {"calls, the fill between them",
     LOWER GMON "e855680601 90 6690 0f1f00 0f1f4000 e800000000" RAISE "c3"},
    {"a static program", LOWER "48c7c000000000 4885c0 7402 ffd0" RAISE "c3"},
    {"a relaxed call", LOWER "488d0500000000 67e811223344 ff1555667788" RAISE "c3"},
    {"by the PLT", LOWER "488b0571efac04 4885c0 7405 e811223344" RAISE "c3"},
    {"without a PLT", LOWER "488b0571efac04 4885c0 7406 ff1511223344" RAISE "c3"},
    {"what looks like its end within a call", LOWER "e84883c408 e8c34883c4" RAISE "c3"},
};

static const struct sample good_aarch64[] = {
    {"aarch64's crti.o and crtn.o", "1f2003d5" SAVE "fd030091 60000094" LOAD "c0035fd6"},
    {"_fini", "1f2003d5" SAVE "fd030091" LOAD "c0035fd6"},
    {"calls", SAVE "fd030091 60000094 f4ffff97 1f2003d5" LOAD "c0035fd6"},
    {"with a landing pad", "5f2403d5" SAVE "fd030091 60000094" LOAD "c0035fd6"},
    {"signed", "3f2303d5" SAVE "fd030091 60000094" LOAD "bf2303d5 c0035fd6"},
};

static const struct sample bad[] = {
    {"of the other machine", "1f2003d5" SAVE "fd030091" LOAD "c0035fd6"},
    {"nothing", ""},
    {"endbr64 alone", ENDBR64},
    {"no beginning", RAISE "c3"},
    {"no end", LOWER GMON},
    {"no ret", LOWER GMON RAISE},
    {"more after it", LOWER GMON RAISE "c390"},
    {"a push", LOWER "50" RAISE "c3"},
    {"two words", "4883ec10" GMON "4883c410c3"},
    {"lowered once more", LOWER LOWER RAISE RAISE "c3"},
    {"raised twice", LOWER RAISE RAISE "c3"},
    {"returned early", LOWER RAISE "c3" GMON RAISE "c3"},
    {"a jump somewhere", LOWER "4885c0 7403 ffd0 90" RAISE "c3"},
    {"a jump without a call", LOWER "4885c0 7402 9090" RAISE "c3"},
    {"a jump into a call", LOWER "7401 e8000000ff" RAISE "c3"},
    {"a call through another register", LOWER "ffd1" RAISE "c3"},
    {"endbr64 twice", ENDBR64 ENDBR64 LOWER RAISE "c3"},
    {"32-bit code", "83ec08"
                    "e855680601"
                    "83c408c3"},
    {"a call cut short", LOWER "e8556806" RAISE "c3"},
};

static const struct sample bad_aarch64[] = {
    {"of the other machine", LOWER RAISE "c3"},
    {"no frame pointer", SAVE "1f2003d5" LOAD "c0035fd6"},
    {"no ret", SAVE "fd030091" LOAD},
    {"a branch", SAVE "fd030091 00000014" LOAD "c0035fd6"},
    {"another pair", "f353bfa9 fd030091" LOAD "c0035fd6"},
    {"more after it", SAVE "fd030091" LOAD "c0035fd6 1f2003d5"},
};

struct code {
    uint8_t byte[SAMPLE_MAX];
    size_t n;
    size_t lowered, raised; /* behind the instructions in brackets */
};

static unsigned digit(char c) {
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static struct code assemble(const char *hex) {
    struct code code = {.n = 0};
    for (; *hex != '\0'; hex++) {
        if (*hex == ']') {
            code.raised = code.n;
            code.lowered = code.lowered == 0 ? code.n : code.lowered;
        }
        if (*hex == '[' || *hex == ']' || *hex == ' ')
            continue;
        code.byte[code.n++] = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
        hex++;
    }
    return code;
}

/* In a block of its own, so that the address sanitizer sees a step beyond it. */
static bool read_block(uint16_t machine, const uint8_t *bytes, size_t n, struct init_code *found) {
    uint8_t *block = malloc(n == 0 ? 1 : n);
    memcpy(block, bytes, n);
    bool known = init_code_read(machine, block, n, found);
    free(block);
    return known;
}

static void check_good(uint16_t machine, const struct sample *sample) {
    const struct code code = assemble(sample->hex);
    struct init_code found = {0};
    int failed = check_failed;
    const bool by_register = machine == EM_AARCH64;
    struct init_frame frame;
    CHECK(read_block(machine, code.byte, code.n, &found));
    for (size_t at = 0; at < code.n; at++) {
        bool lowered = at >= code.lowered && at < code.raised;
        CHECK(init_code_frame(&found, at, &frame));
        CHECK_UINT(frame.cfa, lowered ? 16 : by_register ? 0 : 8);
        CHECK_UINT(frame.ra_saved, lowered || !by_register);
        CHECK_UINT(frame.fp_saved, lowered && by_register);
    }
    CHECK(!init_code_frame(&found, code.n, &frame));
    CHECK(!init_code_frame(&found, UINT64_MAX, &frame));
    for (size_t n = 0; n < code.n; n++)
        CHECK(!read_block(machine, code.byte, n, &found));
    if (check_failed != failed)
        fprintf(stderr, "in: %s\n", sample->what);
}

static void check_bad(uint16_t machine, const struct sample *sample) {
    const struct code code = assemble(sample->hex);
    struct init_code found;
    bool known = read_block(machine, code.byte, code.n, &found);
    CHECK(!known);
    if (known)
        fprintf(stderr, "in: %s\n", sample->what);
}

/* Each bit turned over: it is in an operand, and the frame is the same, or nothing is known. */
static void check_damaged(uint16_t machine, const struct sample *sample) {
    struct code code = assemble(sample->hex);
    unsigned refused = 0;
    for (size_t bit = 0; bit < 8 * code.n; bit++) {
        struct init_code found;
        code.byte[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (!read_block(machine, code.byte, code.n, &found)) {
            refused++;
        } else {
            CHECK_UINT(found.lowered, code.lowered);
            CHECK_UINT(found.raised, code.raised);
            CHECK_UINT(found.end, code.n);
        }
        code.byte[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    CHECK(refused >= 8 * (4 + 4 + 1)); /* the instructions that every such code has */
}

static void check_all(uint16_t machine, const struct sample *known, size_t n_known,
                      const struct sample *others, size_t n_others) {
    for (size_t i = 0; i < n_known; i++) {
        check_good(machine, &known[i]);
        check_damaged(machine, &known[i]);
    }
    for (size_t i = 0; i < n_others; i++)
        check_bad(machine, &others[i]);
}

/* ---- _start ---- */

#define CALLS "6ef7ff97 b5f7ff97"

static const struct sample starts[] = {
    {"of an older glibc", "1d0080d2 1e0080d2 e50300aa e10340f9 802700d0" CALLS},
    {"of a newer one", "1f2003d5 1d0080d2 1e0080d2 e50300aa" CALLS},
    {"with a landing pad", "5f2403d5 1d0080d2 1e0080d2 e50300aa" CALLS},
};

static const struct sample others[] = {
    {"nothing", ""},
    {"a frame pointer that is another's", "1e0080d2 e50300aa" CALLS},
    {"no link register", "1d0080d2 e50300aa" CALLS},
    {"one call", "1d0080d2 1e0080d2 e50300aa b5f7ff97 c0035fd6"},
    {"no call", "1d0080d2 1e0080d2 e50300aa"},
};

static void test_start(void) {
    static const uint8_t behind[SAMPLE_MAX];
    for (size_t i = 0; i < HCCT_ARRAY_LEN(starts); i++) {
        struct code code = assemble(starts[i].hex);
        struct init_code found;
        CHECK(init_code_read_start(EM_AARCH64, code.byte, code.n, &found));
        CHECK(found.is_start);
        CHECK_UINT(found.end, code.n);
        CHECK(!init_code_read_start(EM_X86_64, code.byte, code.n, &found));
        size_t whole = code.n;
        memcpy(code.byte + whole, behind, sizeof code.byte - whole);
        CHECK(init_code_read_start(EM_AARCH64, code.byte, sizeof code.byte, &found));
        CHECK_UINT(found.end, whole);
    }
    for (size_t i = 0; i < HCCT_ARRAY_LEN(others); i++) {
        struct code code = assemble(others[i].hex);
        struct init_code found;
        CHECK(!init_code_read_start(EM_AARCH64, code.byte, code.n, &found));
    }
}

int main(void) {
    test_start();
    check_all(EM_X86_64, good, HCCT_ARRAY_LEN(good), bad, HCCT_ARRAY_LEN(bad));
    check_all(EM_AARCH64, good_aarch64, HCCT_ARRAY_LEN(good_aarch64), bad_aarch64,
              HCCT_ARRAY_LEN(bad_aarch64));
    return check_report();
}

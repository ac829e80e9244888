/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * syscall_passed_test.c - numbers of system calls that came as arguments: in code and stacks that
 * exist only as bytes.
 */
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "preload/wrap/syscall_passed.h"
#include "tests/check.h"

#if defined(__x86_64__)

#define CODE      0x400000u
#define FUNCTION  (CODE + 0x800) /* that makes the system call */
#define WRAPPER   (CODE + 0xa00) /* that jumps to it */
#define BACK      (CODE + 0x600) /* where the call of it returns to */
#define STACK     0x7ff000u
#define SP        (STACK + 0x100)
#define RBX_HOLDS 281

static uint64_t code_words[512], stack_words[128];

static bool read_word(void *arg, uint64_t address, uint64_t *word) {
    (void)arg;
    CHECK_UINT(address & 7, 0);
    if (address - CODE < sizeof code_words)
        *word = code_words[(address - CODE) / 8];
    else if (address - STACK < sizeof stack_words)
        *word = stack_words[(address - STACK) / 8];
    else
        return false;
    return true;
}

static uint64_t held(void *arg, unsigned reg) {
    (void)arg;
    CHECK_UINT(reg, 3);
    return RBX_HOLDS;
}

static void put(uint64_t address, const uint8_t *bytes, size_t n) {
    memcpy((uint8_t *)code_words + (address - CODE), bytes, n);
}

#define PUT(address, ...)                                                                          \
    put(address, (const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__})
/* What ends there. */
#define PUT_BEFORE(address, ...)                                                                   \
    put((address) - sizeof(const uint8_t[]){__VA_ARGS__}, (const uint8_t[]){__VA_ARGS__},          \
        sizeof(const uint8_t[]){__VA_ARGS__})

static void put_word(uint64_t address, uint64_t word) {
    stack_words[(address - STACK) / 8] = word;
}

/* A call of `target` that returns to BACK, after `before`. */
#define CALL(target, ...)                                                                          \
    memset((uint8_t *)code_words + (BACK - CODE) - 100, 0x90, 100);                                \
    PUT_BEFORE(BACK, __VA_ARGS__, 0xe8, (uint8_t)((target)-BACK), (uint8_t)(((target)-BACK) >> 8), \
               (uint8_t)(((target)-BACK) >> 16), (uint8_t)(((target)-BACK) >> 24))

static void clear(void) {
    memset(code_words, 0x90, sizeof code_words);
    memset(stack_words, 0, sizeof stack_words);
    put_word(SP, BACK);
}

/* `bytes`: of the function, up to and with its system call. */
static long number(size_t bytes, uint64_t sp) {
    const struct syscall_site site = {
        .pc = FUNCTION + bytes, .sp = sp, .held = held, .read = read_word};
    return syscall_passed(&site);
}

#define MOVES                                                                                      \
    0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x48, 0x89, 0xd6, 0x48, 0x89, 0xca, 0x0f, 0x05 /* raw() */
#define MOVES_BYTES   14
#define PAUSE         0xbf, SYS_pause, 0, 0, 0 /* mov $34,%edi */
#define OTHER_MOVES   0x31, 0xd2, 0x48, 0x89, 0xe6, 0x48, 0x89, 0x44, 0x24, 0x08
#define OTHER_BYTES   10
#define CALL_AND_MOVE (5 + OTHER_BYTES)

static void test_constant(void) {
    clear();
    PUT(FUNCTION, MOVES);
    CALL(FUNCTION, PAUSE, OTHER_MOVES);
    CHECK(number(MOVES_BYTES, SP) == SYS_pause);
    CALL(FUNCTION, 0x31, 0xff, OTHER_MOVES); /* xor %edi,%edi */
    CHECK(number(MOVES_BYTES, SP) == SYS_read);
    CALL(FUNCTION, PAUSE, 0xe8, 1, 2, 0, 0, OTHER_MOVES); /* a call that leaves it alone */
    CHECK(number(MOVES_BYTES, SP) == SYS_pause);
    CALL(FUNCTION, 0x89, 0xdf, OTHER_MOVES); /* mov %ebx,%edi */
    CHECK(number(MOVES_BYTES, SP) == RBX_HOLDS);
    put_word(SP + 0x18, SYS_poll | 7ull << 32);
    CALL(FUNCTION, 0x48, 0x8b, 0x7c, 0x24, 0x10, OTHER_MOVES); /* mov 0x10(%rsp),%rdi */
    CHECK(number(MOVES_BYTES, SP) == SYS_poll);
    CALL(FUNCTION, 0x48, 0x8b, 0x7c, 0x24, 0x08, 0x6a, 0, 0x41, 0x50); /* two are pushed then */
    put_word(SP + 0x20, SYS_select);
    CHECK(number(MOVES_BYTES, SP) == SYS_select);
}

static void test_unknown(void) {
    clear();
    PUT(FUNCTION, MOVES);
    CALL(FUNCTION, OTHER_MOVES);
    CHECK(number(MOVES_BYTES, SP) == -1);
    CALL(FUNCTION, 0x8b, 0x38, OTHER_MOVES); /* mov (%rax),%edi */
    CHECK(number(MOVES_BYTES, SP) == -1);
    CALL(FUNCTION, 0x89, 0xdf, 0x31, 0xdb, OTHER_MOVES); /* mov %ebx,%edi; xor %ebx,%ebx */
    CHECK(number(MOVES_BYTES, SP) == -1);
    CALL(FUNCTION, PAUSE, OTHER_MOVES);
    CHECK(number(MOVES_BYTES, SP) == SYS_pause);
    CHECK(number(MOVES_BYTES, SP - 8) == -1); /* not its stack pointer */
    put_word(SP, BACK + 1);
    CHECK(number(MOVES_BYTES, SP) == -1);
    put_word(SP, 0);
    CHECK(number(MOVES_BYTES, SP) == -1);
}

/* Another number may come by a jump. */
static void test_jumped_into(void) {
    clear();
    PUT(FUNCTION, MOVES);
    CALL(FUNCTION, PAUSE, OTHER_MOVES);
    PUT_BEFORE(BACK - CALL_AND_MOVE - 20, 0x74, 20); /* je to right behind the constant */
    CHECK(number(MOVES_BYTES, SP) == -1);
    PUT_BEFORE(BACK - CALL_AND_MOVE - 20, 0x74, 15); /* to the constant itself */
    CHECK(number(MOVES_BYTES, SP) == SYS_pause);
    PUT(BACK + 20, 0xe9, (uint8_t)(-28), 0xff, 0xff, 0xff); /* jmp back behind the call */
    CHECK(number(MOVES_BYTES, SP) == SYS_pause);
    PUT(BACK + 20, 0xe9, (uint8_t)(-31), 0xff, 0xff, 0xff); /* to a move before it */
    CHECK(number(MOVES_BYTES, SP) == -1);
}

static void test_function(void) {
    clear();
    CALL(FUNCTION, PAUSE, OTHER_MOVES);
    /* push %rbp; mov %rsp,%rbp; sub $16,%rsp; mov %edi,-4(%rbp); mov %rsi,%rdi;
       mov -4(%rbp),%eax; syscall: it stands on the stack */
    PUT(FUNCTION, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0x89, 0x7d, 0xfc, 0x48, 0x89,
        0xf7, 0x8b, 0x45, 0xfc, 0x0f, 0x05);
    put_word(SP - 16, (uint64_t)SYS_ppoll << 32);
    CHECK(number(19, SP - 24) == SYS_ppoll);
    CHECK(number(19, SP - 16) == -1);
    /* xor %r8d,%r8d; movslq %edi,%rax; mov %rsi,%rdi; syscall */
    PUT(FUNCTION, 0x45, 0x31, 0xc0, 0x48, 0x63, 0xc7, 0x48, 0x89, 0xf7, 0x0f, 0x05);
    CHECK(number(11, SP) == SYS_pause);
    /* test %esi,%esi; je over the rest: it may have come another way */
    PUT(FUNCTION, 0x85, 0xf6, 0x74, 0x06, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x0f, 0x05);
    CHECK(number(12, SP) == -1);
    /* add $1,%rdi first: not the number any more */
    PUT(FUNCTION, 0x48, 0x83, 0xc7, 0x01, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x0f, 0x05);
    CHECK(number(12, SP) == -1);
}

/* The last that the wrapper does. */
static void test_jump_to_function(void) {
    clear();
    PUT(FUNCTION, MOVES);
    PUT(WRAPPER, PAUSE, 0xe9, (uint8_t)(FUNCTION - WRAPPER - 10),
        (uint8_t)((FUNCTION - WRAPPER - 10) >> 8), 0xff, 0xff);
    CALL(WRAPPER, 0x31, 0xff);
    CHECK(number(MOVES_BYTES, SP) == SYS_pause);
}

int main(void) {
    test_constant();
    test_unknown();
    test_jumped_into();
    test_function();
    test_jump_to_function();
    return check_report();
}

#else

int main(void) {
    return 77;
}

#endif

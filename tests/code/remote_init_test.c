/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * remote_init_test.c - stacks of this very program with _init on them, of which no unwind entry
 * tells: the walk of a copy goes on to the root, from a function that _init calls and from each
 * instruction of _init.
 */
#include "common/code/remote_unwind.h"
#include "common/wire/arch.h"
#include "tests/check.h"
#include "tests/code/remote_walk.h"
#include "tests/code/stack_snapshot.h"

#if defined(__x86_64__)

static volatile unsigned sink;

static __attribute__((noinline)) unsigned descend(unsigned n) {
    volatile unsigned local[8] = {n};
    if (n == 0)
        snapshot_here();
    else
        sink += descend(n - 1);
    return local[0] + sink;
}

static bool init_descends;

/* Called by _init: before main, and when main calls that once more. It has a frame pointer, so that
 * the one that _init's callers go by, where they have any, stands below the return address. */
__attribute__((used, optimize("no-omit-frame-pointer"))) static void called_by_init(void) {
    if (init_descends)
        descend(3);
    sink++;
}
__asm__(".section .init\n call called_by_init\n .previous");

extern void _init(void);

static __attribute__((noinline)) void through_init(void) {
    init_descends = true;
    _init();
    init_descends = false;
    sink++;
}

static uint64_t routine_of(void (*function)(void)) {
    bool is_signal;
    uint64_t routine = (uint64_t)(uintptr_t)function;
    CHECK_UINT(routine_by_table(routine, &is_signal), routine);
    return routine;
}

/* A stack as it is in _init, in place of the one below which a frame was called from there: its
 * return address to _init is the word at `at`. `is_low`: the stack pointer is still one word lower
 * than where the return address to _init's caller is. */
static void return_to_init(struct raw_stack *stack, const struct raw_stack *from, uint32_t at,
                           bool is_low) {
    uint32_t gone = at + 1 + !is_low;
    memcpy(stack, from, raw_stack_bytes(from));
    stack->n_words -= gone;
    memmove(raw_stack_words(stack), raw_stack_words(stack) + gone,
            stack->n_words * sizeof(uint64_t));
    raw_stack_registers(stack)[ARCH_SP] += gone * sizeof(uint64_t);
    raw_stack_registers(stack)[ARCH_FP] = raw_stack_words(from)[at - 1];
}

/* The interrupted pc is at each address of _init. `walk` is from below: frame n of it is _init. */
static void check_within_init(struct remote_unwinder *unwinder, const struct raw_stack *from,
                              const struct unwound_stack *walk, uint32_t n) {
    struct unwound_frame above[SNAPSHOT_DEPTH];
    uint32_t n_above = walk->n - n, at = 0;
    struct raw_stack *stack = malloc(raw_stack_bytes(from));
    memcpy(above, walk->frames + n, n_above * sizeof above[0]);
    uint64_t site = walk->frames[n - 1].site;
    const uint8_t *code = (const uint8_t *)(uintptr_t)above[0].routine, *end = code;
    while (at < from->n_words && raw_stack_words(from)[at] != site)
        at++;
    while (memcmp(end, "\x48\x83\xc4\x08\xc3", 5) != 0) /* add $8, %rsp; ret */
        end++;
    const uint8_t *raised = end + 4;
    bool is_low = false;
    for (const uint8_t *pc = code; pc <= raised; pc++) {
        is_low |= pc - code >= 4 && memcmp(pc - 4, "\x48\x83\xec\x08", 4) == 0;
        return_to_init(stack, from, at, is_low && pc < raised);
        stack->pc = stack->at = (uint64_t)(uintptr_t)pc;
        struct unwound_stack again = walk_of(unwinder, stack);
        CHECK_UINT(again.mark, 0);
        CHECK_UINT(again.n, n_above);
        CHECK(again.n == n_above && memcmp(again.frames, above, n_above * sizeof above[0]) == 0);
    }
    CHECK(is_low);
    free(stack);
}

/* By libunwind up to _init, and beyond it to the root. */
static void test_init(struct remote_unwinder *unwinder) {
    uint64_t init = routine_of(_init);
    bool is_signal;
    snapshot.words_max = RAW_STACK_WORDS_MAX;
    through_init();
    struct unwound_stack walk = walk_of(unwinder, snapshot.stack);
    uint32_t n = 0;
    while (n < walk.n && walk.frames[n].routine != init)
        n++;
    CHECK_UINT(walk.mark, 0);
    CHECK(n > 3 && n + 2 < walk.n && walk.n - n < SNAPSHOT_DEPTH);
    if (n <= 3 || n + 2 >= walk.n || walk.n - n >= SNAPSHOT_DEPTH)
        return;
    CHECK_UINT(walk.frames[n - 1].routine, routine_of(called_by_init));
    CHECK_UINT(walk.frames[n + 1].routine, routine_of(through_init));
    CHECK_UINT(routine_by_table(walk.frames[n - 1].site - 1, &is_signal), init);
    check_within_init(unwinder, snapshot.stack, &walk, n);
    snapshot.words_max = 8; /* the rest of the stack is above what was copied */
    through_init();
    CHECK_UINT(walk_of(unwinder, snapshot.stack).mark, WIRE_PSEUDO_SHORT_COPY);
}

int main(void) {
#ifdef __SANITIZE_THREAD__
    fprintf(stderr,
            "skipped: the thread sanitizer lets no signal interrupt what is to be unwound\n");
    return 77;
#endif
    elf_version(EV_CURRENT);
    snapshot_begin(__builtin_frame_address(0));
    struct remote_unwinder *unwinder = remote_unwinder_new();
    test_init(unwinder);
    remote_unwinder_free(unwinder);
    free(snapshot.stack);
    return check_report();
}

#else
int main(void) {
    fprintf(stderr, "skipped: _init keeps a frame pointer on this machine\n");
    return 77;
}
#endif

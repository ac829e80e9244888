/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * remote_unwind_test.c - stacks of this very program, copied by a signal handler and walked from
 * the copy: the frames are those that backtrace() sees, named as the module's unwind table names
 * them; with lies in the registers and with less of the stack, there is less, and a mark.
 *
 * This program is its own worker for the last test.
 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/code/elf_worker.h"
#include "common/code/module.h"
#include "common/code/remote_unwind.h"
#include "common/wire/arch.h"
#include "common/wire/compiler.h"
#include "common/wire/wire.h"
#include "tests/check.h"
#include "tests/code/remote_walk.h"
#include "tests/code/stack_snapshot.h"

/* ---- contexts ---- */

static volatile unsigned sink;

static __attribute__((noinline)) unsigned descend(unsigned n) {
    volatile unsigned local[8] = {n};
    if (n == 0)
        snapshot_here();
    else
        sink += descend(n - 1);
    return local[0] + sink;
}

static int compare(const void *a, const void *b) {
    static int done;
    if (!done++)
        descend(5);
    return *(const int *)a - *(const int *)b;
}

/* Through the C library and back. */
static __attribute__((noinline)) void through_qsort(void) {
    int numbers[] = {3, 1, 2, 5, 4};
    qsort(numbers, HCCT_ARRAY_LEN(numbers), sizeof numbers[0], compare);
    sink += (unsigned)numbers[0];
}

static void second_handler(int signal) {
    (void)signal;
    descend(3);
}

/* Below another signal's frame. */
static __attribute__((noinline)) void through_signal(void) {
    raise(SIGUSR2);
    sink++;
}

/* The frame's size is known at run time only: found by frame pointer and CFI together. */
static __attribute__((noinline)) int with_alloca(int n) {
    volatile char *room = __builtin_alloca((size_t)n);
    room[0] = 1;
    descend(2);
    return room[0];
}

/* Its return address is signed, where the processor can. */
#if defined(__aarch64__)
#define SIGNED __attribute__((noipa, target("branch-protection=pac-ret+leaf")))
#else
#define SIGNED __attribute__((noipa))
#endif
SIGNED static int signed_descent(int n) {
    int more = n > 0 ? signed_descent(n - 1) : 0;
    if (n == 0)
        snapshot_here();
    return more + (sink++ > 0);
}

/* ---- checks ---- */

static void check_walk(struct remote_unwinder *unwinder, const char *what) {
    struct unwound_stack walk = walk_of(unwinder, snapshot.stack);
    bool exact = true, is_signal = false;
    int failed = check_failed;
    CHECK_UINT(walk.mark, 0);
    CHECK(snapshot.truths > 3);
    /* backtrace() may not see the frame that has no caller */
    CHECK(walk.n == (uint32_t)snapshot.truths || walk.n == (uint32_t)snapshot.truths + 1);
    for (uint32_t i = 0; i < walk.n && i < (uint32_t)snapshot.truths; i++) {
        uint64_t pc = (uint64_t)(uintptr_t)snapshot.truth[i];
        uint64_t routine = routine_by_table(exact ? pc : pc - 1, &is_signal);
        CHECK(routine == 0 || walk.frames[i].routine == routine); /* 0: it has no entry */
        uint64_t site =
            i + 1 < (uint32_t)snapshot.truths ? (uint64_t)(uintptr_t)snapshot.truth[i + 1] : 0;
        CHECK_UINT(walk.frames[i].site, site);
        exact = is_signal;
    }
    if (check_failed != failed)
        fprintf(stderr, "in: %s, %u frames of %d\n", what, walk.n, snapshot.truths);
}

static void test_contexts(struct remote_unwinder *unwinder) {
    snapshot.words_max = RAW_STACK_WORDS_MAX;
    snapshot_here();
    check_walk(unwinder, "directly");
    descend(0);
    check_walk(unwinder, "one level");
    descend(40);
    check_walk(unwinder, "a recursion");
    CHECK(snapshot.truths > 40);
    through_qsort();
    check_walk(unwinder, "through the C library");
    through_signal();
    check_walk(unwinder, "below a signal frame");
    with_alloca(100 + (int)(sink % 10));
    check_walk(unwinder, "a frame of variable size");
}

/* libunwind alone does not get through. */
static void test_signed(struct remote_unwinder *unwinder) {
    unsigned found = 0;
    snapshot.words_max = RAW_STACK_WORDS_MAX;
    signed_descent(3);
    struct unwound_stack walk = walk_of(unwinder, snapshot.stack);
    CHECK_UINT(walk.mark, 0);
    for (uint32_t i = 0; i < walk.n; i++)
        found += walk.frames[i].routine == (uint64_t)(uintptr_t)signed_descent;
    CHECK_UINT(found, 4);
}

/* The same walk again and with other ranges: nothing is remembered that is not the stack's. */
static void test_repeats(struct remote_unwinder *unwinder) {
    descend(10);
    check_walk(unwinder, "first");
    check_walk(unwinder, "again");
    descend(11);
    check_walk(unwinder, "another");
}

static void check_part(const struct unwound_stack *part, const struct unwound_frame *frames,
                       uint32_t n) {
    CHECK_UINT(part->mark, WIRE_PSEUDO_SHORT_COPY);
    CHECK(part->n >= 1 && part->n < n);
    for (uint32_t i = 0; i + 1 < part->n; i++)
        CHECK(memcmp(&part->frames[i], &frames[i], sizeof frames[i]) == 0);
    CHECK_UINT(part->frames[part->n - 1].routine, frames[part->n - 1].routine);
    CHECK_UINT(part->frames[part->n - 1].site, 0);
}

static void test_short_copies(struct remote_unwinder *unwinder) {
    struct unwound_frame whole[SNAPSHOT_DEPTH];
    uint32_t n = 0, before = 0;
    /* a volatile counter keeps the loop whole, so that the call sites are the same */
    for (volatile unsigned round = 0; round < 24; round++) {
        snapshot.words_max = round == 0 ? RAW_STACK_WORDS_MAX : 13 * (round - 1);
        descend(40);
        struct unwound_stack walk = walk_of(unwinder, snapshot.stack);
        if (round > 0) {
            check_part(&walk, whole, n);
            CHECK(walk.n >= before);
            before = walk.n;
        } else {
            CHECK_UINT(walk.mark, 0);
            n = walk.n < SNAPSHOT_DEPTH ? walk.n : SNAPSHOT_DEPTH;
            memcpy(whole, walk.frames, n * sizeof whole[0]);
        }
    }
    CHECK(before > 3);
}

static void test_no_code(struct remote_unwinder *unwinder) {
    snapshot.words_max = RAW_STACK_WORDS_MAX;
    descend(4);
    struct raw_stack *stack = snapshot.stack;
    struct code_range *own = raw_stack_ranges(stack);
    uint64_t pc = stack->pc;
    stack->at = 0x10;
    struct unwound_stack walk = walk_of(unwinder, stack);
    CHECK_UINT(walk.mark, WIRE_PSEUDO_NO_MODULE);
    CHECK_UINT(walk.n, 0);
    stack->at = pc;
    for (uint32_t i = 0; i < stack->n_ranges; i++)
        own[i].module = 0;
    raw_stack_registers(stack)[ARCH_FP] = raw_stack_registers(stack)[ARCH_LINK] = 0;
    walk = walk_of(unwinder, stack);
    CHECK_UINT(walk.mark, WIRE_PSEUDO_NO_RULE);
    CHECK_UINT(walk.n, 1);
    stack->n_registers = 2;
    walk = walk_of(unwinder, stack);
    CHECK_UINT(walk.mark, WIRE_PSEUDO_BAD_STACK);
    CHECK_UINT(walk.n, 0);
    stack->n_registers = ARCH_REGS;
    stack->known = 1ull << ARCH_FP;
    walk = walk_of(unwinder, stack);
    CHECK_UINT(walk.mark, WIRE_PSEUDO_BAD_STACK);
}

static uint64_t frame_of_main; /* where main keeps its frame pointer: nobody else has one, */
#ifdef __SANITIZE_ADDRESS__
#define OTHERS_HAVE_FRAMES true /* but for functions that the sanitizer gives one */
#else
#define OTHERS_HAVE_FRAMES false
#endif

/* The stack above the caller of frame inner - 1, of which only stack pointer and frame pointer are
 * known, and these frames. */
static struct raw_stack *rest_of(const struct raw_stack *whole, const struct unwound_stack *walk,
                                 uint32_t inner) {
    struct raw_stack head = *whole;
    uint32_t above = 0;
    for (uint32_t i = 0; i < inner; i++) {
        while (above < whole->n_words && raw_stack_words(whole)[above] != walk->frames[i].site)
            above++;
        above++;
    }
    head.at = walk->frames[inner - 1].site;
    head.known = 1ull << ARCH_SP | 1ull << ARCH_FP;
    head.n_inner = inner;
    head.n_words -= above;
    struct raw_stack *rest = calloc(1, raw_stack_bytes(&head));
    *rest = head;
    memcpy(raw_stack_ranges(rest), raw_stack_ranges(whole),
           rest->n_ranges * sizeof(struct code_range));
    memcpy(raw_stack_inner(rest), walk->frames, inner * sizeof(struct unwound_frame));
    raw_stack_registers(rest)[ARCH_SP] =
        (raw_stack_registers(whole)[ARCH_SP] & ~7ull) + above * sizeof(uint64_t);
    raw_stack_registers(rest)[ARCH_FP] = frame_of_main;
    memcpy(raw_stack_words(rest), raw_stack_words(whole) + above, rest->n_words * sizeof(uint64_t));
    return rest;
}

/* The agent has made the walk up to some frame: the result is the same. Where return addresses are
 * not the last word of a frame, this can't tell the stack pointer. */
static void test_begun(struct remote_unwinder *unwinder) {
    if (!ARCH_FP_TELLS_SP)
        return;
    snapshot.words_max = RAW_STACK_WORDS_MAX;
    descend(4);
    struct unwound_stack walk = walk_of(unwinder, snapshot.stack);
    CHECK_UINT(walk.mark, 0);
    struct unwound_frame *whole = malloc(walk.n * sizeof *whole);
    memcpy(whole, walk.frames, walk.n * sizeof *whole);
    struct unwound_stack truth = {.n = walk.n, .frames = whole};
    for (uint32_t inner = 1; inner < 6; inner++) {
        struct raw_stack *rest = rest_of(snapshot.stack, &truth, inner);
        walk = walk_of(unwinder, rest);
        CHECK_UINT(walk.mark, 0);
        CHECK_UINT(walk.n, truth.n);
        CHECK(memcmp(walk.frames, whole, walk.n * sizeof *whole) == 0);
        free(rest);
    }
    free(whole);
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 20;
}

/* A word that an attacker would like: code, stack, the end of memory, or anything. */
static uint64_t nasty(uint64_t *state, const struct raw_stack *stack) {
    uint64_t sp = raw_stack_registers(stack)[ARCH_SP];
    const struct code_range *range = &snapshot_ranges[next_random(state) % snapshot_n_ranges];
    switch (next_random(state) % 6) {
    case 0:
        return range->start + next_random(state) % (range->end - range->start);
    case 1:
        return sp + next_random(state) % 4096;
    case 2:
        return UINT64_MAX - next_random(state) % 64;
    case 3:
        return next_random(state) % 64;
    case 4:
        return 0xffff800000000000ull + next_random(state) % 16;
    default:
        return next_random(state) << 20 ^ next_random(state);
    }
}

/* Whatever stands in a copy, the walk ends within its bounds. */
static void test_lies(struct remote_unwinder *unwinder) {
    uint64_t state = 4;
    unsigned ended[RAW_STACK_MARKS_MAX] = {0};
    for (unsigned round = 0; round < 3000; round++) {
        snapshot.words_max = (uint32_t)(next_random(&state) % RAW_STACK_WORDS_MAX);
        descend(next_random(&state) % 20);
        struct raw_stack *stack = snapshot.stack;
        for (unsigned i = 0; i < 20 && stack->n_words > 0; i++)
            raw_stack_words(stack)[next_random(&state) % stack->n_words] = nasty(&state, stack);
        for (unsigned i = next_random(&state) % 3; i-- > 0;)
            raw_stack_registers(stack)[next_random(&state) % ARCH_REGS] = nasty(&state, stack);
        if (next_random(&state) % 4 == 0)
            stack->at = nasty(&state, stack);
        struct unwound_stack walk = walk_of(unwinder, stack);
        CHECK(walk.n <= RAW_STACK_FRAMES_MAX && walk.mark < RAW_STACK_MARKS_MAX);
        ended[walk.mark]++;
    }
    CHECK(ended[0] > 0 && ended[WIRE_PSEUDO_NO_MODULE] > 0 && ended[WIRE_PSEUDO_SHORT_COPY] > 0);
}

/* ---- code without unwind data ---- */

#if defined(__x86_64__)

/* Calls its argument, with a frame pointer and without unwind data. */
__asm__(".text\n.balign 16\n.type plain_call, @function\n"
        "plain_call: push %rbp\n mov %rsp, %rbp\n call *%rdi\n nop\n pop %rbp\n ret\n"
        ".size plain_call, . - plain_call\n plain_call_end:\n");
extern char plain_call[] __attribute__((visibility("hidden")));
extern char plain_call_end[] __attribute__((visibility("hidden")));

#define AFTER_CALL 6 /* bytes of it before the return address */

static __attribute__((noinline)) void descend_three(void) {
    descend(3);
    sink++;
}

static __attribute__((noinline, no_sanitize("undefined"))) void call_through(void *code) {
    ((void (*)(void (*)(void)))code)(descend_three);
    sink++;
}

/* One frame of the walk is the code's, named `routine`, and the walk goes on to the root. */
static void check_through(struct remote_unwinder *unwinder, char *code, uint64_t routine) {
    call_through(code);
    struct unwound_stack walk = walk_of(unwinder, snapshot.stack);
    unsigned seen = 0;
    bool is_signal;
    CHECK_UINT(walk.mark, 0);
    for (uint32_t i = 1; i + 1 < walk.n; i++) {
        if (walk.frames[i].routine != routine)
            continue;
        seen++;
        CHECK_UINT(walk.frames[i - 1].site, (uint64_t)(uintptr_t)code + AFTER_CALL);
        CHECK_UINT(walk.frames[i + 1].routine,
                   routine_by_table((uint64_t)(uintptr_t)call_through, &is_signal));
    }
    CHECK_UINT(seen, 1);
}

static void test_no_data(struct remote_unwinder *unwinder) {
    size_t bytes = (size_t)(plain_call_end - plain_call);
    uint64_t in_module = (uint64_t)(uintptr_t)plain_call;
    snapshot.words_max = RAW_STACK_WORDS_MAX;
    check_through(unwinder, plain_call, (in_module + AFTER_CALL - 1) & ~15ull);
    char *generated =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(generated != MAP_FAILED);
    memcpy(generated, plain_call, bytes);
    check_through(unwinder, generated, (uint64_t)(uintptr_t)generated + AFTER_CALL);
    munmap(generated, 4096);
}

#else
static void test_no_data(struct remote_unwinder *unwinder) {
    (void)unwinder;
}
#endif

/* ---- through the worker child ---- */

static void test_worker(struct remote_unwinder *unwinder) {
    struct elf_worker *worker = elf_worker_new("/proc/self/exe");
    struct unwound_stack walk = {0};
    snapshot.words_max = RAW_STACK_WORDS_MAX;
    for (unsigned round = 0; round < 3; round++) {
        descend(20);
        struct unwound_stack want = walk_of(unwinder, snapshot.stack);
        bool ok = elf_worker_unwind(worker, snapshot.stack, &walk);
        CHECK(ok);
        if (!ok)
            break;
        CHECK_UINT(walk.mark, 0);
        CHECK_UINT(walk.n, want.n);
        CHECK(walk.n == want.n &&
              memcmp(walk.frames, want.frames, want.n * sizeof *want.frames) == 0);
        free(walk.frames);
    }
    /* a module whose file is gone: its code has no unwind data */
    descend(20);
    for (uint32_t i = 0; i < snapshot.stack->n_ranges; i++)
        raw_stack_ranges(snapshot.stack)[i].module = MODULES_MAX;
    raw_stack_registers(snapshot.stack)[ARCH_FP] = 0;
    raw_stack_registers(snapshot.stack)[ARCH_LINK] = 0;
    CHECK(elf_worker_unwind(worker, snapshot.stack, &walk));
    CHECK_UINT(walk.mark, WIRE_PSEUDO_NO_RULE);
    CHECK_UINT(walk.n, 1);
    free(walk.frames);
    elf_worker_free(worker);
}

int main(int argc, char **argv) {
#ifdef __SANITIZE_THREAD__
    fprintf(stderr,
            "skipped: the thread sanitizer lets no signal interrupt what is to be unwound\n");
    return 77;
#endif
    if (argc == 2 && strcmp(argv[1], "--elf-worker") == 0)
        return elf_worker_main(3);
    struct sigaction second = {.sa_handler = second_handler};
    elf_version(EV_CURRENT);
    snapshot_begin(__builtin_frame_address(0));
    frame_of_main = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    sigaction(SIGUSR2, &second, NULL);
    struct remote_unwinder *unwinder = remote_unwinder_new();
    test_contexts(unwinder);
    test_signed(unwinder);
    test_repeats(unwinder);
    test_short_copies(unwinder);
    test_no_code(unwinder);
    if (!OTHERS_HAVE_FRAMES)
        test_begun(unwinder);
    test_lies(unwinder);
    test_no_data(unwinder);
    test_worker(unwinder);
    remote_unwinder_free(unwinder);
    free(snapshot.stack);
    return check_report();
}

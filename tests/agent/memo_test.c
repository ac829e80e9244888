/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * memo_test.c - the memoized walk finds what the full walk finds, always; and it reads again what
 * it can instead of stepping.
 */
#include "preload/sample/memo.h"

#include <signal.h>
#include <stdlib.h>

#include "tests/agent/machine.h"
#include "tests/agent/own_tables.h"
#include "tests/check.h"

#define ROOM   512u
#define ROUNDS 300000u

/* A memo, how much it may hold, and what its last walk found. */
struct tested {
    struct memo memo;
    uint32_t limit, depth;
    struct unwind_frame last[ROOM]; /* outermost first */
    uint64_t stepped, reread;
};

static void *zeroed(size_t n, size_t bytes) {
    void *memory = calloc(n, bytes);
    if (memory == NULL)
        abort();
    return memory;
}

static struct tested *tested_new(uint32_t room, uint32_t words, uint32_t limit) {
    struct tested *t = zeroed(1, sizeof *t);
    t->limit = limit;
    t->memo = (struct memo){.frame = zeroed(room, sizeof *t->memo.frame),
                            .step = zeroed(room, sizeof *t->memo.step),
                            .word = zeroed(words, sizeof *t->memo.word),
                            .cache = zeroed(1u << UNWIND_CACHE_BITS, sizeof *t->memo.cache),
                            .room = room,
                            .words_room = words};
    return t;
}

static void tested_free(struct tested *t) {
    free(t->memo.frame);
    free(t->memo.step);
    free(t->memo.word);
    free(t->memo.cache);
    free(t);
}

/* ---- one walk, both ways ---- */

static bool same_frames(const struct unwind_frame *a, const struct unwind_frame *b) {
    return a->routine == b->routine && a->site == b->site;
}

/* The walk's frames are the full walk's. */
static bool equal(const struct memo *memo, const struct unwind_frame *full, uint32_t n) {
    if (memo->depth != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!same_frames(&memo->frame[n - 1 - i].frame, &full[i]))
            return false;
    return true;
}

/* How many outermost frames are as they were; then remembers the new ones. */
static uint32_t common(struct tested *t) {
    uint32_t same = 0;
    while (same < t->depth && same < t->memo.depth &&
           same_frames(&t->last[same], &t->memo.frame[same].frame))
        same++;
    t->depth = t->memo.depth;
    for (uint32_t i = 0; i < t->depth; i++)
        t->last[i] = t->memo.frame[i].frame;
    return same;
}

static struct memo_result walk(struct tested *t, const struct unwind_env *env,
                               const struct unwind_registers *regs) {
    static struct unwind_frame full[ROOM];
    struct unwind_registers copy = *regs;
    struct memo_result result;
    uint32_t n;
    memo_walk(&t->memo, env, regs, t->limit, &result);
    enum unwind_end end =
        unwind_walk(env, &copy, full, t->limit < t->memo.room ? t->limit : t->memo.room, &n);
    if (end == UNWIND_RICH || end == UNWIND_PENDING)
        n = 0;
    CHECK(result.end == end && equal(&t->memo, full, n));
    CHECK(result.same == common(t));
    CHECK(n == 0 || result.stepped <= n);
    CHECK(result.cached <= result.stepped && result.by_fp <= result.stepped);
    t->stepped += result.stepped;
    t->reread += n - (n != 0 ? result.stepped : 0);
    return result;
}

static struct memo_result walk_machine(struct tested *t, struct machine *machine) {
    struct unwind_env env;
    struct unwind_registers regs;
    machine_env(machine, &env);
    machine_registers(machine, &regs);
    return walk(t, &env, &regs);
}

/* ---- a machine that does anything ---- */

static bool true_frames(const struct tested *t, const struct machine *machine) {
    bool same = t->memo.depth == machine->levels;
    for (uint32_t i = 0; same && i < machine->levels; i++)
        same = t->memo.frame[machine->levels - 1 - i].frame.site == machine_site(machine, i);
    return same;
}

static void test_any_program(uint64_t seed, unsigned failing_of_1000) {
    struct machine machine;
    struct tested *tested[] = {tested_new(ROOM, 2 * ROOM, ROOM), tested_new(ROOM, 2 * ROOM, 20),
                               tested_new(24, 48, ROOM), tested_new(ROOM, 30, ROOM)};
    machine_make(&machine, seed, failing_of_1000);
    for (unsigned round = check_rounds(ROUNDS); round > 0; round--) {
        for (uint64_t acts = machine_random(&machine, 6); acts > 0; acts--)
            machine_act(&machine);
        for (unsigned i = 0; i < 4; i++) {
            if (machine_random(&machine, 3) == 0)
                continue;
            walk_machine(tested[i], &machine);
            if (i == 0 && machine_is_honest(&machine))
                CHECK(true_frames(tested[i], &machine));
            if (machine_random(&machine, 5000) == 0) {
                memo_forget(&tested[i]->memo);
                tested[i]->depth = 0;
            }
        }
    }
    for (unsigned i = 0; i < 4; i++) {
        printf("failing %u/1000, room %u, %u words, limit %u: %llu frames stepped, %llu read "
               "again\n",
               failing_of_1000, tested[i]->memo.room, tested[i]->memo.words_room, tested[i]->limit,
               (unsigned long long)tested[i]->stepped, (unsigned long long)tested[i]->reread);
        CHECK(tested[i]->reread > 0);
        tested_free(tested[i]);
    }
    machine_free(&machine);
}

/* ---- how much is read again ---- */

static void call_plain(struct machine *machine, unsigned times) {
    for (; times > 0; times--)
        machine_call(machine, MACHINE_PLAIN);
    machine_go_on(machine);
}

static void return_from(struct machine *machine, unsigned times) {
    for (; times > 0; times--)
        machine_return(machine);
}

/* A frame is stepped when the walk arrives at it otherwise than the last time: what is new, and the
 * one inside of which the new ones came or went. */
static void test_savings(void) {
    struct machine machine;
    struct tested *t = tested_new(ROOM, 2 * ROOM, ROOM);
    machine_make(&machine, 7, 0);
    call_plain(&machine, 50);
    CHECK_UINT(walk_machine(t, &machine).stepped, 51);
    CHECK_UINT(walk_machine(t, &machine).stepped, 0);
    machine_go_on(&machine);
    CHECK_UINT(walk_machine(t, &machine).stepped, 1);
    call_plain(&machine, 3);
    struct memo_result result = walk_machine(t, &machine);
    CHECK_UINT(result.stepped, 4);
    CHECK_UINT(result.same, 51);
    return_from(&machine, 10);
    result = walk_machine(t, &machine);
    CHECK_UINT(result.stepped, 1);
    CHECK_UINT(result.same, 44);
    memo_forget(&t->memo);
    t->depth = 0;
    result = walk_machine(t, &machine);
    CHECK_UINT(result.stepped, 44);
    CHECK(result.cached < 44); /* only what came twice in this walk */
    CHECK_UINT(result.same, 0);
    tested_free(t);
    machine_free(&machine);
}

/* The same leaf at the same place, but called by another: only what is inside of the difference is
 * stepped, however the walk arrives there. */
static void test_other_callers(void) {
    struct machine machine;
    struct tested *t = tested_new(ROOM, 2 * ROOM, ROOM);
    machine_make(&machine, 11, 0);
    call_plain(&machine, 50);
    walk_machine(t, &machine);
    for (unsigned i = 0; i < 2000; i++) {
        return_from(&machine, 2);
        call_plain(&machine, 2);
        CHECK(walk_machine(t, &machine).stepped <= 3);
    }
    tested_free(t);
    machine_free(&machine);
}

static void test_limits(void) {
    struct machine machine;
    struct tested *t = tested_new(ROOM, 40, 50);
    machine_make(&machine, 13, 0);
    call_plain(&machine, 48);
    walk_machine(t, &machine);
    CHECK_UINT(walk_machine(t, &machine).stepped, 8); /* 40 frames and the root */
    call_plain(&machine, 1);
    CHECK_UINT(walk_machine(t, &machine).end, UNWIND_COMPLETE);
    call_plain(&machine, 1);
    CHECK_UINT(walk_machine(t, &machine).end, UNWIND_TRUNCATED);
    CHECK_UINT(t->memo.depth, 50);
    return_from(&machine, 1);
    CHECK_UINT(walk_machine(t, &machine).end, UNWIND_COMPLETE);
    t->limit = 0;
    CHECK_UINT(walk_machine(t, &machine).end, UNWIND_TRUNCATED);
    CHECK_UINT(t->memo.depth, 0);
    tested_free(t);
    machine_free(&machine);
}

/* A walk that comes to a remembered place without knowing the stack pointer, which happens to be
 * the same: what is further out need not be. */
static void test_unknown_sp(void) {
    struct machine machine;
    struct tested *t = tested_new(ROOM, 2 * ROOM, ROOM);
    struct unwind_env env;
    struct unwind_registers regs;
    machine_make(&machine, 17, 0);
    for (unsigned i = 0; i < 200; i++) {
        call_plain(&machine, 1);
        walk_machine(t, &machine);
        machine_env(&machine, &env);
        machine_registers(&machine, &regs);
        regs.known &= ~(1ull << ARCH_SP);
        walk(t, &env, &regs);
    }
    tested_free(t);
    machine_free(&machine);
}

/* ---- this very program ---- */

static struct tested *own;
static volatile unsigned sink;
static unsigned own_walks, own_complete;

static void on_signal(int number, siginfo_t *info, void *context) {
    struct unwind_env env = {.find = own_tables_find};
    struct unwind_registers regs;
    (void)number, (void)info;
    unwind_registers_of(&regs, context);
    own_stack(&env.low, &env.high);
    env.low = regs.reg[ARCH_SP];
    own_walks++;
    own_complete += walk(own, &env, &regs).end == UNWIND_COMPLETE;
}

static int by_value(const void *a, const void *b) {
    if (sink++ % 4 == 0)
        raise(SIGUSR1);
    return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void recurse(unsigned depth) {
    char room[96];
    memset(room, (int)depth, sizeof room);
    raise(SIGUSR1);
    if (depth > 0) {
        recurse(depth - 1);
        recurse(depth - 1);
    } else {
        int numbers[] = {5, 3, 9, 1};
        qsort(numbers, 4, sizeof numbers[0], by_value);
    }
    sink += (unsigned)room[depth % 96];
}

static void test_own_process(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = on_signal;
    own = tested_new(ROOM, 2 * ROOM, ROOM);
    sigaction(SIGUSR1, &action, NULL);
    recurse(9);
    printf("own process: %u walks, %llu frames stepped, %llu read again\n", own_walks,
           (unsigned long long)own->stepped, (unsigned long long)own->reread);
    CHECK(own_walks > 1000);
    CHECK_UINT(own_complete, own_walks);
    CHECK(own->reread > own->stepped);
    tested_free(own);
}

int main(void) {
    test_savings();
    test_other_callers();
    test_limits();
    test_unknown_sp();
    test_any_program(1, 0);
    test_any_program(2, 3);
    test_any_program(3, 40);
    test_own_process();
    own_tables_free();
    return check_report();
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * families_test.c - what children used while no hcctd saw them, by what the kernel has added to
 * their parents since a checkpoint: processes that live on, that have ended meanwhile, real ones.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/tree/summary.h"
#include "common/wire/compiler.h"
#include "daemon/ingest/families.h"
#include "daemon/ingest/process.h"
#include "tests/check.h"

#define MS 1000000ull

static void test_children_alone(void) {
    struct family_member member[] = {
        {.pid = 10, .there = true, .then = {1, 5 * MS, 40 * MS}, .children_ns = 100 * MS},
        {.pid = 11, .there = true, .then = {10, 5 * MS, 0}, .children_ns = 0},
    };
    families_balance(member, 2);
    CHECK_UINT(member[0].missed_ns, 60 * MS); /* 11 is still there: none of it is its */
    CHECK_UINT(member[1].missed_ns, 0);
}

/* What the checkpoint has of one that ended is not missing; what it has used since then is. */
static void test_one_has_ended(void) {
    struct family_member member[] = {
        {.pid = 10, .there = true, .then = {1, 5 * MS, 40 * MS}, .children_ns = 400 * MS},
        {.pid = 20, .there = false, .then = {10, 100 * MS, 30 * MS}},
    };
    families_balance(member, 2);
    CHECK_UINT(member[0].missed_ns, 230 * MS);
    CHECK_UINT(member[1].missed_ns, 0);
}

/* Its parent has ended, too: the grandparent has it. Others' orphans are nobody's. */
static void test_generations(void) {
    struct family_member member[] = {
        {.pid = 10, .there = true, .then = {1, 5 * MS, 0}, .children_ns = 300 * MS},
        {.pid = 20, .there = false, .then = {10, 10 * MS, 20 * MS}},
        {.pid = 30, .there = false, .then = {20, 40 * MS, 0}},
        {.pid = 40, .there = false, .then = {39, 1000 * MS, 0}},
        {.pid = 50, .there = false, .then = {51, 1000 * MS, 0}},
        {.pid = 51, .there = false, .then = {50, 1000 * MS, 0}}, /* a file may say that */
    };
    families_balance(member, HCCT_ARRAY_LEN(member));
    CHECK_UINT(member[0].missed_ns, 230 * MS);
    for (size_t i = 1; i < HCCT_ARRAY_LEN(member); i++)
        CHECK_UINT(member[i].missed_ns, 0);
}

/* A parent that ignores SIGCHLD has nothing of its children. */
static void test_never_below_nothing(void) {
    struct family_member member[] = {
        {.pid = 10, .there = true, .then = {1, 5 * MS, 50 * MS}, .children_ns = 60 * MS},
        {.pid = 20, .there = false, .then = {10, 100 * MS, 0}},
    };
    families_balance(member, 2);
    CHECK_UINT(member[0].missed_ns, 0);
    member[0].children_ns = 10 * MS; /* another clock, as it were */
    families_balance(member, 1);
    CHECK_UINT(member[0].missed_ns, 0);
    families_balance(member, 0);
}

/* ---- real ones ---- */

static void use(uint64_t ns) {
    struct timespec now;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec < ns);
}

static void have_a_child(uint64_t ns) {
    pid_t child = fork();
    if (child == 0) {
        use(ns);
        _exit(0);
    }
    CHECK(waitpid(child, NULL, 0) == child);
}

static struct process *restored(pid_t pid, const struct process_identity *identity,
                                const struct family *family, bool alone) {
    const struct mcct_params params = {.summary = &summary_exact, .epsilon = 0.001};
    struct process like = {.pid = pid, .runs = 1, .exe = strdup("/usr/bin/true")};
    like.identity = *identity;
    like.sampling.alone = alone;
    like.tree = mcct_new(&params);
    struct process *p = process_new_finished(&like);
    CHECK(p != NULL);
    p->waiting = true;
    p->family = *family;
    return p;
}

/* This process is one from a checkpoint, and has a child before and one after it. */
static void test_this_process(void) {
    struct family then;
    struct process_identity self, other;
    uint64_t children_ns = 1;
    CHECK(identity_read(getpid(), &self));
    CHECK(!families_missed(getpid(), self.start_ticks, &children_ns)); /* nobody has read it */
    CHECK_UINT(children_ns, 0);
    have_a_child(100 * MS);
    CHECK(family_read(getpid(), &then));
    CHECK(then.parent == getppid() && then.own_ns > 0);
    CHECK(then.children_ns >= 80 * MS);
    have_a_child(200 * MS);
    use(then.own_ns + 50 * MS);
    families_read_all();
    struct process *list[] = {restored(getpid(), &self, &then, false),
                              restored(getpid(), &self, &then, true),
                              restored(getpid(), &self, &(struct family){0}, false)};
    families_add_missed(list, HCCT_ARRAY_LEN(list));
    CHECK(list[0]->ended.gap_children_ns >= 180 * MS);
    CHECK(list[0]->ended.gap_children_ns < 2000 * MS);
    CHECK(list[0]->ended.gap_ns >= 40 * MS);
    CHECK_UINT(list[0]->ended.cpu_ns, list[0]->ended.gap_ns);
    CHECK_UINT(list[1]->ended.gap_children_ns, 0); /* its children are not profiled */
    CHECK(list[1]->ended.gap_ns >= 40 * MS);
    CHECK_UINT(list[2]->ended.gap_ns + list[2]->ended.gap_children_ns, 0); /* nothing is known */
    CHECK(!families_missed(getpid(), self.start_ticks, &children_ns)); /* it is of the checkpoint */
    /* its parent is none of that, and is asked for but once; another one of its number is not it */
    CHECK(identity_read(getppid(), &other));
    CHECK(!families_missed(getppid(), other.start_ticks + 1, &children_ns));
    CHECK(families_missed(getppid(), other.start_ticks, &children_ns));
    CHECK(!families_missed(getppid(), other.start_ticks, &children_ns));
    for (size_t i = 0; i < HCCT_ARRAY_LEN(list); i++)
        process_free(list[i]);
}

int main(void) {
    test_children_alone();
    test_one_has_ended();
    test_generations();
    test_never_below_nothing();
    test_this_process();
    return check_report();
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * agent_frames_test.c - frames of the agent between those of a program: what goes, what stays, and
 * that weights and bounds are the same.
 */
#include "tests/check.h"

#include <string.h>

#include "common/assemble/agent_frames.h"
#include "common/profile/tree_view.h"

#define LIBC   "/lib/libc.so.6"
#define APP    "/opt/app"
#define LOADER "/lib64/ld-linux-x86-64.so.2"

static const char *agent = "/usr/lib/hcct/libhcctagent.so";

struct world {
    struct profile *profile;
    uint32_t root, pruned;
};

static struct world begin(void) {
    const struct profile_process process = {.exe = APP, .command = "app", .runs = 1};
    struct world world = {.profile = profile_new()};
    world.root = profile_root(world.profile, profile_add_process(world.profile, &process));
    world.pruned = profile_add_pseudo(world.profile, PROFILE_PRUNED);
    return world;
}

static uint32_t add(struct world *world, uint32_t caller, const char *module, const char *name,
                    uint64_t count, uint64_t error) {
    struct profile *profile = world->profile;
    struct profile_line line = {.function = profile_add_function(profile, name, name, "", 0)};
    struct profile_location place = {.module = profile_add_module(profile, module, "ab"),
                                     .is_entry = true,
                                     .n_lines = 1,
                                     .lines = &line};
    return profile_add_node(profile, caller, profile_intern_location(profile, &place), count,
                            error);
}

/* "main > f > [hcct]" of each context with weight or error, and these: one a line. */
static void print(FILE *out, const struct profile *profile, uint32_t node) {
    const struct profile_node *it = &profile->nodes[node];
    if (it->parent == 0)
        return;
    print(out, profile, it->parent);
    fprintf(out, "%s%s", profile->nodes[it->parent].parent == 0 ? "" : " > ",
            tree_name(profile, node));
}

static void check_is(struct world *world, const char *want) {
    uint64_t total = profile_total(world->profile);
    struct profile *profile = agent_frames_hide(world->profile);
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *it = &profile->nodes[i];
        if (it->count == 0 && it->error == 0)
            continue;
        print(out, profile, i);
        fprintf(out, " %lu+%lu\n", (unsigned long)it->count, (unsigned long)it->error);
    }
    fclose(out);
    CHECK_STR(text, want);
    CHECK_UINT(profile_total(profile), total);
    free(text);
    profile_free(profile);
}

/* What a wrapper takes is its caller's, as one frame; what it calls for the program stays. */
static void test_wrapper(void) {
    struct world w = begin();
    uint32_t f = add(&w, w.root, APP, "f", 10, 0), masked = add(&w, f, agent, "masked", 1, 0);
    uint32_t enter = add(&w, masked, agent, "enter", 2, 3);
    uint32_t clock = add(&w, enter, LIBC, "clock_gettime", 4, 0);
    uint32_t close = add(&w, f, agent, "dlclose", 0, 0);
    add(&w, clock, "[vdso]", "__vdso_clock_gettime", 8, 1);
    add(&w, masked, LIBC, "write", 100, 0);
    add(&w, add(&w, close, LIBC, "dlclose", 0, 0), APP, "at_unload", 1000, 0);
    check_is(&w, "f 10+0\nf > [hcct] 15+4\nf > write 100+0\nf > dlclose > at_unload 1000+0\n");
}

/* The loader and libc call the agent for itself. A thread's start routine comes below it. */
static void test_ends(void) {
    struct world w = begin();
    uint32_t start = add(&w, w.root, LOADER, "_dl_init", 1, 0);
    uint32_t clone = add(&w, w.root, LIBC, "clone", 0, 0);
    uint32_t begun = add(&w, clone, agent, "start_posix", 4, 0);
    add(&w, add(&w, start, agent, "agent_start", 0, 0), LIBC, "getenv", 2, 0);
    add(&w, add(&w, begun, agent, "thread_begin", 0, 0), LIBC, "mmap", 8, 0);
    add(&w, begun, APP, "work", 16, 0);
    check_is(&w, "_dl_init 1+0\nclone > [hcct] 12+0\n_dl_init > [hcct] 2+0\nclone > work 16+0\n");
}

/* What is not kept stays below the caller that has it, or is the agent's where that is all. */
static void test_pruned(void) {
    struct world w = begin();
    uint32_t f = add(&w, w.root, APP, "f", 1, 0), masked = add(&w, f, agent, "masked", 0, 0);
    uint32_t enter = add(&w, masked, agent, "enter", 0, 0);
    uint32_t hidden = profile_add_node(w.profile, enter, w.pruned, 2, 0);
    add(&w, hidden, LIBC, "clock_gettime", 4, 0);
    add(&w, profile_add_node(w.profile, f, w.pruned, 0, 0), agent, "enter", 8, 0);
    check_is(&w, "f 1+0\nf > [hcct] 6+0\nf > [~] > [hcct] 8+0\n");
}

/* Where a process was attached to, and what stands before malloc and locks, too. */
static void test_others(void) {
    static const char *const others[] = {"/usr/lib/hcct/libhcctattach.so", "/opt/libhcctblocks.so",
                                         "libhcctlocks.so"};
    const char *usual = agent;
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
        agent = others[i];
        test_wrapper();
    }
    agent = usual;
}

static void test_nothing(void) {
    struct world w = begin();
    struct profile *same = w.profile;
    add(&w, w.root, APP, "f", 1, 0);
    CHECK(agent_frames_hide(same) == same);
    profile_free(same);
}

int main(void) {
    test_wrapper();
    test_ends();
    test_pruned();
    test_others();
    test_nothing();
    return check_report();
}

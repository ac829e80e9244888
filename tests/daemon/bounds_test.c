/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * bounds_test.c - what is shown of a tree that keeps a part of its contexts holds of all of them:
 * however contexts are grouped, whatever is cut, after a file and after a merge.
 *
 * A profile is made of a random tree twice, whole and with residuals for what a summary would have
 * forgotten.
 */
#include <stdlib.h>
#include <string.h>

#include "common/assemble/assemble.h"
#include "common/code/frame.h"
#include "common/code/module.h"
#include "common/profile/filter.h"
#include "tests/check.h"
#include "tests/daemon/shown.h"

#define CONTEXTS 400
#define ROUTINES 9
#define SEEDS    60

static uint64_t state;

static uint64_t draw(uint64_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % n;
}

/* ---- trees ---- */

/* Context 0 is the root; weight[i] is true, certain[i] what a counter is sure of. */
struct world {
    uint32_t parent[CONTEXTS], frame[CONTEXTS];
    uint64_t weight[CONTEXTS], certain[CONTEXTS];
    bool kept[CONTEXTS];
};

static uint32_t modules[2];

static void make_world(struct world *world) {
    bool lines = draw(2) == 0;
    uint64_t routine[CONTEXTS] = {0}, children[CONTEXTS] = {0};
    memset(world, 0, sizeof *world);
    world->kept[0] = true;
    for (uint32_t i = 1; i < CONTEXTS; i++) {
        uint32_t parent = i > 1 ? 1 + (uint32_t)draw(i - 1) : 0;
        uint64_t own = 1 + draw(ROUTINES), caller;
        struct frame_key key;
        while (parent != 0 && routine[parent] == 0) /* a place calls nobody */
            parent = world->parent[parent];
        caller = routine[parent];
        children[parent]++; /* no two contexts are the same */
        key = (struct frame_key){modules[own % 2], 0, 0x1000 * own, 0};
        if (parent != 0 && lines && draw(4) == 0) {
            own = 0;
            key = (struct frame_key){0, modules[caller % 2], 0,
                                     0x1000 * caller + 0x800 + children[parent]};
        } else if (parent != 0) {
            key.site_module = modules[caller % 2];
            key.site = 0x1000 * caller + 0x10 * children[parent];
        }
        routine[i] = own;
        world->parent[i] = parent;
        world->frame[i] = frame_intern(&key);
        world->weight[i] = draw(3) == 0 ? 0 : 1 + draw(draw(10) == 0 ? 1000 : 30);
        world->kept[i] = world->kept[parent] && draw(100) < 70;
        if (world->kept[i] && draw(4) != 0)
            world->certain[i] = draw(3) == 0 ? draw(world->weight[i] + 1) : world->weight[i];
    }
}

static uint32_t add(struct assemble_part *part, struct copied_node node) {
    uint32_t i = (uint32_t)part->copy.n++;
    part->copy.node[i] = node;
    return i;
}

static struct profile *assemble_part(struct assemble_part *part) {
    const struct assemble_params params = {.phi = 0.01, .epsilon = 0.002, .summary = "exact"};
    uint32_t *module_of;
    struct profile *profile = assemble_trees(part, 1, &params, &module_of);
    free(module_of);
    shown_name(profile);
    return profile;
}

/* The tree with all contexts, or with what is kept and residuals of the rest: below any caller, as
 * that one may have been the deepest that was kept when a context was forgotten. */
static struct profile *profile_of(const struct world *world, bool whole) {
    struct assemble_part part = {.process = {.exe = "/bin/x", .command = "x", .runs = 1}};
    uint32_t node[CONTEXTS] = {0};
    struct profile *profile;
    part.copy.node = calloc(2 * CONTEXTS + 1, sizeof *part.copy.node);
    add(&part, (struct copied_node){0});
    for (uint32_t i = 1; i < CONTEXTS; i++) {
        uint64_t rest = whole ? 0 : world->weight[i] - world->certain[i];
        uint64_t slack = rest > 0 ? rest + draw(10) : 0;
        uint32_t at = world->parent[i];
        part.copy.stats.total += world->weight[i];
        if (whole || world->kept[i])
            node[i] = add(&part, (struct copied_node){.parent = node[at],
                                                      .frame = world->frame[i],
                                                      .count = world->weight[i] - rest +
                                                               (world->certain[i] > 0 ? slack : 0),
                                                      .error = world->certain[i] > 0 ? slack : 0});
        if (rest == 0)
            continue;
        while (at != 0 && (!world->kept[at] || draw(3) == 0))
            at = world->parent[at];
        add(&part, (struct copied_node){.parent = node[at],
                                        .frame = draw(5) == 0 ? 0 : world->frame[i],
                                        .count = rest,
                                        .residual = true});
    }
    profile = assemble_part(&part);
    free(part.copy.node);
    return profile;
}

/* ---- tests ---- */

/* What is not known to be in focus may be. */
static void check_focus(const struct profile *part, const struct profile *whole) {
    struct profile *focus = profile_filter(part, "^f3$", NULL);
    struct profile *whole_focus = profile_filter(whole, "^f3$", NULL);
    CHECK(shown_is_true(focus, whole_focus));
    profile_free(focus);
    profile_free(whole_focus);
}

static void test_random(void) {
    struct world *world = malloc(sizeof *world);
    struct profile *last = NULL, *last_whole = NULL;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct profile *part, *whole, *back;
        state = seed * 0x9e3779b97f4a7c15u;
        make_world(world);
        part = profile_of(world, false);
        whole = profile_of(world, true);
        back = shown_through_file(part);
        CHECK(shown_is_true(part, whole));
        CHECK(shown_is_true(back, whole));
        check_focus(part, whole);
        if (last != NULL) {
            const struct profile *parts[] = {last, back}, *wholes[] = {last_whole, whole};
            struct profile *sum = shown_merged(parts, 2), *sum_whole = shown_merged(wholes, 2);
            CHECK(shown_is_true(sum, sum_whole));
            profile_free(sum);
            profile_free(sum_whole);
        }
        profile_free(part);
        profile_free(last);
        profile_free(last_whole);
        last = back;
        last_whole = whole;
    }
    profile_free(last);
    profile_free(last_whole);
    free(world);
}

/* A leaf has 99 % of all weight in contexts that are tiny each, most of which are forgotten. */
static void test_leaf(void) {
    struct assemble_part part = {.process = {.exe = "/bin/x", .command = "x", .runs = 1}};
    struct frame_key leaf = {modules[1], 0, 0x1000, 0};
    uint32_t callers[3000] = {0};
    struct profile *profile;
    part.copy.node = calloc(7000, sizeof *part.copy.node);
    add(&part, (struct copied_node){0});
    for (uint32_t i = 1; i < 3000; i++) {
        struct frame_key key = {modules[i % 2], 0, 0x1000 * (2 + i % 3), i};
        bool kept = i % 10 == 0;
        if (i < 20 || kept)
            callers[i] =
                add(&part, (struct copied_node){
                               .parent = callers[i / 2], .frame = frame_intern(&key), .count = 1});
        else
            callers[i] = callers[i / 2];
        add(&part, (struct copied_node){.parent = callers[i],
                                        .frame = frame_intern(&leaf),
                                        .count = i < 20 || kept ? 99 : 100,
                                        .residual = i >= 20 && !kept});
        part.copy.stats.total += 100;
    }
    profile = assemble_part(&part);
    free(part.copy.node);
    for (double phi = 0; phi < 0.9; phi = 2 * phi + 0.01) {
        struct shown shown;
        shown_make(&shown, profile_group(profile, PROFILE_BY_FUNCTION, phi));
        for (uint32_t i = 1; i < shown.profile->n_locations; i++) {
            const struct profile_location *place = &shown.profile->locations[i];
            if (strcmp(shown.profile->functions[place->lines[0].function].name, "f1") != 0)
                continue;
            CHECK(shown.flat[i].self >= profile_total(profile) / 100 * 99);
            CHECK_UINT(shown.flat[i].self, shown.flat[i].self_upper);
            CHECK(shown.flat[i].inclusive == shown.flat[i].self);
        }
        shown_free(&shown);
    }
    profile_free(profile);
}

int main(void) {
    modules[0] = module_intern_path("/nowhere/a.so");
    modules[1] = module_intern_path("/nowhere/x");
    test_random();
    test_leaf();
    return check_report();
}

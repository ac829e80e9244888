/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * assemble_test.c - trees with places in their routines (LEAF_PC) as profiles: what a routine
 * weighs stands where it was at work, and is nowhere lost.
 */
#include "common/assemble/assemble.h"

#include <stdlib.h>
#include <string.h>

#include "common/code/frame.h"
#include "common/code/module.h"
#include "common/render/render_order.h"
#include "common/wire/wire.h"
#include "tests/check.h"

#define PHI 0.1

static uint32_t module;
static struct copied_node nodes[64];
static struct assemble_part part;
static struct profile *profile;

/* ---- trees, by hand ---- */

static uint32_t add(uint32_t parent, uint32_t frame, uint64_t count, uint64_t error) {
    uint32_t i = (uint32_t)part.copy.n++;
    nodes[i] =
        (struct copied_node){.parent = parent, .frame = frame, .count = count, .error = error};
    part.copy.stats.total += count;
    return i;
}

static uint32_t routine(uint32_t parent, uint64_t entry, uint64_t site, uint64_t count) {
    struct frame_key key = {module, site != 0 ? module : 0, entry, site};
    return add(parent, frame_intern(&key), count, 0);
}

static uint32_t leaf_pc(uint32_t parent, uint64_t pc, uint64_t count) {
    struct frame_key key = {.site_module = pc != 0 ? module : 0, .site = pc};
    return add(parent, frame_intern(&key), count, 0);
}

static void begin(void) {
    part = (struct assemble_part){.copy = {.node = nodes},
                                  .process = {.exe = "/bin/x", .command = "x", .lines = true}};
    add(0, 0, 0, 0);
}

static bool elsewhere; /* contexts are written down, and added where the profile is rendered */

static void move_profile(char *order, size_t bytes) {
    struct render_order read;
    FILE *in = fmemopen(order, bytes, "r");
    profile_free(profile);
    CHECK(render_order_read(in, &read));
    profile = read.profile;
    fclose(in);
    free(order);
}

static void assemble_it(void) {
    struct assemble_params params = {.phi = PHI, .epsilon = 0.01, .summary = "exact"};
    char *order = NULL;
    size_t bytes;
    uint32_t *module_of;
    if (elsewhere)
        params.contexts = open_memstream(&order, &bytes);
    profile = assemble_trees(&part, 1, &params, &module_of);
    free(module_of);
    if (!elsewhere)
        return;
    CHECK_UINT(profile->n_nodes, 2);
    CHECK(render_order_write(formats, params.contexts, 0, profile, &format_default_options,
                             RENDER_AFTER));
    fclose(params.contexts);
    move_profile(order, bytes);
}

static void end(void) {
    profile_free(profile);
}

/* ---- the profile's nodes ---- */

#define ENTRY (1ull << 63) /* of a routine as a whole */

static uint32_t child(uint32_t parent, uint64_t place) {
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_location *l = &profile->locations[profile->nodes[i].location];
        if (profile->nodes[i].parent == parent && l->module != 0 &&
            (l->address | (l->is_entry ? ENTRY : 0)) == place)
            return i;
    }
    return 0;
}

/* The weight at the end of a path of places that 0 ends; UINT64_MAX: there is no such context. */
static uint64_t weight(const uint64_t *places) {
    uint32_t node = profile_root(profile, 1);
    for (; *places != 0; places++)
        if ((node = child(node, *places)) == 0)
            return UINT64_MAX;
    return profile->nodes[node].count;
}

#define WEIGHT(...) weight((const uint64_t[]){__VA_ARGS__, 0})

/* The frame for what is not known below a node, 0: there is none. */
static uint32_t hidden_below(uint32_t parent) {
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (profile->nodes[i].parent == parent &&
            profile_is_pruned(profile, profile->nodes[i].location))
            return i;
    return 0;
}

static uint64_t pruned_below(uint32_t parent) {
    return profile->nodes[hidden_below(parent)].count;
}

static uint64_t all_errors(void) {
    uint64_t sum = 0;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        sum += profile->nodes[i].error;
    return sum;
}

/* ---- tests ---- */

/* What a routine weighs stands at its places, however little that is, or at the routine as a whole;
 * what is certain of a counter is the count. */
static void test_places(void) {
    begin();
    uint32_t main_ = routine(0, 0x1000, 0, 0);
    uint32_t f = routine(main_, 0x2000, 0x1010, 5);
    nodes[leaf_pc(f, 0x2100, 60)].error = 6;
    leaf_pc(f, 0x2200, 50);
    uint32_t g = routine(f, 0x3000, 0x2020, 0);
    leaf_pc(g, 0x3100, 8);
    uint32_t h = routine(main_, 0x4000, 0x1030, 0);
    leaf_pc(h, 0x4100, 4);
    uint32_t k = routine(h, 0x5000, 0x4010, 0);
    leaf_pc(k, 0x5100, 870);
    leaf_pc(k, 0x5200, 3);
    assemble_it();
    CHECK_UINT(profile_total(profile), 1000);
    CHECK_UINT(all_errors(), 6);
    CHECK_UINT(WEIGHT(0x100f, 0x2100), 54);
    CHECK_UINT(WEIGHT(0x100f, 0x2200), 50);
    CHECK_UINT(WEIGHT(0x100f, 0x2000 | ENTRY), 5);
    CHECK_UINT(WEIGHT(0x100f, 0x201f, 0x3100), 8);
    CHECK_UINT(WEIGHT(0x102f, 0x4100), 4);
    CHECK_UINT(WEIGHT(0x102f, 0x400f, 0x5100), 870);
    CHECK_UINT(WEIGHT(0x102f, 0x400f, 0x5200), 3);
    CHECK_UINT(WEIGHT(0x102f, 0x400f, 0x5000 | ENTRY), UINT64_MAX);
    CHECK_UINT(pruned_below(profile_root(profile, 1)), 6); /* no residual has it */
    end();
}

static void residual(uint32_t caller, uint32_t frame, uint64_t count) {
    nodes[add(caller, frame, count, 0)].residual = true;
}

/* Residuals stand below their caller as a whole, with their leaf where that is known. */
static void test_residuals(void) {
    begin();
    uint32_t main_ = routine(0, 0x1000, 0, 10);
    uint32_t f = routine(main_, 0x2000, 0x1010, 0);
    struct frame_key leaf = {module, module, 0x3000, 0x2020},
                     place = {.site_module = module, .site = 0x4010};
    residual(f, frame_intern(&leaf), 500);
    residual(f, frame_intern(&place), 200);
    residual(main_, frame_intern(&leaf), 40);
    residual(main_, 0, 30);
    residual(0, frame_intern(&leaf), 20);
    residual(0, 0, 200);
    assemble_it();
    CHECK_UINT(profile_total(profile), 1000);
    uint32_t root = profile_root(profile, 1), at_f, at_main = child(root, 0x1000 | ENTRY);
    at_f = child(child(root, 0x100f), 0x2000 | ENTRY);
    CHECK_UINT(pruned_below(root), 200);
    CHECK_UINT(pruned_below(at_main), 30);
    CHECK_UINT(pruned_below(at_f), 0);
    CHECK_UINT(profile->nodes[child(hidden_below(root), 0x3000 | ENTRY)].count, 20);
    CHECK_UINT(profile->nodes[child(hidden_below(at_main), 0x3000 | ENTRY)].count, 40);
    CHECK_UINT(profile->nodes[child(hidden_below(at_f), 0x3000 | ENTRY)].count, 500);
    CHECK_UINT(profile->nodes[child(hidden_below(at_f), 0x4010)].count, 200);
    end();
}

/* The same weights without places: the same contexts, the same share of each routine. */
static void test_without(void) {
    begin();
    uint32_t main_ = routine(0, 0x1000, 0, 0);
    uint32_t f = routine(main_, 0x2000, 0x1010, 115);
    routine(f, 0x3000, 0x2020, 8);
    uint32_t h = routine(main_, 0x4000, 0x1030, 4);
    routine(h, 0x5000, 0x4010, 873);
    assemble_it();
    CHECK_UINT(profile_total(profile), 1000);
    CHECK_UINT(WEIGHT(0x100f, 0x2000 | ENTRY), 115);
    CHECK_UINT(WEIGHT(0x102f, 0x4000 | ENTRY), 4);
    CHECK_UINT(WEIGHT(0x102f, 0x400f, 0x5000 | ENTRY), 873);
    end();
}

/* Of code that no module has, generated for one, the place says nothing. */
static void test_unknown_place(void) {
    begin();
    leaf_pc(routine(0, 0x1000, 0, 0), 0, 1000);
    assemble_it();
    CHECK_UINT(WEIGHT(0x1000 | ENTRY), 1000);
    end();
}

/* Places where none can be: nothing breaks, and no weight is lost. */
static void test_lies(void) {
    begin();
    uint32_t at_root = leaf_pc(0, 0x100, 300);
    leaf_pc(at_root, 0x110, 200);
    uint32_t main_ = routine(0, 0x1000, 0, 100);
    uint32_t place = leaf_pc(main_, 0x1100, 10);
    uint32_t below = leaf_pc(place, 0x1200, 20);
    routine(place, 0x2000, 0x1010, 150);
    routine(below, 0x3000, 0x1020, 5);
    leaf_pc(add(0, FRAME_OVERFLOW, 0, 0), 0x100, 115);
    struct frame_key mark = {.routine = WIRE_PSEUDO_TRUNCATED};
    leaf_pc(add(0, frame_intern(&mark), 0, 0), 0x100, 100);
    assemble_it();
    CHECK_UINT(part.copy.stats.total, 1000);
    CHECK_UINT(profile_total(profile), 1000);
    end();
}

int main(void) {
    module = module_intern_path("/nowhere/program");
    for (int i = 0; i < 2; i++) {
        elsewhere = i == 1;
        test_places();
        test_residuals();
        test_without();
        test_unknown_place();
        test_lies();
    }
    return check_report();
}

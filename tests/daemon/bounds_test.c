/*
 * bounds_test.c - what is shown of a tree that keeps a part of its contexts holds of all of them:
 * however contexts are told apart, whatever is cut, after a file and after a merge.
 *
 * A random tree is frozen twice, whole and with residuals for what a summary would have forgotten.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/code/frame.h"
#include "daemon/code/module.h"
#include "daemon/freeze_tree.h"
#include "daemon/report/bounds.h"
#include "daemon/report/filter.h"
#include "daemon/report/format.h"
#include "daemon/report/merge.h"
#include "daemon/report/tree_view.h"
#include "tests/check.h"

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

    memset(world, 0, sizeof(*world));
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

static uint32_t add(struct freeze_part *part, struct copied_node node) {
    uint32_t i = (uint32_t)part->copy.n++;

    part->copy.node[i] = node;
    return i;
}

static void name_locations(struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_location place = profile->locations[i];
        struct profile_line line = {.line = place.is_entry ? 0 : (uint32_t)place.address};
        char name[32];

        if (place.n_lines > 0)
            continue;
        snprintf(name, sizeof(name), "f%u", (unsigned)(place.address / 0x1000));
        line.function = profile_add_function(profile, name, name, "", 0);
        profile_set_lines(profile, i, &line, 1);
    }
}

static struct profile *freeze_part(struct freeze_part *part) {
    const struct freeze_params params = {.phi = 0.01, .epsilon = 0.002, .summary = "exact"};
    uint32_t *module_of;
    struct profile *profile = freeze_trees(part, 1, &params, &module_of);

    free(module_of);
    name_locations(profile);
    return profile;
}

/* The tree with all contexts, or with what is kept and residuals of the rest: below any caller, as
 * that one may have been the deepest that was kept when a context was forgotten. */
static struct profile *profile_of(const struct world *world, bool whole) {
    struct freeze_part part = {.process = {.exe = "/bin/x", .command = "x", .runs = 1}};
    uint32_t node[CONTEXTS] = {0};
    struct profile *profile;

    part.copy.node = calloc(2 * CONTEXTS + 1, sizeof(*part.copy.node));
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
    profile = freeze_part(&part);
    free(part.copy.node);
    return profile;
}

/* ---- what is shown, and what is true ---- */

/* A profile grouped, with all that is said of it. */
struct shown {
    struct profile *profile;
    uint64_t *inclusive, *upper;
    struct profile_flat *flat;
    bool *hidden;
};

static void show(struct shown *shown, struct profile *profile) {
    shown->profile = profile;
    shown->inclusive = tree_inclusive(profile);
    shown->upper = tree_upper(profile, shown->inclusive);
    shown->flat = bounds_flat(profile, shown->inclusive);
    shown->hidden = profile_find_hidden(profile);
}

static void put_away(struct shown *shown) {
    free(shown->inclusive);
    free(shown->upper);
    free(shown->flat);
    free(shown->hidden);
    profile_free(shown->profile);
}

static bool same_place(const struct profile *a, uint32_t i, const struct profile *b, uint32_t k) {
    const struct profile_location *x = &a->locations[i], *y = &b->locations[k];

    return x->address == y->address && x->is_entry == y->is_entry && x->n_lines == 1 &&
           y->n_lines == 1 && x->lines[0].line == y->lines[0].line &&
           strcmp(a->functions[x->lines[0].function].name,
                  b->functions[y->lines[0].function].name) == 0;
}

/* By node of `a`: the same context in `b`, 0: there is none. */
static uint32_t *match_nodes(const struct profile *a, const struct profile *b) {
    uint32_t *match = calloc(a->n_nodes, sizeof(*match));

    for (uint32_t i = 1; i < a->n_nodes; i++) {
        const struct profile_node *x = &a->nodes[i];

        for (uint32_t k = 1; k < b->n_nodes && match[i] == 0; k++) {
            const struct profile_node *y = &b->nodes[k];

            if (x->parent == 0 ? y->parent == 0
                               : y->parent != 0 && match[x->parent] == y->parent &&
                                     same_place(a, x->location, b, y->location))
                match[i] = k;
        }
    }
    return match;
}

/* Told apart by places, a routine as a whole has what is below any place of it that is not known:
 * more than its own in the exact tree. */
static bool is_any_place(const struct profile *profile, uint32_t location, enum profile_by by) {
    return (by == PROFILE_BY_SITE || by == PROFILE_BY_LINE) &&
           profile->locations[location].is_entry;
}

static void check_nodes(const struct shown *shown, const struct shown *truth, enum profile_by by) {
    uint32_t *match = match_nodes(shown->profile, truth->profile);

    for (uint32_t i = 1; i < shown->profile->n_nodes; i++) {
        const struct profile_node *node = &shown->profile->nodes[i];
        uint64_t self = match[i] != 0 ? truth->profile->nodes[match[i]].count : 0;
        uint64_t inclusive = match[i] != 0 ? truth->inclusive[match[i]] : 0;

        if (shown->hidden[i])
            continue;
        CHECK(node->count <= self && self <= node->count + node->error);
        CHECK(is_any_place(shown->profile, node->location, by) || shown->inclusive[i] <= inclusive);
        CHECK(inclusive <= shown->upper[i]);
        CHECK(shown->upper[i] <= profile_total(shown->profile));
    }
    free(match);
}

static void check_flat(const struct shown *shown, const struct shown *truth, enum profile_by by) {
    for (uint32_t i = 1; i < shown->profile->n_locations; i++) {
        const struct profile_flat *flat = &shown->flat[i], *true_ = NULL;
        static const struct profile_flat none;

        if (profile_is_pruned(shown->profile, i) || (flat->upper == 0 && flat->self == 0))
            continue;
        for (uint32_t k = 1; k < truth->profile->n_locations && true_ == NULL; k++)
            if (same_place(shown->profile, i, truth->profile, k))
                true_ = &truth->flat[k];
        true_ = true_ != NULL ? true_ : &none;
        CHECK(flat->self <= true_->self && true_->self <= flat->self_upper);
        CHECK(is_any_place(shown->profile, i, by) || flat->inclusive <= true_->inclusive);
        CHECK(true_->inclusive <= flat->upper);
    }
}

static void check_shown(struct profile *profile, const struct shown *truth, enum profile_by by) {
    struct shown shown;

    show(&shown, profile);
    CHECK_UINT(profile_total(profile), profile_total(truth->profile));
    check_nodes(&shown, truth, by);
    check_flat(&shown, truth, by);
    put_away(&shown);
}

static void check_profile(const struct profile *profile, const struct profile *whole) {
    for (int by = PROFILE_BY_FUNCTION; by <= PROFILE_BY_MODULE; by++) {
        struct profile *grouped = profile_group(profile, (enum profile_by)by, 0);
        struct shown truth;

        show(&truth, profile_group(whole, (enum profile_by)by, 0));
        for (int percent = 1; percent < 60; percent = 3 * percent + 1)
            check_shown(profile_group(profile, (enum profile_by)by, percent / 100.0), &truth,
                        (enum profile_by)by);
        check_shown(profile_keep(grouped, 1), &truth, (enum profile_by)by);
        check_shown(profile_keep(grouped, 10), &truth, (enum profile_by)by);
        check_shown(grouped, &truth, (enum profile_by)by);
        put_away(&truth);
    }
}

/* ---- tests ---- */

static struct profile *through_file(const struct profile *profile) {
    struct format_options options = format_default_options;
    char *data = NULL, error[300];
    size_t bytes = 0;
    FILE *file = open_memstream(&data, &bytes);
    struct profile *back;

    CHECK(write_pprof(file, profile, &options));
    fclose(file);
    back = read_pprof(data, bytes, error, sizeof(error));
    CHECK(back != NULL);
    free(data);
    return back;
}

static struct profile *merged(const struct profile *a, const struct profile *b) {
    const struct profile *parts[] = {a, b};
    char error[300];
    size_t bad;

    return merge_profiles(parts, 2, &bad, error, sizeof(error));
}

/* What is not known to be in focus may be. */
static void check_focus(const struct profile *part, const struct profile *whole) {
    struct profile *focus = profile_filter(part, "^f3$", NULL);
    struct profile *whole_focus = profile_filter(whole, "^f3$", NULL);

    check_profile(focus, whole_focus);
    profile_free(focus);
    profile_free(whole_focus);
}

static void test_random(void) {
    struct world *world = malloc(sizeof(*world));
    struct profile *last = NULL, *last_whole = NULL;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct profile *part, *whole, *back;

        state = seed * 0x9e3779b97f4a7c15u;
        make_world(world);
        part = profile_of(world, false);
        whole = profile_of(world, true);
        back = through_file(part);
        check_profile(part, whole);
        check_profile(back, whole);
        check_focus(part, whole);
        if (last != NULL) {
            struct profile *sum = merged(last, back), *sum_whole = merged(last_whole, whole);

            check_profile(sum, sum_whole);
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
    struct freeze_part part = {.process = {.exe = "/bin/x", .command = "x", .runs = 1}};
    struct frame_key leaf = {modules[1], 0, 0x1000, 0};
    uint32_t callers[3000] = {0};
    struct profile *profile;

    part.copy.node = calloc(7000, sizeof(*part.copy.node));
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
    profile = freeze_part(&part);
    free(part.copy.node);
    for (double phi = 0; phi < 0.9; phi = 2 * phi + 0.01) {
        struct shown shown;

        show(&shown, profile_group(profile, PROFILE_BY_FUNCTION, phi));
        for (uint32_t i = 1; i < shown.profile->n_locations; i++) {
            const struct profile_location *place = &shown.profile->locations[i];

            if (strcmp(shown.profile->functions[place->lines[0].function].name, "f1") != 0)
                continue;
            CHECK(shown.flat[i].self >= profile_total(profile) / 100 * 99);
            CHECK_UINT(shown.flat[i].self, shown.flat[i].self_upper);
            CHECK(shown.flat[i].inclusive == shown.flat[i].self);
        }
        put_away(&shown);
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

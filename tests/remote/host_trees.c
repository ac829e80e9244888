/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * host_trees.c - hosts whose trees forget contexts, with streams whose weights are known.
 *
 *   host_trees make DIRECTORY SEED SUMMARY EPSILON BYTES
 *       Splits a stream over HOSTS hosts. At each of PUSHES moments a host has a file, as hcctd
 *       would answer: all that its bounded tree has had until then, HOST-PUSH.pb.gz; and what
 *       really came since the moment before, truth-HOST-PUSH.pb.gz. BYTES is the tree's cap, 0:
 * none. host_trees check FLEET.pb.gz TRUTH.pb.gz... Whether all that the first file shows holds of
 * the sum of the others: of each context, also of those that it does not have, of functions, lines
 * and modules. host_trees check-below LABEL FLEET.pb.gz TRUTH.pb.gz...: whether all that it has
 * below a label does, such as "host=h1".
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/assemble/assemble.h"
#include "common/code/frame.h"
#include "common/code/module.h"
#include "common/profile/bounds.h"
#include "common/profile/copy.h"
#include "common/render/format.h"
#include "common/tree/summary.h"
#include "tests/daemon/shown.h"
#include "tests/tree/world.h"

#define CONTEXTS 1200
#define ROUTINES 40
#define CREDITS  4000 /* of a host, from one push to the next */

/* Context 0 is the root. */
struct contexts {
    uint32_t parent[CONTEXTS], depth[CONTEXTS], frame[CONTEXTS];
};

struct host {
    struct mcct *tree;
    struct mcct_cursor cursor;
    uint32_t at;               /* context under the cursor */
    uint32_t order[CONTEXTS];  /* from its most frequent context on */
    uint64_t weight[CONTEXTS]; /* true, since the last push */
    uint64_t credits;
};

static struct rng rng;
static unsigned back, more_span; /* seconds */

/* ---- contexts ---- */

static void make_contexts(struct contexts *c) {
    uint32_t modules[] = {module_intern_path("/nowhere/a.so"), module_intern_path("/nowhere/x")};
    uint64_t routine[CONTEXTS] = {0}, children[CONTEXTS] = {0};
    memset(c, 0, sizeof *c);
    for (uint32_t i = 1; i < CONTEXTS; i++) {
        uint32_t parent = i > 2 ? 1 + (uint32_t)rng_below(&rng, i - 1) : i - 1;
        uint64_t caller = routine[parent];
        routine[i] = 1 + rng_below(&rng, ROUTINES);
        c->parent[i] = parent;
        c->depth[i] = c->depth[parent] + 1;
        struct frame_key key = {modules[routine[i] % 2], 0, 0x1000 * routine[i], 0};
        if (parent != 0) { /* each call of a context has a site of its own */
            key.site_module = modules[caller % 2];
            key.site = 0x1000 * caller + 8 * ++children[parent];
        }
        c->frame[i] = frame_intern(&key);
    }
}

/* ---- a host ---- */

/* Each has its own order, and never sees the last quarter of it. */
static void make_order(struct host *host) {
    for (uint32_t i = 0; i < CONTEXTS; i++)
        host->order[i] = i;
    for (uint32_t i = CONTEXTS - 1; i > 1; i--) {
        uint32_t k = 1 + (uint32_t)rng_below(&rng, i), was = host->order[i];
        host->order[i] = host->order[k];
        host->order[k] = was;
    }
}

static bool is_above(const struct contexts *c, uint32_t high, uint32_t low) {
    while (c->depth[low] > c->depth[high])
        low = c->parent[low];
    return low == high;
}

static void go_down(const struct contexts *c, struct host *host, uint32_t to) {
    if (to == host->at)
        return;
    go_down(c, host, c->parent[to]);
    mcct_push(&host->cursor, c->frame[to]);
    host->at = to;
}

static void go(const struct contexts *c, struct host *host, uint32_t to) {
    while (!is_above(c, host->at, to)) {
        mcct_pop(&host->cursor, 1);
        host->at = c->parent[host->at];
    }
    go_down(c, host, to);
}

/* Rank r comes about as often as 1/r says; what is frequent changes from push to push. */
static void run_host(const struct contexts *c, struct host *host, unsigned push) {
    uint32_t seen = CONTEXTS * 3 / 4 - 1;
    memset(host->weight, 0, sizeof host->weight);
    for (int i = 0; i < CREDITS; i++) {
        uint64_t most = 1 + rng_below(&rng, seen);
        uint32_t rank = (uint32_t)rng_below(&rng, 1 + rng_below(&rng, most));
        uint32_t context = host->order[1 + (rank + 17 * push) % seen];
        uint64_t weight = 1 + rng_below(&rng, rng_below(&rng, 20) == 0 ? 3000 : 20);
        go(c, host, context);
        mcct_credit(&host->cursor, weight);
        host->weight[context] += weight;
        host->credits++;
    }
}

/* ---- files ---- */

static void fail(const char *what, const char *why) {
    fprintf(stderr, "host_trees: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static void write_part(struct assemble_part *part, const char *name, unsigned push) {
    const struct assemble_params params = {.phi = 0.01, .epsilon = 0.01, .summary = "lazy"};
    uint32_t *module_of;
    part->process.exe = "/nowhere/x";
    part->process.command = "x";
    part->process.tags = "";
    part->process.collector = "calls";
    part->process.clock = "cpu";
    part->process.runs = 1;
    struct profile *profile = assemble_trees(part, 1, &params, &module_of);
    free(module_of);
    shown_name(profile);
    profile->time_ns = ((uint64_t)time(NULL) - 100 - push * back - more_span) * 1000000000;
    profile->duration_ns = (1 + push) * 10000000000 + more_span * 1000000000ull;
    FILE *out = fopen(name, "w");
    if (out == NULL || !write_pprof(out, profile, &format_default_options) || fclose(out) != 0)
        fail(name, "can't be written");
    profile_free(profile);
    tree_copy_free(&part->copy);
}

static void write_truth(const struct contexts *c, const struct host *host, const char *name,
                        unsigned push) {
    struct assemble_part part = {.process = {.walks = CREDITS}};
    part.copy.node = calloc(CONTEXTS, sizeof *part.copy.node);
    part.copy.n = CONTEXTS;
    for (uint32_t i = 1; i < CONTEXTS; i++) { /* parents have lower numbers */
        part.copy.node[i] = (struct copied_node){
            .parent = c->parent[i], .frame = c->frame[i], .count = host->weight[i]};
        part.copy.stats.total += host->weight[i];
    }
    write_part(&part, name, push);
}

static void push_host(const struct contexts *c, struct host *host, const char *directory,
                      unsigned number, unsigned push) {
    struct assemble_part part = {.process = {.walks = host->credits}};
    char name[4096];
    if (!tree_copy_take(&part.copy, host->tree))
        fail("a tree", "no memory");
    snprintf(name, sizeof name, "%s/%u-%u.pb.gz", directory, number, push);
    write_part(&part, name, push);
    snprintf(name, sizeof name, "%s/truth-%u-%u.pb.gz", directory, number, push);
    write_truth(c, host, name, push);
}

static int make(char **words, int n) {
    unsigned hosts = n > 5 ? (unsigned)strtoul(words[5], NULL, 10) : 4;
    unsigned pushes = n > 6 ? (unsigned)strtoul(words[6], NULL, 10) : 4;
    struct mcct_params params = {.summary = summary_find(words[2]),
                                 .epsilon = strtod(words[3], NULL),
                                 .max_bytes = strtoull(words[4], NULL, 10)};
    static struct contexts contexts;
    static struct host host;
    back = n > 7 ? (unsigned)strtoul(words[7], NULL, 10) : 0;
    more_span = n > 8 ? (unsigned)strtoul(words[8], NULL, 10) : 0;
    rng.state = params.seed = strtoull(words[1], NULL, 10);
    if (params.summary == NULL)
        fail(words[2], "no such summary");
    make_contexts(&contexts);
    for (unsigned number = 0; number < hosts; number++) {
        host = (struct host){.tree = mcct_new(&params)};
        if (host.tree == NULL)
            fail("a tree", "no memory");
        mcct_cursor_open(host.tree, &host.cursor);
        make_order(&host);
        for (unsigned push = 0; push < pushes; push++) {
            run_host(&contexts, &host, push);
            push_host(&contexts, &host, words[0], number, push);
        }
        mcct_free(host.tree);
    }
    return EXIT_SUCCESS;
}

/* ---- checking ---- */

static struct profile *read_file(const char *name) {
    FILE *file = fopen(name, "r");
    char *data = malloc(1 << 24), error[300] = "can't be read";
    size_t bytes = file != NULL && data != NULL ? fread(data, 1, 1 << 24, file) : 0;
    struct profile *profile = bytes > 0 ? format_read(data, bytes, error, sizeof error) : NULL;
    if (profile == NULL)
        fail(name, error);
    free(data);
    fclose(file);
    return profile;
}

/* The context of `truth` in `fleet`, which gets those that it lacks, with no weight. */
static uint32_t same_node(struct profile *fleet, const struct profile *truth, uint32_t node) {
    const struct profile_node *it = &truth->nodes[node];
    const struct profile_location *place = &truth->locations[it->location];
    if (it->parent == 0)
        return profile_root(fleet, 1);
    uint32_t parent = same_node(fleet, truth, it->parent);
    const struct profile_module *module = &truth->modules[place->module];
    const struct profile_function *function = &truth->functions[place->lines[0].function];
    struct profile_line line = {.line = place->lines[0].line};
    struct profile_location copy = {.address = place->address, .is_entry = place->is_entry};
    copy.module = profile_add_module(fleet, module->path, module->build_id);
    line.function =
        profile_add_function(fleet, function->name, function->system_name, function->file, 0);
    copy.n_lines = 1;
    copy.lines = &line;
    return profile_add_node(fleet, parent, profile_intern_location(fleet, &copy), 0, 0);
}

/* Each context that there is, whether the fleet knows it or not, weighs what it may. */
static bool check_all(struct profile *fleet, const struct profile *truth) {
    uint32_t *node = calloc(truth->n_nodes, sizeof *node), missing = 0, n = 0;
    bool good = true;
    for (uint32_t i = 1; i < truth->n_nodes; i++)
        node[i] = same_node(fleet, truth, i);
    uint64_t *more = bounds_self(fleet);
    for (uint32_t i = 1; i < truth->n_nodes; i++) {
        uint64_t weight = truth->nodes[i].count, low = fleet->nodes[node[i]].count;
        missing += weight > 0 && low == 0;
        n += weight > 0;
        if (low <= weight && weight <= low + more[node[i]])
            continue;
        fprintf(stderr, "context %u: %llu is not in [%llu, %llu]\n", (unsigned)i,
                (unsigned long long)weight, (unsigned long long)low,
                (unsigned long long)(low + more[node[i]]));
        good = false;
    }
    printf("%u contexts, %u of them without a count\n", (unsigned)n, (unsigned)missing);
    free(more);
    free(node);
    return good;
}

static bool is_label(const struct profile *profile, uint32_t node, const char *label) {
    const struct profile_location *place = &profile->locations[profile->nodes[node].location];
    return strcmp(profile->modules[place->module].path, PROFILE_LABELS) == 0 &&
           strcmp(profile->functions[place->lines[0].function].name, label) == 0;
}

static struct profile *begin_one(const struct profile *from) {
    struct profile *to = profile_new();
    struct profile_process process = from->processes[1];
    process.total = 0;
    to->type = profile_string(to, from->type);
    to->unit = profile_string(to, from->unit);
    profile_add_process(to, &process);
    return to;
}

/* All services as one; with a label, what stands below it, right below the root. */
static struct profile *as_one(const struct profile *from, const char *label) {
    struct profile *to = begin_one(from);
    uint32_t *node = calloc(from->n_nodes, sizeof *node);
    for (uint32_t i = 1; i < from->n_nodes; i++) {
        const struct profile_node *it = &from->nodes[i];
        bool is_top = it->parent != 0 && from->nodes[it->parent].parent == 0;
        if (label == NULL ? it->parent == 0 : is_top && is_label(from, i, label))
            node[i] = profile_root(to, 1);
        else if (node[it->parent] != 0)
            node[i] =
                profile_add_node(to, node[it->parent], copy_location(to, from, it->location), 0, 0);
        if (node[i] == 0)
            continue;
        copy_weight(&to->nodes[node[i]], it);
        to->processes[1].total += it->count;
    }
    if (from->n_processes > 2 && label == NULL) /* a context may be in [~] of another service */
        bounds_set_errors(to);
    free(node);
    return to;
}

/* `label`: NULL, or what has to stand above. */
static int check(int n, char **names, const char *label) {
    const struct profile *file = as_one(read_file(names[0]), label);
    struct profile *fleet = shown_merged(&file, 1), *truth;
    const struct profile **parts = calloc((size_t)n, sizeof(struct profile *));
    for (int i = 1; i < n; i++)
        parts[i - 1] = read_file(names[i]);
    truth = shown_merged(parts, (size_t)n - 1);
    if (truth == NULL || fleet == NULL)
        fail("truth", "does not add up");
    bool good = shown_is_true(fleet, truth);
    good = check_all(fleet, truth) && good;
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
    if (argc >= 7 && strcmp(argv[1], "make") == 0)
        return make(argv + 2, argc - 2);
    if (argc > 3 && strcmp(argv[1], "check") == 0)
        return check(argc - 2, argv + 2, NULL);
    if (argc > 4 && strcmp(argv[1], "check-below") == 0)
        return check(argc - 3, argv + 3, argv[2]);
    fail("say", "make DIRECTORY SEED SUMMARY EPSILON BYTES, or check[-below LABEL] FLEET TRUTH...");
}

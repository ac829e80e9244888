/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * since_test.c - hosts that keep bounded trees send what came since the last time; the sum of all
 * that was sent bounds the truth of every context, in any part of the time.
 */
#include "tests/check.h"

#include "common/profile/merge.h"
#include "common/profile/since.h"
#include "tests/report/forest.h"

#define HOSTS  4
#define PUSHES 5
#define ROUNDS 150

/* A tree that forgets: what a context had counted when it was given up stands with its deepest
 * caller that is kept, by function or (function 0) without. */
struct host {
    struct forest truth; /* all that arrived */
    bool kept[FOREST_CONTEXTS];
    uint64_t counted[FOREST_CONTEXTS];
    uint64_t hidden[FOREST_CONTEXTS][FOREST_CONTEXTS]; /* caller, function */
};

static uint32_t kept_caller(const struct host *host, uint32_t context) {
    do
        context = host->truth.parent[context];
    while (context != 0 && !host->kept[context]);
    return context;
}

static bool has_kept_below(const struct host *host, uint32_t context) {
    for (uint32_t i = context + 1; i < FOREST_CONTEXTS; i++)
        if (host->kept[i] && kept_caller(host, i) == context)
            return true;
    return false;
}

static void keep(struct host *host, uint32_t context) {
    for (; context != 0 && !host->kept[context]; context = host->truth.parent[context])
        host->kept[context] = true;
}

static void arrive(struct host *host, uint64_t *seed) {
    uint32_t context = 1 + (uint32_t)forest_random(seed, FOREST_CONTEXTS - 1);
    uint64_t weight = 1 + forest_random(seed, 50);
    host->truth.weight[context] += weight;
    if (!host->kept[context] && forest_random(seed, 3) == 0)
        keep(host, context);
    if (host->kept[context])
        host->counted[context] += weight;
    else
        host->hidden[kept_caller(host, context)][forest_random(seed, 4) == 0 ? 0 : context] +=
            weight;
}

static void give_up(struct host *host, uint64_t *seed) {
    uint32_t context = 1 + (uint32_t)forest_random(seed, FOREST_CONTEXTS - 1);
    uint32_t caller = kept_caller(host, context);
    if (!host->kept[context] || has_kept_below(host, context))
        return;
    host->kept[context] = false;
    host->hidden[caller][context] += host->counted[context];
    host->counted[context] = 0;
    for (uint32_t i = 0; i < FOREST_CONTEXTS; i++) {
        host->hidden[caller][i] += host->hidden[context][i];
        host->hidden[context][i] = 0;
    }
}

/* A function has a place of its own for each of its callees, and one (0) for all else. */
static uint32_t location_of(struct profile *profile, uint32_t context, uint32_t callee) {
    uint32_t module = profile_add_module(profile, "/opt/a/app", "c0ffee");
    uint32_t location =
        profile_add_location(profile, module, 0x1000 * (context + 1ull) + callee, callee == 0);
    struct profile_line line;
    char name[16];
    snprintf(name, sizeof name, "f%u", (unsigned)context);
    line = (struct profile_line){.function = profile_add_function(profile, name, name, "", 0)};
    profile_set_lines(profile, location, &line, 1);
    return location;
}

static uint32_t node_of(struct profile *profile, const struct host *host, uint32_t context,
                        uint32_t callee) {
    if (context == 0)
        return profile_root(profile, 1);
    return profile_add_node(profile, node_of(profile, host, host->truth.parent[context], context),
                            location_of(profile, context, callee), 0, 0);
}

static struct profile *snapshot(const struct host *host, uint64_t time) {
    struct profile *profile = profile_new();
    uint32_t pruned = profile_add_pseudo(profile, PROFILE_PRUNED);
    profile->type = profile_string(profile, "calls");
    profile->unit = profile_string(profile, "count");
    profile->time_ns = 1000, profile->duration_ns = time - 1000;
    profile_add_process(profile, &(struct profile_process){.exe = "/opt/a/app",
                                                           .command = "app",
                                                           .collector = "calls",
                                                           .walks = time,
                                                           .total = forest_total(&host->truth)});
    for (uint32_t i = 0; i < FOREST_CONTEXTS; i++) {
        uint32_t node = i == 0 || host->kept[i] ? node_of(profile, host, i, 0) : 0;
        if (node != 0)
            profile->nodes[node].count += host->counted[i];
        for (uint32_t k = 0; node != 0 && k < FOREST_CONTEXTS; k++) {
            if (host->hidden[i][k] == 0)
                continue;
            uint32_t at = profile_add_node(profile, node, pruned, 0, 0);

            if (k != 0)
                at = profile_add_node(profile, at, location_of(profile, k, 0), 0, 0);
            profile->nodes[at].count += host->hidden[i][k];
        }
    }
    return profile;
}

static void check_bounds(const struct profile *sum, const struct forest *truth) {
    uint64_t count[FOREST_CONTEXTS] = {0}, wrong = 0;
    for (uint32_t i = 1; i < sum->n_nodes; i++)
        count[forest_context(sum, i)] += sum->nodes[i].count;
    for (uint32_t i = 1; i < FOREST_CONTEXTS; i++)
        wrong += count[i] > truth->weight[i] ||
                 truth->weight[i] > count[i] + forest_hidden(truth, sum, i);
    CHECK_UINT(wrong, 0);
    CHECK_UINT(profile_total(sum), forest_total(truth));
}

static void run_host(struct host *host, uint64_t *seed, struct profile *sent[PUSHES],
                     struct forest grown[PUSHES]) {
    struct profile *last = NULL;

    for (int k = 0; k < PUSHES; k++) {
        char error[256] = "";
        uint64_t excess = 1;
        grown[k] = host->truth;
        for (uint64_t n = forest_random(seed, 300); n > 0; n--) {
            arrive(host, seed);
            give_up(host, seed);
        }
        for (uint32_t i = 1; i < FOREST_CONTEXTS; i++)
            grown[k].weight[i] = host->truth.weight[i] - grown[k].weight[i];
        struct profile *now = snapshot(host, 2000 + 100 * (uint64_t)k);

        sent[k] = since_make(last, now, &excess, error, sizeof error);
        CHECK_STR(error, "");
        CHECK_UINT(excess, 0);
        CHECK_UINT(sent[k]->processes[1].total, forest_total(&grown[k]));
        CHECK_UINT(sent[k]->processes[1].walks, k == 0 ? 2000 : 100);
        CHECK_UINT(sent[k]->duration_ns, k == 0 ? 1000 : 100);
        check_bounds(sent[k], &grown[k]);
        profile_free(last);
        last = now;
    }
    profile_free(last);
}

/* Any choice of pushes of any hosts; some hosts have nothing at all. */
static void test_fleet(uint64_t *seed) {
    static struct host hosts[HOSTS];
    struct profile *sent[HOSTS * PUSHES], *chosen[HOSTS * PUSHES];
    static struct forest grown[HOSTS * PUSHES];
    struct forest shape, truth;
    size_t n = 0, bad;
    char error[256] = "";
    forest_grow(&shape, seed, 1);
    memset(shape.weight, 0, sizeof shape.weight);
    truth = shape;
    for (int h = 0; h < HOSTS; h++) {
        hosts[h] = (struct host){.truth = shape};
        run_host(&hosts[h], seed, &sent[h * PUSHES], &grown[h * PUSHES]);
    }
    for (int i = 0; i < HOSTS * PUSHES; i++) {
        if (i > 0 && forest_random(seed, 3) == 0)
            continue;
        chosen[n++] = sent[i];
        for (uint32_t k = 1; k < FOREST_CONTEXTS; k++)
            truth.weight[k] += grown[i].weight[k];
    }
    struct profile *sum =
        merge_profiles((const struct profile *const *)chosen, n, &bad, error, sizeof error);

    CHECK_STR(error, "");
    check_bounds(sum, &truth);
    profile_free(sum);
    for (int i = 0; i < HOSTS * PUSHES; i++)
        profile_free(sent[i]);
}

/* A process that is gone has nothing new; a new one has all of its weight. */
static void test_processes(void) {
    struct host host = {.truth = {.parent = {0}}};
    struct profile *before, *after, *sent;
    char error[256] = "";
    uint64_t excess, seed = 5;
    arrive(&host, &seed);
    before = snapshot(&host, 2000);
    after = snapshot(&host, 2100);
    after->processes[1].exe = profile_string(after, "/opt/a/other");
    sent = since_make(before, after, &excess, error, sizeof error);
    CHECK_STR(error, "");
    CHECK_UINT(excess, 0);
    CHECK_UINT(sent->n_processes, 2);
    CHECK_UINT(profile_total(sent), profile_total(after));
    profile_free(sent);
    after->type = profile_string(after, "cpu");
    CHECK(since_make(before, after, &excess, error, sizeof error) == NULL);
    CHECK(error[0] != '\0');
    profile_free(before);
    profile_free(after);
}

int main(void) {
    uint64_t seed = 20;
    for (int i = 0; i < ROUNDS; i++)
        test_fleet(&seed);
    test_processes();
    return check_report();
}

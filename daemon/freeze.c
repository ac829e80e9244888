/*
 * freeze.c - copy a tree under its lock, prune the copy, lay it out as places in the code.
 *
 * Tree:     main --(site s1 in main)--> f --(site s2 in f)--> g
 * Profile:  main@s1 > f@s2 > g          the path of g's own weight
 *           main@s1 > f                 the path of f's own weight
 *
 * Pruning is that of the article's query (section 3.3): a node stays when it is monitored with a
 * count of at least floor(phi * N), or has such a descendant; the weight of what goes is added up
 * in one pseudo-frame below the nearest ancestor that stays, so that all weights still add up to N.
 */
#include "daemon/freeze.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire.h"
#include "daemon/code/frame.h"
#include "daemon/code/jit_names.h"
#include "daemon/code/module.h"

struct copied {
    uint32_t node;   /* in the tree */
    uint32_t parent; /* index in the copy */
    uint32_t frame;
    bool hot; /* it or a descendant is */
    uint64_t count, error;
    uint32_t place; /* node of the profile below which its own weight stands */
};

struct copy {
    struct copied *node;
    size_t n, room;
    uint32_t *index_of; /* by tree node */
    uint32_t index_room;
    bool failed;
};

struct freezer {
    struct profile *profile;
    uint32_t *module_of, *profile_module; /* profile index -> id, id -> profile index */
    uint32_t module_of_room, profile_module_room;
};

/* ---- copy ---- */

static bool remember(struct copy *copy, uint32_t tree_node, uint32_t index) {
    if (tree_node >= copy->index_room) {
        uint32_t room =
            tree_node + 1024 > 2 * copy->index_room ? tree_node + 1024 : 2 * copy->index_room;
        uint32_t *grown = realloc(copy->index_of, room * sizeof *grown);
        if (grown == NULL)
            return false;
        copy->index_of = grown;
        copy->index_room = room;
    }
    copy->index_of[tree_node] = index;
    return true;
}

static bool visit(void *arg, uint32_t node, const struct mcct_view *view) {
    struct copy *copy = arg;
    if (copy->n == copy->room) {
        size_t room = copy->room != 0 ? 2 * copy->room : 1024;
        struct copied *grown = realloc(copy->node, room * sizeof *grown);
        if (grown == NULL) {
            copy->failed = true;
            return false;
        }
        copy->node = grown;
        copy->room = room;
    }
    copy->node[copy->n] = (struct copied){
        .node = node,
        .parent = view->parent != 0 ? copy->index_of[view->parent] : 0,
        .frame = view->frame,
        .count = view->monitored ? view->count : 0,
        .error = view->monitored ? view->error : 0,
    };
    copy->failed = !remember(copy, node, (uint32_t)copy->n);
    copy->n++;
    return !copy->failed;
}

static void copy_tree(struct process *process, struct copy *copy, struct mcct_stats *stats) {
    memset(copy, 0, sizeof *copy);
    pthread_mutex_lock(&process->lock);
    mcct_stats(process->tree, stats);
    bool whole = mcct_walk(process->tree, visit, copy);
    pthread_mutex_unlock(&process->lock);
    if (!whole || copy->failed)
        profile_die("no memory to copy a tree");
}

static void mark_hot(struct copy *copy, double phi, uint64_t total) {
    uint64_t threshold = (uint64_t)(phi * (double)total);
    for (size_t i = copy->n; i-- > 0;) { /* children come after their parents */
        struct copied *c = &copy->node[i];
        if (c->count > 0 && c->count >= threshold)
            c->hot = true;
        if (c->hot)
            copy->node[c->parent].hot = true;
    }
}

/* ---- places ---- */

static void *grow(void *array, uint32_t *room, uint32_t need) {
    if (need < *room)
        return array;
    uint32_t n = need + 64;
    uint32_t *grown = realloc(array, n * sizeof *grown);
    if (grown == NULL)
        profile_die("no memory for a profile's modules");
    memset(grown + *room, 0, (n - *room) * sizeof *grown);
    *room = n;
    return grown;
}

static uint32_t module_index(struct freezer *f, uint32_t id) {
    struct module_info info;
    if (id == 0 || !module_get(id, &info))
        return 0;
    f->profile_module = grow(f->profile_module, &f->profile_module_room, id);
    if (f->profile_module[id] != 0)
        return f->profile_module[id];
    char hex[2 * MODULE_BUILD_ID_MAX + 1] = "";
    for (unsigned i = 0; i < info.build_id_len; i++)
        snprintf(hex + 2 * i, 3, "%02x", info.build_id[i]);
    uint32_t index = profile_add_module(f->profile, info.is_vdso ? "[vdso]" : info.path, hex);
    f->module_of = grow(f->module_of, &f->module_of_room, index);
    f->module_of[index] = id;
    f->profile_module[id] = index;
    return index;
}

static const char *const mark_names[WIRE_PSEUDO_MAX] = {
    [0] = "[unknown]",
    [WIRE_PSEUDO_TRUNCATED] = "[deeper than the frame limit]",
    [WIRE_PSEUDO_NO_MODULE] = "[called from generated code]",
    [WIRE_PSEUDO_NO_RULE] = "[no unwind rule]",
    [WIRE_PSEUDO_BAD_STACK] = "[unreadable stack]",
};

static bool get_key(uint32_t frame, struct frame_key *key) {
    return frame != FRAME_OVERFLOW && frame_get(frame, key);
}

static bool is_mark(const struct frame_key *key) {
    return key->routine_module == 0 && key->routine < WIRE_PSEUDO_MAX;
}

static uint32_t mark_place(struct freezer *f, uint64_t mark) {
    const char *name = mark_names[mark];
    return profile_add_pseudo(f->profile, name != NULL ? name : mark_names[0]);
}

/* A generated function is its name: its addresses mean nothing outside its process. */
static uint32_t jit_place(struct freezer *f, uint64_t number) {
    const char *name = jit_name((uint32_t)number);
    struct profile_line line = {.function = profile_add_function(f->profile, name, name, "", 0)};
    struct profile_location location = {.module = profile_add_module(f->profile, "[jit]", ""),
                                        .is_entry = true,
                                        .n_lines = 1,
                                        .lines = &line};
    return profile_intern_location(f->profile, &location);
}

/* The place of a frame's own weight: the routine as a whole. */
static uint32_t routine_place(struct freezer *f, uint32_t frame) {
    struct frame_key key;
    if (!get_key(frame, &key))
        return profile_add_pseudo(f->profile, "[too many frames]");
    if (is_mark(&key))
        return mark_place(f, key.routine);
    if (key.routine_module == MODULE_JIT)
        return jit_place(f, key.routine);
    return profile_add_location(f->profile, module_index(f, key.routine_module), key.routine, true);
}

static uint32_t site_place(struct freezer *f, const struct frame_key *key) {
    if (key->site_module == MODULE_JIT)
        return jit_place(f, key->site);
    return profile_add_location(f->profile, module_index(f, key->site_module), key->site - 1,
                                false);
}

/* The profile node below which a child's weight stands: its parent, at the call site. */
static uint32_t place_below(struct freezer *f, const struct copy *copy, const struct copied *c) {
    const struct copied *parent = &copy->node[c->parent];
    struct frame_key key, parent_key;
    if (c->parent == 0)
        return parent->place;
    bool at_mark = get_key(parent->frame, &parent_key) && is_mark(&parent_key);
    if (at_mark || !get_key(c->frame, &key) || key.site == 0)
        return profile_add_node(f->profile, parent->place, routine_place(f, parent->frame), 0, 0);
    uint32_t place = site_place(f, &key);
    return profile_add_node(f->profile, parent->place, place, 0, 0);
}

static void lay_out(struct freezer *f, struct copy *copy, uint32_t root, uint64_t total) {
    uint32_t pruned = profile_add_pseudo(f->profile, PROFILE_PRUNED);
    uint64_t placed = 0;
    copy->node[0].place = root;
    for (size_t i = 1; i < copy->n; i++) {
        struct copied *c = &copy->node[i];
        const struct copied *parent = &copy->node[c->parent];
        placed += c->count;
        if (c->hot) {
            c->place = place_below(f, copy, c);
            if (c->count > 0)
                profile_add_node(f->profile, c->place, routine_place(f, c->frame), c->count,
                                 c->error);
            continue;
        }
        /* all that is pruned below one routine goes to one frame beside its own weight */
        c->place = parent->place;
        if (parent->hot && c->parent != 0)
            c->place =
                profile_add_node(f->profile, parent->place, routine_place(f, parent->frame), 0, 0);
        if (c->count > 0)
            profile_add_node(f->profile, c->place, pruned, c->count, c->error);
    }
    if (placed < total) /* a merge or the memory limit took contexts out of the tree */
        profile_add_node(f->profile, root, pruned, total - placed, 0);
}

/* ---- processes ---- */

static const char *const clock_names[WIRE_CLOCKS] = {
    [WIRE_CLOCK_CPU] = "cpu", [WIRE_CLOCK_WALL] = "wall", [WIRE_CLOCK_PERF] = "perf"};

static void describe(struct process *process, const struct mcct_stats *tree,
                     struct profile_process *out) {
    struct process_stats stats;
    process_get_stats(process, &stats);
    *out = (struct profile_process){
        .exe = process->exe,
        .command = process->command,
        .pid = (uint32_t)process->pid,
        .runs = process->runs,
        .live = process->live,
        .total = tree->total,
        .cpu_ns = stats.cpu_ns,
        .clock = clock_names[process->sampling.clock],
        .burst_length_ns = process->sampling.burst_length_ns,
        .burst_period_ns = process->sampling.burst_period_ns,
        .walks = stats.counter[WIRE_WALKS] + stats.ships.credited,
        .complete = stats.counter[WIRE_COMPLETE] + stats.ships.complete,
        .truncated = stats.counter[WIRE_TRUNCATED] + stats.ships.truncated,
        .no_module = stats.counter[WIRE_NO_MODULE] + stats.ships.no_module,
        .no_rule = stats.counter[WIRE_NO_RULE] + stats.ships.no_rule,
        .bad_stack = stats.counter[WIRE_BAD_STACK] + stats.ships.bad_stack,
        .shipped = stats.ships.credited,
        .refused = stats.ships.refused,
        .lost = stats.counter[WIRE_LOST],
        .handler_ns = stats.counter[WIRE_HANDLER_NS],
        .frames = stats.counter[WIRE_FRAMES],
        .stepped = stats.counter[WIRE_STEPPED],
        .cached = stats.counter[WIRE_CACHED],
        .by_fp = stats.counter[WIRE_BY_FP],
        .bursts = stats.counter[WIRE_BURSTS],
        .asleep = stats.counter[WIRE_ASLEEP],
        .restarted = stats.counter[WIRE_RESTARTED],
        .checked = stats.counter[WIRE_CHECKED],
        .different = stats.counter[WIRE_DIFFERENT],
        .identifiers = stats.counter[WIRE_IDENTIFIERS],
        .ambiguous = stats.counter[WIRE_AMBIGUOUS],
        .recurred = stats.counter[WIRE_RECURRED],
        .identified = stats.counter[WIRE_IDENTIFIED],
        .perf_refused = stats.perf_refused,
        .fine_refused = stats.fine_refused,
        .contexts = tree->nodes - 1,
        .monitored = tree->monitored,
        .unseen = tree->unseen,
        .bytes = tree->bytes,
        .capped = tree->capped,
        .threads = stats.threads,
    };
}

/* Weight of one walk at the rate that was asked for. */
static uint64_t period_of(struct process *process) {
    struct process_stats stats;
    process_get_stats(process, &stats);
    return stats.rate > 0 ? 1000000000u / stats.rate : 0;
}

static void describe_profile(struct profile *profile, struct process *const *processes, size_t n,
                             const struct freeze_params *params) {
    uint64_t first = UINT64_MAX, last_mono = 0, first_mono = UINT64_MAX;
    size_t n_wall = 0;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    for (size_t i = 0; i < n; i++) {
        const struct process *p = processes[i];
        n_wall += p->sampling.clock == WIRE_CLOCK_WALL;
        uint64_t end = p->live ? now_ns : p->ended_mono_ns;
        first = p->since_ns < first ? p->since_ns : first;
        first_mono = p->since_mono_ns < first_mono ? p->since_mono_ns : first_mono;
        last_mono = end > last_mono ? end : last_mono;
    }
    profile->type = profile_string(profile, n > 0 && n_wall == n ? "wall" : "cpu");
    profile->unit = profile_string(profile, "nanoseconds");
    profile->summary = profile_string(profile, params->summary);
    profile->phi = params->phi;
    profile->epsilon = params->epsilon;
    profile->period = n > 0 ? period_of(processes[0]) : 0;
    profile->time_ns = n > 0 ? first : 0;
    profile->duration_ns = n > 0 ? last_mono - first_mono : 0;
}

struct profile *freeze(struct process *const *processes, size_t n,
                       const struct freeze_params *params, uint32_t **module_of) {
    struct freezer f = {.profile = profile_new()};
    struct copy *copies = calloc(n + 1, sizeof *copies);
    struct mcct_stats *stats = calloc(n + 1, sizeof *stats);
    uint64_t total = 0;
    if (copies == NULL || stats == NULL)
        profile_die("no memory to copy the trees");
    describe_profile(f.profile, processes, n, params);
    for (size_t i = 0; i < n; i++) {
        copy_tree(processes[i], &copies[i], &stats[i]);
        total += stats[i].total;
    }
    for (size_t i = 0; i < n; i++) {
        struct profile_process described;
        describe(processes[i], &stats[i], &described);
        uint32_t root = profile_root(f.profile, profile_add_process(f.profile, &described));
        mark_hot(&copies[i], params->phi, total);
        lay_out(&f, &copies[i], root, stats[i].total);
        free(copies[i].node);
        free(copies[i].index_of);
    }
    free(copies);
    free(stats);
    free(f.profile_module);
    f.module_of = grow(f.module_of, &f.module_of_room, f.profile->n_modules);
    *module_of = f.module_of;
    return f.profile;
}

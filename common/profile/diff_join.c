/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_join.c - `after` first, then `before`, into one forest by the names of their frames.
 */
#include "common/profile/diff_join.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/copy.h"
#include "common/base/intern.h"

/* What tells a frame; strings are those of the union. */
struct frame_name {
    const char *module, *name;
    uint64_t address; /* 0: the name tells it */
    uint32_t line;
};

/* One of the profiles, and where its processes, locations and contexts are in the union. */
struct part {
    const struct profile *from;
    struct profile *grouped;
    uint32_t *process, *place, *node;
};

struct joining {
    struct diff_join *join;
    enum profile_by by;
    bool no_modules;
    struct part part[DIFF_SIDES];
    /* Of all processes, by strings of the union; NULL: they have several. */
    const char *only_exe[DIFF_SIDES], *only_command[DIFF_SIDES];
    struct frame_name *names;
    uint32_t *locations; /* of the union, by name */
    uint32_t n_names, name_room, location_room;
    struct intern by_name, by_command;
};

/* ---- names ---- */

static const char *exe_of(const struct profile_process *process) {
    return *process->exe != '\0' ? profile_basename(process->exe) : process->command;
}

/* The name that all processes have; NULL: they have several, or there is none. */
static const char *only_name(struct profile *names, const struct profile *from,
                             const char *(*name_of)(const struct profile_process *)) {
    const char *only = NULL;
    for (uint32_t i = 1; i < from->n_processes; i++) {
        const char *name = profile_string(names, name_of(&from->processes[i]));
        if (only != NULL && name != only)
            return NULL;
        only = name;
    }
    return only;
}

/* The name by which a process (or the module that is its executable) is paired: where each side has
 * but one, they are the same program before and after. */
static const char *paired(const char *const only[DIFF_SIDES], int side, const char *name) {
    bool single = only[DIFF_BEFORE] != NULL && only[DIFF_AFTER] != NULL;

    return single && name == only[side] ? only[DIFF_AFTER] : name;
}

/* "libssl.so" of "/usr/lib/libssl.so.3". */
static const char *module_name(struct joining *j, int side, const struct profile *from,
                               uint32_t module) {
    struct profile *names = j->join->profile;
    const char *base = profile_basename(from->modules[module].path);
    const char *so = strstr(base, ".so.");
    const char *name;
    char *cut;
    if (so == NULL)
        return paired(j->only_exe, side, profile_string(names, base));
    cut = strndup(base, (size_t)(so - base) + 3);
    if (cut == NULL)
        memory_die("a name");
    name = profile_string(names, cut);
    free(cut);
    return name;
}

static bool knows_modules(const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_locations; i++)
        if (*profile->modules[profile->locations[i].module].path != '\0')
            return true;
    return false;
}

static bool same_name(const void *entries, uint32_t i, const void *key) {
    const struct frame_name *have = &((const struct joining *)entries)->names[i], *want = key;
    return have->module == want->module && have->name == want->name &&
           have->address == want->address && have->line == want->line;
}

static struct frame_name name_frame(struct joining *j, int side, const struct profile *from,
                                    const struct profile_location *place) {
    struct frame_name name = {.module = "", .name = ""};
    if (!j->no_modules && place->module != 0)
        name.module = module_name(j, side, from, place->module);
    if (j->by == PROFILE_BY_MODULE && *name.module != '\0')
        return name;
    if (j->by == PROFILE_BY_SITE)
        name.address = place->address;
    if (place->n_lines > 0) {
        name.name =
            profile_string(j->join->profile, from->functions[place->lines[0].function].name);
        name.line = place->lines[0].line;
    }
    return name;
}

/* The location of the union for one of `from`, a grouped profile. */
static uint32_t join_location(struct joining *j, int side, const struct profile *from,
                              uint32_t location) {
    struct frame_name name = name_frame(j, side, from, &from->locations[location]);
    uint64_t hash = seeded_hash(seeded_hash(name.line, (uintptr_t)name.module), name.address);
    uint32_t *slot =
        intern_find(&j->by_name, seeded_hash(hash, (uintptr_t)name.name), same_name, j, &name);
    if (*slot == 0) {
        j->names = memory_grow(j->names, j->n_names, &j->name_room, sizeof *j->names, "names");
        j->locations =
            memory_grow(j->locations, j->n_names, &j->location_room, sizeof *j->locations, "names");
        j->names[j->n_names] = name;
        j->locations[j->n_names] = copy_location(j->join->profile, from, location);
        *slot = j->n_names++;
    }
    return j->locations[*slot];
}

/* ---- processes ---- */

static bool same_command(const void *entries, uint32_t i, const void *key) {
    const struct profile *profile = entries;
    return profile->processes[i].command == key;
}

static uint32_t join_process(struct joining *j, int side, const struct profile_process *process) {
    struct profile *to = j->join->profile;
    const char *name =
        paired(j->only_command, side, profile_string(to, profile_process_name(process)));
    uint32_t *slot =
        intern_find(&j->by_command, seeded_hash(0, (uintptr_t)name), same_command, to, name);
    if (*slot == 0)
        *slot = profile_add_process(to, &(struct profile_process){.exe = name, .command = name});
    to->processes[*slot].runs += process->runs > 0 ? process->runs : 1;
    return *slot;
}

static void add_process(struct diff_group *group, const struct profile *from, uint32_t process,
                        uint64_t total) {
    group->lost += profile_lost(from, &from->processes[process]);
    chance_add(&group->chance, from, process, total);
    group->total += total;
    group->capped += from->processes[process].capped;
}

static uint64_t *weigh_processes(const struct profile *profile) {
    uint64_t *total = memory_new(profile->n_processes, sizeof *total, "processes");
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        total[profile->nodes[i].process] += profile->nodes[i].count;
    return total;
}

/* The union's processes, by those of `from`. */
static uint32_t *join_processes(struct joining *j, int side, const struct profile *from) {
    uint32_t *number = memory_new(from->n_processes, sizeof *number, "processes");
    for (uint32_t i = 1; i < from->n_processes; i++)
        number[i] = join_process(j, side, &from->processes[i]);
    return number;
}

/* ---- contexts ---- */

/* The nodes of the union, and their locations, by those of the grouped profile; all that are there
 * already stay. */
static void join_nodes(struct joining *j, int side) {
    struct part *part = &j->part[side];
    struct profile *to = j->join->profile;
    const struct profile *grouped = part->grouped;
    uint32_t *place = memory_new(grouped->n_locations, sizeof *place, "locations");
    uint32_t *node = memory_new(grouped->n_nodes, sizeof *node, "contexts");
    part->place = place;
    part->node = node;
    for (uint32_t i = 1; i < grouped->n_nodes; i++) {
        const struct profile_node *source = &grouped->nodes[i];
        uint32_t before = to->n_nodes;
        if (source->parent == 0) {
            node[i] = profile_root(to, part->process[source->process]);
            continue;
        }
        if (place[source->location] == 0)
            place[source->location] = join_location(j, side, grouped, source->location);
        node[i] = profile_add_node(to, node[source->parent], place[source->location], 0, 0);
        if (node[i] == before)
            to->nodes[before].inlined = source->inlined;
    }
}

static void add_side(struct joining *j, int side, const struct profile *from) {
    struct part *part = &j->part[side];
    part->from = from;
    part->grouped = profile_group(from, j->by, 0);
    part->process = join_processes(j, side, from);
    join_nodes(j, side);
}

/* ---- weights ---- */

/* To the processes of all executables but those that have them already. */
static void spread_lost(struct diff_join *join, int side, const struct part *part) {
    const struct profile *from = part->from;
    for (uint32_t i = 1; i < from->n_processes; i++) {
        uint64_t lost = profile_lost_elsewhere(from, &from->processes[i]);
        for (uint32_t k = 1; k < join->profile->n_processes && lost > 0; k++)
            join->group[side][k].lost += k != part->process[i] ? lost : 0;
    }
}

static void tally_processes(struct diff_join *join, int side, const struct part *part) {
    const struct profile *from = part->from;
    uint64_t *total = weigh_processes(from);
    for (uint32_t i = 1; i < from->n_processes; i++) {
        struct diff_group *group = &join->group[side][part->process[i]];
        group->exe = profile_string(join->profile, profile_process_name(&from->processes[i]));
        add_process(group, from, i, total[i]);
        add_process(&join->all[side], from, i, total[i]);
    }
    spread_lost(join, side, part);
    for (uint32_t i = 1; i < join->profile->n_processes; i++)
        join->group[side][i].lost += (uint64_t)chance_left_out(&join->group[side][i].chance);
    join->all[side].lost += (uint64_t)chance_left_out(&join->all[side].chance);
    free(total);
}

static void tally_contexts(struct diff_join *join, int side, const struct part *part) {
    for (uint32_t i = 1; i < part->grouped->n_nodes; i++) {
        const struct profile_node *from = &part->grouped->nodes[i];
        struct diff_tally *tally = &join->tally[side][part->node[i]];
        tally->count += from->count;
        tally->error += from->error;
    }
}

static void tally_effects(struct diff_join *join, int side, const struct part *part) {
    for (uint32_t i = 1; i < part->grouped->n_locations; i++) {
        const struct profile_location *from = &part->grouped->locations[i];
        struct effects *effect = &join->effect[side][part->place[i]];
        effect->self = from->self_effect > effect->self ? from->self_effect : effect->self;
        effect->inclusive = from->effect > effect->inclusive ? from->effect : effect->inclusive;
    }
}

/* What one sample of a function with the effect 1 stands for, where each was drawn by itself. */
static double step_of(const struct diff_group *group) {
    return group->chance.drawn_alone ? chance_step(&group->chance, 0, 1) : 1;
}

/* How a function is drawn that one side has not met only the other one knows. */
static void share_effects(struct diff_join *join) {
    double before = step_of(&join->all[DIFF_BEFORE]), after = step_of(&join->all[DIFF_AFTER]);
    if (!(before > 0) || !(after > 0))
        return;
    for (int side = 0; side < DIFF_SIDES; side++) {
        double scale = side == DIFF_BEFORE ? after / before : before / after;
        const struct effects *other = join->effect[DIFF_SIDES - 1 - side];
        for (uint32_t i = 1; i < join->profile->n_locations; i++) {
            struct effects *its = &join->effect[side][i];
            its->self = its->self > 0 ? its->self : other[i].self * (float)scale;
            its->inclusive =
                its->inclusive > 0 ? its->inclusive : other[i].inclusive * (float)scale;
        }
    }
}

static void tally_side(struct joining *j, int side) {
    struct diff_join *join = j->join;
    struct part *part = &j->part[side];
    uint32_t n_processes = join->profile->n_processes, n_locations = join->profile->n_locations;
    join->effect[side] = memory_new(n_locations, sizeof *join->effect[side], "functions");
    join->tally[side] = memory_new(join->profile->n_nodes, sizeof *join->tally[side], "contexts");
    join->group[side] = memory_new(n_processes, sizeof *join->group[side], "processes");
    for (uint32_t i = 0; i < n_processes; i++)
        join->group[side][i].chance = (struct chance)CHANCE_NONE;
    join->all[side].chance = (struct chance)CHANCE_NONE;
    tally_processes(join, side, part);
    tally_contexts(join, side, part);
    tally_effects(join, side, part);
    free(part->process);
    free(part->place);
    free(part->node);
    profile_free(part->grouped);
}

static void begin(struct joining *j, const struct profile *const from[DIFF_SIDES]) {
    const struct profile *after = from[DIFF_AFTER];
    struct profile *to = profile_new();
    j->join->profile = to;
    to->type = profile_string(to, after->type);
    to->unit = profile_string(to, after->unit);
    to->summary = profile_string(to, after->summary);
    to->phi = after->phi;
    to->epsilon = after->epsilon;
    to->period = after->period;
    j->n_names = 1;
    for (int side = 0; side < DIFF_SIDES; side++) {
        j->only_exe[side] = only_name(to, from[side], exe_of);
        j->only_command[side] = only_name(to, from[side], profile_process_name);
        j->no_modules |= !knows_modules(from[side]);
    }
}

struct diff_join *diff_join(const struct profile *const from[DIFF_SIDES], enum profile_by by) {
    struct joining j = {.join = memory_new(1, sizeof(struct diff_join), "contexts"), .by = by};

    begin(&j, from);
    add_side(&j, DIFF_AFTER, from[DIFF_AFTER]);
    add_side(&j, DIFF_BEFORE, from[DIFF_BEFORE]);
    for (int side = 0; side < DIFF_SIDES; side++)
        tally_side(&j, side);
    share_effects(j.join);
    free(j.names);
    free(j.locations);
    intern_free(&j.by_name);
    intern_free(&j.by_command);
    return j.join;
}

void diff_join_free(struct diff_join *join) {
    if (join == NULL)
        return;
    for (int side = 0; side < DIFF_SIDES; side++) {
        free(join->own[side]);
        free(join->below[side]);
        free(join->tally[side]);
        free(join->effect[side]);
        free(join->group[side]);
        free(join->hidden[side].leaf);
    }
    free(join->is_hidden);
    free(join);
}

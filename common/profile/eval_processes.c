/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eval_processes.c - processes are paired by what they are called, not by the paths of their
 * executables: the same program may be installed elsewhere on another host.
 */
#include "common/profile/eval_processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/shorten.h"

#define NAMES_MAX   5 /* that a sentence lists */
#define NAMES_BYTES 900

static const char *const side_words[EVAL_SIDES] = {"exact", "approximate"};

static bool is_wanted(const struct profile_process *process, const char *exe) {
    return exe == NULL || strcmp(process->exe, exe) == 0 ||
           strcmp(profile_basename(process->exe), exe) == 0 ||
           strcmp(profile_process_name(process), exe) == 0;
}

/* The name before `process` among the chosen ones of the side is the first of its kind. */
static bool is_first(const char *const *names, uint32_t process) {
    for (uint32_t i = 1; i < process; i++)
        if (names[i] != NULL && strcmp(names[i], names[process]) == 0)
            return false;
    return true;
}

static uint32_t count_names(const char *const *names, uint32_t n) {
    uint32_t count = 0;
    for (uint32_t i = 1; i < n; i++)
        count += names[i] != NULL && is_first(names, i);
    return count;
}

static bool has_name(const char *const *names, uint32_t n, const char *name) {
    for (uint32_t i = 1; i < n; i++)
        if (names[i] != NULL && strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* "sh, cc1 and 3 more" */
static void list_names(const char *const *names, uint32_t n, char *text, size_t bytes) {
    uint32_t listed = 0, all = count_names(names, n);
    size_t used = 0;
    *text = '\0';
    for (uint32_t i = 1; i < n && listed < NAMES_MAX; i++) {
        if (names[i] == NULL || !is_first(names, i))
            continue;
        char *name = shorten(names[i], 40, "..");
        used +=
            (size_t)snprintf(text + used, bytes - used, "%s%.160s", listed > 0 ? ", " : "", name);
        free(name);
        listed++;
    }
    if (listed < all)
        snprintf(text + used, bytes - used, " and %u more", (unsigned)(all - listed));
}

static void choose_wanted(const struct profile *profile, const char *exe, const char **names) {
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (is_wanted(&profile->processes[i], exe))
            names[i] = profile_process_name(&profile->processes[i]);
}

static bool check_side(const struct eval_processes *chosen, int side, const struct profile *profile,
                       const char *exe, char *error, size_t error_bytes) {
    const char **all;
    char text[NAMES_BYTES];
    if (profile_total(profile) == 0) {
        snprintf(error, error_bytes, "the %s profile is empty: it has no weight", side_words[side]);
        return false;
    }
    if (count_names(chosen->exe[side], profile->n_processes) > 0)
        return true;
    all = memory_new(profile->n_processes, sizeof *all, "processes");
    choose_wanted(profile, NULL, all);
    list_names(all, profile->n_processes, text, sizeof text);
    free(all);
    snprintf(error, error_bytes, "the %s profile has no executable %.100s; it has %s",
             side_words[side], exe, text);
    return false;
}

/* Both have one: they are compared, whatever their names. */
static void pair_single(struct eval_processes *chosen, const char *name, uint32_t n) {
    for (uint32_t i = 1; i < n; i++)
        if (chosen->exe[EVAL_APPROX][i] != NULL)
            chosen->exe[EVAL_APPROX][i] = name;
}

static const char *first_name(const char *const *names, uint32_t n) {
    for (uint32_t i = 1; i < n; i++)
        if (names[i] != NULL)
            return names[i];
    return "";
}

/* Drops what only one of them has. False: nothing is left. */
static bool pair_common(struct eval_processes *chosen, const uint32_t n[EVAL_SIDES]) {
    for (int side = 0; side < EVAL_SIDES; side++)
        for (uint32_t i = 1; i < n[side]; i++) {
            const char **name = &chosen->exe[side][i];
            if (*name != NULL && !has_name(chosen->exe[1 - side], n[1 - side], *name))
                *name = NULL;
        }
    return count_names(chosen->exe[EVAL_EXACT], n[EVAL_EXACT]) > 0;
}

static bool pair(struct eval_processes *chosen, const struct profile *const profile[EVAL_SIDES],
                 char *error, size_t error_bytes) {
    const uint32_t n[EVAL_SIDES] = {profile[0]->n_processes, profile[1]->n_processes};
    char names[EVAL_SIDES][NAMES_BYTES];
    if (count_names(chosen->exe[0], n[0]) == 1 && count_names(chosen->exe[1], n[1]) == 1) {
        pair_single(chosen, first_name(chosen->exe[EVAL_EXACT], n[EVAL_EXACT]), n[EVAL_APPROX]);
        return true;
    }
    for (int side = 0; side < EVAL_SIDES; side++)
        list_names(chosen->exe[side], n[side], names[side], sizeof names[side]);
    if (pair_common(chosen, n))
        return true;
    snprintf(error, error_bytes,
             "the profiles have no executable in common: the exact one has %s, the approximate one "
             "%s; each must be of one executable, or have one of the other's",
             names[EVAL_EXACT], names[EVAL_APPROX]);
    return false;
}

bool eval_processes_choose(struct eval_processes *chosen,
                           const struct profile *const profile[EVAL_SIDES], const char *exe,
                           char *error, size_t error_bytes) {
    bool ok = true;
    for (int side = 0; side < EVAL_SIDES; side++) {
        chosen->exe[side] =
            memory_new(profile[side]->n_processes, sizeof *chosen->exe[side], "processes");
        choose_wanted(profile[side], exe, chosen->exe[side]);
        ok = ok && check_side(chosen, side, profile[side], exe, error, error_bytes);
    }
    ok = ok && pair(chosen, profile, error, error_bytes);
    if (!ok)
        eval_processes_free(chosen);
    return ok;
}

/* What the nodes of each process weigh, for profiles that do not say it. */
static uint64_t *sum_weights(const struct profile *profile) {
    uint64_t *weight = memory_new(profile->n_processes, sizeof *weight, "processes");
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        weight[profile->nodes[i].process] += profile->nodes[i].count;
    return weight;
}

void eval_processes_add_up(const struct eval_processes *chosen, int side,
                           const struct profile *profile, struct eval_join *join) {
    struct eval_side *into = &join->side[side];
    uint64_t *weight = sum_weights(profile), most = 0;
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        const struct profile_process *process = &profile->processes[i];
        if (chosen->exe[side][i] == NULL)
            continue;
        uint64_t total = process->total != 0 ? process->total : weight[i];
        if (total > most || into->exe == NULL)
            into->exe = profile_string(join->names, chosen->exe[side][i]);
        most = total > most ? total : most;
        into->total += total;
        into->contexts += process->contexts;
        into->monitored += process->monitored;
        into->bytes += process->bytes;
    }
    into->n_exes = count_names(chosen->exe[side], profile->n_processes);
    free(weight);
}

void eval_processes_free(struct eval_processes *chosen) {
    for (int side = 0; side < EVAL_SIDES; side++) {
        free(chosen->exe[side]);
        chosen->exe[side] = NULL;
    }
}

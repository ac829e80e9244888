/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * title.c - names of processes and profiles, for people.
 */
#include "common/render/title.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/memory.h"
#include "common/base/utf8.h"
#include "common/profile/chance.h"
#include "common/profile/tree_view.h"
#include "common/render/format_number.h"

#define COMMANDS_MOST 3 /* names in a title */

void title_put_process(FILE *out, const struct profile_process *process) {
    const char *separator = " (";
    utf8_put(out, process->command);
    if (process->pid != 0) {
        fprintf(out, "%spid %" PRIu32, separator, process->pid);
        separator = ", ";
    }
    if (process->runs > 1) {
        fprintf(out, "%s%s runs", separator, format_count(process->runs).text);
        separator = ", ";
    }
    if (process->threads > 1 && process->runs <= 1) {
        fprintf(out, "%s%" PRIu32 " threads", separator, process->threads);
        separator = ", ";
    }
    if (process->live) {
        fprintf(out, "%sstill running", separator);
        separator = ", ";
    }
    if (*process->tags != '\0') {
        fputs(separator, out);
        utf8_put(out, process->tags);
        separator = ", ";
    }
    if (*separator == ',')
        fputc(')', out);
}

char *title_of_process(const struct profile_process *process) {
    FILE *out = memory_stream("a title");
    title_put_process(out, process);
    return memory_stream_end(out, NULL, "a title");
}

struct title_bound *title_bounds(const struct profile *profile) {
    struct title_bound *bounds = memory_new(profile->n_processes, sizeof *bounds, "processes");
    uint64_t *inclusive = tree_inclusive(profile), *upper = tree_upper(profile, inclusive);
    bool *hidden = profile_find_hidden(profile);

    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        struct title_bound *bound = &bounds[node->process];
        if (hidden[i] || node->parent == 0)
            continue;
        if (node->error > bound->self)
            bound->self = node->error;
        if (upper[i] - inclusive[i] > bound->inclusive)
            bound->inclusive = upper[i] - inclusive[i];
    }
    free(hidden);
    free(upper);
    free(inclusive);
    return bounds;
}

const char *title_of_no_error(bool is_sample) {
    return is_sample ? "what was seen of each context is counted exactly, and stands for the rest"
                     : "every context is counted exactly";
}

char *title_of_bound(const struct profile *profile, uint32_t process,
                     const struct title_bound *bound) {
    struct chance chance = CHANCE_NONE;
    FILE *out = memory_stream("a title");
    if (bound->self == 0 && bound->inclusive == 0)
        fputs(title_of_no_error(profile_is_sample(&profile->processes[process])), out);
    else
        fprintf(out, "true weights are larger by at most %s (self) and %s (inclusive)",
                format_weight(profile, bound->self).text,
                format_weight(profile, bound->inclusive).text);
    chance_add(&chance, profile, process, profile->processes[process].total);
    if (chance_half_width(&chance, 0.5, 0) > 0)
        fprintf(out, ", sampling: 50 %% +-%.1f points (95 %%)",
                100 * chance_half_width(&chance, 0.5, 0));
    return memory_stream_end(out, NULL, "a title");
}

/* Processes of one name together. */
struct named {
    const char *command; /* of the profile's strings: equal ones are one pointer */
    uint64_t weight;
    uint32_t first; /* process of that name */
};

static int by_command(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    if (x->command != y->command)
        return (uintptr_t)x->command < (uintptr_t)y->command ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int by_weight(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static struct named *processes_by_weight(const struct profile *profile, uint32_t *n) {
    uint32_t all = profile->n_processes - 1;
    struct named *names = memory_new((size_t)all + 1, sizeof *names, "processes");
    for (uint32_t i = 0; i < all; i++)
        names[i] = (struct named){.command = profile->processes[i + 1].command, .first = i + 1};
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        names[profile->nodes[i].process - 1].weight += profile->nodes[i].count;
    qsort(names, all, sizeof *names, by_command);
    *n = 0;
    for (uint32_t i = 0; i < all; i++)
        if (i > 0 && names[i].command == names[*n - 1].command)
            names[*n - 1].weight += names[i].weight;
        else
            names[(*n)++] = names[i];
    qsort(names, *n, sizeof *names, by_weight);
    return names;
}

void title_put_commands(FILE *out, const struct profile *profile, uint32_t most) {
    uint32_t n;
    struct named *names = processes_by_weight(profile, &n);
    for (uint32_t i = 0; i < n && i < most; i++) {
        fputs(i > 0 ? ", " : "", out);
        utf8_put(out, names[i].command);
    }
    if (n > most)
        fprintf(out, " and %" PRIu32 " more", n - most);
    free(names);
}

char *title_of_command(const struct profile *profile) {
    FILE *out = memory_stream("a title");
    if (*profile->title != '\0')
        utf8_put(out, profile->title);
    else if (profile->n_processes > 1)
        title_put_commands(out, profile, COMMANDS_MOST);
    else
        fputs("no process", out);
    return memory_stream_end(out, NULL, "a title");
}

void title_put_window(FILE *out, const struct profile *profile) {
    char when[32] = "";
    time_t begin = (time_t)(profile->time_ns / 1000000000u);
    struct tm local;
    if (profile->window_ns == 0)
        return;
    if (profile->is_past && localtime_r(&begin, &local) != NULL)
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
    if (*when != '\0')
        fprintf(out, " in %s from %s on", format_time(profile->window_ns).text, when);
    else
        fprintf(out, " in the last %s", format_time(profile->window_ns).text);
}

char *title_of_profile(const struct profile *profile) {
    uint64_t total = profile_total(profile);
    char *command = title_of_command(profile);
    FILE *out = memory_stream("a title");
    fprintf(out, "%s: %s %s", command, format_weight(profile, total).text,
            format_type(profile, total));
    title_put_window(out, profile);
    free(command);
    return memory_stream_end(out, NULL, "a title");
}

/*
 * title.c - names of processes and profiles, for people.
 */
#include "daemon/report/title.h"

#include <inttypes.h>
#include <stdlib.h>

#include "daemon/report/human.h"
#include "daemon/report/memory.h"
#include "daemon/report/shorten.h"

/* A command may have any bytes in its name: none of them commands the terminal. */
static void put_name(FILE *out, const char *name) {
    char *plain = shorten(name, 0, "");

    fputs(plain, out);
    free(plain);
}

void title_put_process(FILE *out, const struct profile_process *process) {
    const char *separator = " (";

    put_name(out, process->command);
    if (process->pid != 0) {
        fprintf(out, "%spid %" PRIu32, separator, process->pid);
        separator = ", ";
    }
    if (process->runs > 1) {
        fprintf(out, "%s%s runs", separator, human_count(process->runs).text);
        separator = ", ";
    }
    if (process->threads > 1) {
        fprintf(out, "%s%" PRIu32 " threads", separator, process->threads);
        separator = ", ";
    }
    if (process->live) {
        fprintf(out, "%sstill running", separator);
        separator = ", ";
    }
    if (*process->tags != '\0') {
        fprintf(out, "%s%s", separator, process->tags);
        separator = ", ";
    }
    if (*separator == ',')
        fputc(')', out);
}

/* A string that is written like a file. */
struct title {
    FILE *out;
    char *text;
    size_t length;
};

static void begin(struct title *title) {
    title->out = open_memstream(&title->text, &title->length);
    if (title->out == NULL)
        profile_die("a title");
}

static char *end(struct title *title) {
    if (fclose(title->out) != 0)
        profile_die("a title");
    return title->text;
}

char *title_of_process(const struct profile_process *process) {
    struct title title;

    begin(&title);
    title_put_process(title.out, process);
    return end(&title);
}

struct title_bound *title_bounds(const struct profile *profile) {
    struct title_bound *bounds = memory_new(profile->n_processes, sizeof(*bounds), "processes");

    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        struct title_bound *bound = &bounds[node->process];

        bound->all += node->error;
        if (node->error > bound->largest && !profile_is_pruned(profile, node->location))
            bound->largest = node->error;
    }
    return bounds;
}

char *title_of_bound(const struct profile *profile, const struct title_bound *bound) {
    struct title title;

    begin(&title);
    if (bound->all == 0)
        fputs("error bound 0", title.out);
    else
        fprintf(title.out, "error bound %s each", human_weight(profile, bound->largest).text);
    return end(&title);
}

char *title_of_profile(const struct profile *profile) {
    uint64_t total = profile_total(profile);
    struct title title;

    begin(&title);
    if (profile->n_processes == 2)
        put_name(title.out, profile->processes[1].command);
    else
        fprintf(title.out, "%" PRIu32 " processes", profile->n_processes - 1);
    fprintf(title.out, ": %s %s", human_weight(profile, total).text, human_type(profile, total));
    if (profile->window_ns > 0)
        fprintf(title.out, " in the last %s", human_time(profile->window_ns).text);
    return end(&title);
}

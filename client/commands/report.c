/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * report.c - a profile file in any format, without a daemon.
 */
#include "client/command.h"
#include "client/mark_rows.h"
#include "client/profile_file.h"
#include "client/profile_output.h"
#include "client/transform_options.h"
#include "client/view.h"
#include "common/profile/mark_lines.h"
#include "common/profile/process_fields.h"
#include "common/wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct report_options {
    struct view_options view;
    struct transform transform;
    const char *metric;
    bool marks;
};

static const struct option_spec specs[] = {
    VIEW_SPECS(report_options, "write to FILE, not to the terminal"),
    TRANSFORM_SPECS(report_options, transform),
    {"metric", 0, OPTION_STRING, "WHAT", offsetof(struct report_options, metric), 0, 0,
     "of several metrics this one: cpu, heap, lock, ..., or a sample type (the first)"},
    {"marks", 0, OPTION_FLAG, NULL, offsetof(struct report_options, marks), 0, 0,
     "only the moments that programs have marked (hcct.h(3))"},
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "hcct report [options] [FILE]",
    .about = "Shows or converts a profile: one of ours, or any that is in the format of pprof.\n"
             "FILE - is standard input; without FILE it is " HCCT_RECORDED ", as record writes it.",
    .examples = "  hcct report\n"
                "  hcct report --by line --phi 0.05 hcct.pb.gz\n"
                "  hcct report -o hcct.folded hcct.pb.gz     for flame graphs\n"
                "  hcct report --metric heap hcct.pb.gz      of record --metric cpu,heap\n",
    .options = specs,
};

/* A page has room for all metrics of the run. */
struct others {
    struct profile *profile[WIRE_METRICS_MAX];
    unsigned n;
};

static void read_others(struct others *others, const struct profile *first, const char *path,
                        const void *data, size_t bytes, const struct report_options *options,
                        enum profile_by by) {
    char names[256], *rest = names, *name;
    snprintf(names, sizeof names, "%s", first->others);
    while (others->n < WIRE_METRICS_MAX && (name = strsep(&rest, ", ")) != NULL) {
        struct profile *profile =
            *name != '\0' ? profile_file_parse_metric(path, data, bytes, name) : NULL;
        if (profile != NULL)
            others->profile[others->n++] = transform_apply(profile, &options->transform, by);
    }
}

static void free_others(struct others *others) {
    while (others->n > 0)
        profile_free(others->profile[--others->n]);
}

/* Of the process that had the number. */
static const char *program_of(const struct profile *profile, uint32_t pid) {
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (profile->processes[i].pid == pid)
            return profile_process_name(&profile->processes[i]);
    return "-";
}

static int show_marks(const char *path, const struct profile *profile) {
    uint64_t lost = process_fields_sum(profile).marks_lost;
    struct mark_line mark;
    if (*profile->marks == '\0') {
        complain("%s has no marks", path);
        return HCCT_EXIT_NO_DATA;
    }
    mark_rows_head();
    for (const char *text = profile->marks; mark_line_next(&text, &mark);)
        mark_row((double)mark.time_ns / 1e9, mark.pid, program_of(profile, mark.pid), mark.name);
    if (lost > 0)
        mark_rows_lost(lost);
    return HCCT_EXIT_OK;
}

int cmd_report(int argc, char **argv) {
    struct report_options options = {.view = VIEW_NOT_GIVEN};
    struct view view;
    size_t bytes;
    int rest;
    options_parse(&command, argc, argv, &options, &rest);
    const char *path = rest < argc ? argv[rest] : HCCT_RECORDED;
    if (rest >= argc && access(path, F_OK) != 0) {
        complain("name a profile: hcct report FILE; 'hcct record' writes one, and here is no %s",
                 path);
        return HCCT_EXIT_USAGE;
    }
    options_no_more(&command, argc, argv, rest + 1);
    int shown_on = options.view.output != NULL ? -1 : STDOUT_FILENO;
    if (!view_resolve(&options.view, formats, shown_on, &view) ||
        view_spoils_terminal(view.format, shown_on) || !transform_options_check(&options.transform))
        return HCCT_EXIT_USAGE;
    char *data = profile_file_load(path, &bytes);
    if (data == NULL)
        return HCCT_EXIT_FAILURE;
    struct profile *profile = profile_file_parse_metric(path, data, bytes, options.metric);
    struct others others = {.n = 0};
    if (profile != NULL && options.marks) {
        int status = show_marks(path, profile);
        free(data);
        profile_free(profile);
        return status;
    }
    if (profile != NULL && view.format->write == write_html && options.metric == NULL)
        read_others(&others, profile, path, data, bytes, &options, view.options.by);
    free(data);
    if (profile == NULL)
        return HCCT_EXIT_FAILURE;
    profile = transform_apply(profile, &options.transform, view.options.by);
    view.options.others = (const struct profile *const *)others.profile;
    view.options.n_others = others.n;
    if (others.n == 0 && options.metric == NULL)
        profile_file_say_others(profile, view.format);
    int status = profile_output(profile, &view, &options.view);
    free_others(&others);
    profile_free(profile);
    return status;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * annotate.c - the source lines of a function, with what each weighs: from a profile file, or
 * from a running hcctd.
 */
#include "client/ask.h"
#include "client/command.h"
#include "client/processes.h"
#include "client/profile_file.h"
#include "common/base/options.h"
#include "common/profile/annotate.h"
#include "common/profile/filter.h"
#include "common/render/results.h"

#include <stdlib.h>
#include <string.h>

#define AROUND_DEFAULT 3

struct annotate_options {
    const char *socket, *process, *format, *source, *metric;
    unsigned around;
    bool regex;
};

#define AT(member) offsetof(struct annotate_options, member)

static const struct option_spec specs[] = {
    {"process", 'p', OPTION_STRING, "PID|NAME", AT(process), 0, 0,
     "a running program, from hcctd (all that are profiled)"},
    {"metric", 0, OPTION_STRING, "WHAT", AT(metric), 0, 0,
     "of several metrics this one: cpu, heap, lock, ... (the first)"},
    {"regex", 0, OPTION_FLAG, NULL, AT(regex), 0, 0,
     "FUNCTION is a regular expression: all functions that it matches"},
    {"source", 0, OPTION_STRING, "DIR", AT(source), 0, 0,
     "where source files are that are not at their recorded paths"},
    {"around", 0, OPTION_UNSIGNED, "N", AT(around), 0, 1000000,
     "show so many lines before and after those that weigh something (3)"},
    {"format", 0, OPTION_STRING, "F", AT(format), 0, 0, "text or json (text)"},
    SOCKET_SPEC(annotate_options, socket),
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "hcct annotate [options] FUNCTION [FILE]",
    .about =
        "Shows the source lines of a function with their self and inclusive shares, and\n"
        "what they call; inlined copies are added up. Without FILE, a profile, hcctd is asked\n"
        "about what runs now.",
    .examples = "  hcct annotate compress hcct.pb.gz\n"
                "  hcct annotate --source ~/src/app parse_line -p myserver\n"
                "  hcct annotate --regex '^app::' --format json hcct.pb.gz\n",
    .options = specs,
};

static int load_file(const char *name, const char *metric, struct profile **profile) {
    size_t bytes;
    char *data = profile_file_load(name, &bytes);
    *profile = data != NULL ? profile_file_parse_metric(name, data, bytes, metric) : NULL;
    free(data);
    return *profile != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

static int load_live(const struct annotate_options *options, struct profile **profile) {
    char path[PATHS_SOCKET_MAX];
    struct http_answer answer;
    struct query query;
    int status = ask_socket(path, options->socket);
    if (status != HCCT_EXIT_OK)
        return status;
    query_start(&query, "/v1/hot");
    query_add(&query, "format", "pprof");
    query_add(&query, "symbols", "complete");
    if (options->metric != NULL)
        query_add_metric(&query, options->metric);
    status = processes_query(&query, path, options->process);
    if (status == HCCT_EXIT_OK)
        status = ask(path, "GET", query.text, &answer);
    if (status != HCCT_EXIT_OK)
        return status;
    *profile = profile_file_parse("hcctd's answer", answer.body, answer.bytes);
    free(answer.body);
    return *profile != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

static int show(const struct profile *profile, const char *function,
                const struct annotate_options *options) {
    const struct annotate_sources sources = {options->source, options->around};
    struct annotation annotation;
    annotation_make(&annotation, profile, function, options->regex);
    int status = HCCT_EXIT_OK;
    if (annotation.n_functions == 0) {
        complain("no function is called '%s' in the hot contexts: 'hcct report' or 'hcct hot' list "
                 "them, --regex finds parts of names",
                 function);
        status = HCCT_EXIT_NO_DATA;
    } else if (options->format != NULL && strcmp(options->format, "json") == 0) {
        status = annotation_write_json(stdout, &annotation) ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
    } else if (!annotation_write_text(stdout, &annotation, &sources)) {
        status = HCCT_EXIT_FAILURE;
    }
    annotation_free(&annotation);
    return status;
}

static int check(const struct annotate_options *options, int argc, char **argv, int rest) {
    char error[300];
    const char *format = options->format;
    if (rest >= argc)
        complain("name a function: hcct annotate FUNCTION [FILE]");
    else if (format != NULL && strcmp(format, "text") != 0 && strcmp(format, "json") != 0)
        complain("--format '%s': it must be text or json", format);
    else if (rest + 1 < argc && options->process != NULL)
        complain("a profile is asked about, or a process: not both, %s and -p %s", argv[rest + 1],
                 options->process);
    else if (options->regex && !filter_check(argv[rest], error, sizeof error))
        complain("%s", error);
    else
        return HCCT_EXIT_OK;
    return HCCT_EXIT_USAGE;
}

int cmd_annotate(int argc, char **argv) {
    struct annotate_options options = {.around = AROUND_DEFAULT};
    struct profile *profile = NULL;
    int rest;
    options_parse(&command, argc, argv, &options, &rest);
    int status = check(&options, argc, argv, rest);
    if (status != HCCT_EXIT_OK)
        return status;
    if (rest + 1 < argc)
        options_no_more(&command, argc, argv, rest + 2);
    status = rest + 1 < argc ? load_file(argv[rest + 1], options.metric, &profile)
                             : load_live(&options, &profile);
    if (status == HCCT_EXIT_OK)
        status = show(profile, argv[rest], &options);
    profile_free(profile);
    return status;
}

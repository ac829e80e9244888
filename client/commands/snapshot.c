/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * snapshot.c - asks hcctd to write its profiles now, as SIGUSR1 does, and says where they are.
 */
#include "client/ask.h"
#include "client/command.h"
#include "client/json_in.h"
#include "client/processes.h"
#include "client/range.h"
#include "common/base/options.h"
#include "common/render/format.h"

#include <stdio.h>
#include <stdlib.h>

struct snapshot_options {
    const char *socket, *process, *format;
    struct range_options range;
};

static const struct option_spec specs[] = {
    {"process", 'p', OPTION_STRING, "PID|NAME", offsetof(struct snapshot_options, process), 0, 0,
     "only this process (all live ones)"},
    {"format", 0, OPTION_STRING, "FORMAT", offsetof(struct snapshot_options, format), 0, 0,
     "of the files: " FORMAT_NAMES " (that of hcctd --report-format)"},
    RANGE_SPECS(snapshot_options, range),
    SOCKET_SPEC(snapshot_options, socket),
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "hcct snapshot [options]",
    .about = "Makes hcctd write profiles into its report directory, and prints their paths.",
    .examples = "  hcct snapshot\n"
                "  hcct report $(hcct snapshot -p myserver --format pprof)\n",
    .options = specs,
};

/* What is no text in the list is none of hcctd's paths. */
static void print_path(struct json_object *path) {
    if (json_object_is_type(path, json_type_string))
        puts(json_object_get_string(path));
}

/* One path on each line. */
static int print_paths(const struct http_answer *answer) {
    struct json_object *root = json_in(answer->body, answer->bytes);
    struct json_object *paths = json_in_array(root, "paths");
    int status = HCCT_EXIT_OK;
    const char *left_out = json_in_text(root, "left_out");
    if (*left_out != '\0')
        complain("left out is what has no windows: %s", left_out);
    if (paths != NULL) {
        for (size_t i = 0; i < json_object_array_length(paths); i++)
            print_path(json_object_array_get_idx(paths, i));
        if (json_object_array_length(paths) == 0) {
            complain("there is no live process to write a profile of");
            status = HCCT_EXIT_NO_DATA;
        }
    } else {
        complain("the answer can't be read: hcct and hcctd may be of different versions");
        status = HCCT_EXIT_FAILURE;
    }
    json_object_put(root);
    return status;
}

int cmd_snapshot(int argc, char **argv) {
    struct snapshot_options options = {0};
    struct http_answer answer;
    struct query query;
    char path[PATHS_SOCKET_MAX];
    int rest;
    options_parse(&command, argc, argv, &options, &rest);
    options_no_more(&command, argc, argv, rest);
    if (options.format != NULL && format_find(options.format) == NULL) {
        complain("--format '%s' is none of " FORMAT_NAMES, options.format);
        return HCCT_EXIT_USAGE;
    }
    int status = ask_socket(path, options.socket);
    if (status != HCCT_EXIT_OK)
        return status;
    query_start(&query, "/v1/snapshot");
    if (options.process != NULL) {
        uint32_t pid = 0;
        char *exe = NULL;
        status = processes_find(path, options.process, &pid, &exe);
        free(exe);
        if (status == HCCT_EXIT_OK && pid == 0) {
            complain("%s has finished: 'hcct hot -p %s -o FILE' writes its profile",
                     options.process, options.process);
            status = HCCT_EXIT_NO_DATA;
        }
        if (status != HCCT_EXIT_OK)
            return status;
        query_add_unsigned(&query, "pid", pid);
    }
    if (options.format != NULL)
        query_add(&query, "format", options.format);
    if (!range_add(&query, &options.range, false, NULL))
        return HCCT_EXIT_USAGE;
    status = ask(path, "POST", query.text, &answer);
    if (status == HCCT_EXIT_OK)
        status = print_paths(&answer);
    free(answer.body);
    return status;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * merge.c - profiles of several runs or hosts as one.
 */
#include "client/command.h"
#include "client/merge_metrics.h"
#include "client/operand.h"
#include "client/output.h"
#include "client/profile_file.h"
#include "client/view.h"
#include "common/base/memory.h"
#include "common/profile/merge.h"
#include "common/render/format_number.h"
#include "common/wire/metric.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct merge_given {
    struct view_options view;
    struct operand_options daemon;
};

static const struct option_spec specs[] = {
    VIEW_SPECS(merge_given,
               "the sum, a profile if its suffix says nothing else (as text on stdout)"),
    OPERAND_SPECS(merge_given, daemon),
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "hcct merge [options] FILE...",
    .about = "Adds profiles up: of several runs or hosts, ours or any in the format of pprof.\n"
             "Processes of one executable become one; errors add up, too. Each metric is added up\n"
             "by itself. FILE - is standard input, @now what hcctd has.",
    .examples = "  hcct merge -o all.pb.gz host1.pb.gz host2.pb.gz host3.pb.gz\n"
                "  hcct merge monday/*.pb.gz                  the report of the sum\n",
    .options = specs,
};

static const struct format *fallback(const struct view_options *given) {
    bool to_file = given->output != NULL && strcmp(given->output, "-") != 0;

    return to_file ? format_find("pprof") : formats;
}

static int put(const struct profile *sum, size_t n, const struct view *view,
               const struct view_options *given) {
    struct output output;
    if (!output_open(&output, given->output != NULL ? given->output : "-", NULL))
        return HCCT_EXIT_FAILURE;
    if (!profile_file_write(output.file, sum, view->format, &view->options, given->phi)) {
        output_fail(&output);
        return HCCT_EXIT_FAILURE;
    }
    char *written = output_commit(&output, 0);
    if (written != NULL && given->output != NULL)
        complain("%zu profiles added up to %s %s, written to %s", n,
                 format_weight(sum, profile_total(sum)).text, format_type(sum, profile_total(sum)),
                 written);
    free(written);
    return written != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

static int merge_one(const struct merge_input *inputs, size_t n, const struct view *view,
                     const struct merge_given *options) {
    const struct view_options *given = &options->view;
    char error[512];
    size_t bad = 0;
    const struct profile **parts = memory_new(n, sizeof *parts, "profiles");
    for (size_t i = 0; i < n; i++)
        parts[i] = inputs[i].profile;
    struct profile *sum = merge_profiles(parts, n, &bad, error, sizeof error);
    free((void *)parts);
    if (sum == NULL) {
        complain("%s: %s", inputs[bad].name, error);
        return HCCT_EXIT_FAILURE;
    }
    if (*sum->others != '\0' && options->daemon.metric == NULL)
        complain("%s has one metric, %s: left out %s (--metric chooses)", view->format->name,
                 metric_word_of_type(sum->type), sum->others);
    sum->others = "";
    int status = put(sum, n, view, given);
    profile_free(sum);
    return status;
}

static int merge_all(const struct merge_input *inputs, size_t n, const struct view *view,
                     const struct merge_given *options) {
    const struct view_options *given = &options->view;
    struct output output;
    bool failed;
    if (!output_open(&output, given->output != NULL ? given->output : "-", NULL))
        return HCCT_EXIT_FAILURE;
    if (!merge_metrics_write(inputs, n, view, given->phi, output.file, &failed)) {
        if (failed)
            output_fail(&output);
        else
            output_discard(&output);
        return HCCT_EXIT_FAILURE;
    }
    char *written = output_commit(&output, 0);
    if (written != NULL && given->output != NULL)
        complain("%zu profiles added up by metric, written to %s", n, written);
    free(written);
    return written != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

/* A file is kept as it is, too: there may be other metrics in it. */
static int read_input(struct merge_input *input, const struct operand_options *options) {
    if (input->name[0] == '@')
        return operand_read(input->name, options, &input->profile);
    input->data = profile_file_load(input->name, &input->bytes);
    if (input->data != NULL)
        input->profile =
            profile_file_parse_metric(input->name, input->data, input->bytes, options->metric);
    return input->profile != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

static int read_and_merge(const struct merge_given *given, char *const *names, size_t n,
                          const struct view *view) {
    struct merge_input *inputs = memory_new(n, sizeof *inputs, "profiles");
    int status = HCCT_EXIT_OK;
    for (size_t i = 0; i < n && status == HCCT_EXIT_OK; i++) {
        inputs[i].name = names[i];
        status = read_input(&inputs[i], &given->daemon);
    }
    if (status == HCCT_EXIT_OK && !merge_inputs_align(inputs, n))
        status = HCCT_EXIT_FAILURE;
    if (status == HCCT_EXIT_OK) {
        bool all = given->daemon.metric == NULL && view->format == format_find("pprof") &&
                   merge_metrics_are_several(inputs, n);
        status = (all ? merge_all : merge_one)(inputs, n, view, given);
    }
    merge_inputs_free(inputs, n);
    return status;
}

int cmd_merge(int argc, char **argv) {
    struct merge_given given = {.view = VIEW_NOT_GIVEN};
    struct view view;
    int rest, from_stdin = 0;
    options_parse(&command, argc, argv, &given, &rest);
    if (rest >= argc) {
        complain("name profiles: hcct merge -o SUM FILE...");
        return HCCT_EXIT_USAGE;
    }
    for (int i = rest; i < argc; i++)
        from_stdin += strcmp(argv[i], "-") == 0;
    if (from_stdin > 1) {
        complain("only one of the profiles can be standard input");
        return HCCT_EXIT_USAGE;
    }
    int shown_on = given.view.output != NULL ? -1 : STDOUT_FILENO;
    if (!view_resolve(&given.view, fallback(&given.view), shown_on, &view) ||
        view_spoils_terminal(view.format, shown_on))
        return HCCT_EXIT_USAGE;
    return read_and_merge(&given, argv + rest, (size_t)(argc - rest), &view);
}

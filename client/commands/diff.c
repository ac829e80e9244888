/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff.c - what changed between two profiles, and what of it is more than error?
 */
#include "client/command.h"
#include "client/diff_limit.h"
#include "client/diff_output.h"
#include "client/operand.h"
#include "client/transform_options.h"
#include "client/view.h"
#include "common/profile/diff.h"

#include <string.h>
#include <unistd.h>

struct diff_given {
    struct view_options view;
    struct operand_options daemon;
    struct range_options range;
    struct transform transform;
    bool absolute, shares, all;
    struct diff_limit limit;
};

static const struct option_spec specs[] = {
    DIFF_SPECS(struct diff_given),     DIFF_LIMIT_SPECS(struct diff_given, limit),
    RANGE_SPECS(diff_given, range),    TRANSFORM_SPECS(diff_given, transform),
    OPERAND_SPECS(diff_given, daemon), OPTIONS_END,
};

static const struct option_command command = {
    .usage =
        "hcct diff [options] BEFORE AFTER\n       hcct diff [options] --since WHEN --until WHEN",
    .about =
        "Compares two profiles, context by context: of different runs, builds or hosts, ours or\n"
        "any in the format of pprof. A change is kept apart from error: the certain bounds of "
        "both\n"
        "counts and the sampling interval. FILE - is standard input, @now what hcctd has,\n"
        "@60s the last 60 seconds of it, @03:10..03:15 that time. Without profiles, what hcctd has "
        "of\n"
        "a range is compared with the rest that it keeps.",
    .examples = "  hcct diff old.pb.gz new.pb.gz\n"
                "  hcct diff -o change.html old.pb.gz new.pb.gz\n"
                "  hcct diff --fail-above 5% old.pb.gz new.pb.gz\n"
                "  hcct diff --exe myserver yesterday.pb.gz @now\n"
                "  hcct diff --since 03:10 --until 03:15\n",
    .options = specs,
};

static int compare(const struct profile *const profile[DIFF_SIDES], char *const *names,
                   const struct view *view, const struct diff_given *given) {
    struct diff_options options = {.by = view->options.by, .name = {names[0], names[1]}};
    struct diff diff;
    char error[512];
    if (given->absolute || given->shares)
        options.mode = given->absolute ? DIFF_ABSOLUTE : DIFF_SHARES;
    if (!diff_make(&diff, profile[DIFF_BEFORE], profile[DIFF_AFTER], &options, error,
                   sizeof error)) {
        complain("%s", error);
        return HCCT_EXIT_FAILURE;
    }
    int status = diff_output(&diff, view, given->view.output, given->all);
    if (status == HCCT_EXIT_OK)
        status = diff_limit_judge(&diff, &given->limit);
    diff_free(&diff);
    return status;
}

static bool resolve(struct diff_given *given, int words, char *const *names, struct view *view) {
    bool ranged = range_is_given(&given->range);
    if (words != (ranged ? 0 : 2)) {
        complain(ranged ? "--since and --until compare a range with the rest: name no profile, or "
                          "write @03:10..03:15"
                        : "name two profiles: hcct diff BEFORE AFTER");
        return false;
    }
    if (!ranged && strcmp(names[0], "-") == 0 && strcmp(names[1], "-") == 0) {
        complain("only one of the profiles can be standard input");
        return false;
    }
    if (given->absolute && given->shares) {
        complain("--absolute and --shares exclude each other");
        return false;
    }
    if (!diff_limit_read(&given->limit) || !transform_options_check(&given->transform))
        return false;
    if (!view_resolve(&given->view, formats, given->view.output != NULL ? -1 : STDOUT_FILENO, view))
        return false;
    return diff_output_has(view->format);
}

/* `word`: NULL where a range is compared with the rest, which is the side before. */
static int read_side(const char *word, bool before, const struct diff_given *given,
                     enum profile_by by, struct profile **profile) {
    int status = word != NULL ? operand_read(word, &given->daemon, profile)
                              : operand_read_range(&given->range, before, &given->daemon, profile);
    if (status == HCCT_EXIT_OK)
        *profile = transform_apply(*profile, &given->transform, by);
    return status;
}

int cmd_diff(int argc, char **argv) {
    struct diff_given given = {.view = VIEW_NOT_GIVEN};
    struct profile *profile[DIFF_SIDES] = {NULL, NULL};
    struct view view;
    int rest, status = HCCT_EXIT_OK;
    static char all_else[] = DIFF_THE_REST, range[] = DIFF_THE_RANGE;
    static char *const sides[] = {all_else, range};
    options_parse(&command, argc, argv, &given, &rest);
    bool ranged = range_is_given(&given.range);
    if (!resolve(&given, argc - rest, argv + rest, &view))
        return HCCT_EXIT_USAGE;
    for (int side = 0; side < DIFF_SIDES && status == HCCT_EXIT_OK; side++)
        status = read_side(ranged ? NULL : argv[rest + side], side == DIFF_BEFORE, &given,
                           view.options.by, &profile[side]);
    if (status == HCCT_EXIT_OK)
        status = compare((const struct profile *const *)profile, ranged ? sides : argv + rest,
                         &view, &given);
    profile_free(profile[DIFF_BEFORE]);
    profile_free(profile[DIFF_AFTER]);
    return status;
}

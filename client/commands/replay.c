/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * commands/replay_trace.c - the profile of a recorded trace, with any summary, phi and epsilon.
 */
#include "client/command.h"
#include "client/commands/replay_trace.h"
#include "client/output.h"
#include "client/profile_file.h"
#include "client/view.h"
#include "common/assemble/agent_frames.h"
#include "common/assemble/symbols.h"
#include "common/base/memory.h"
#include "common/tree/summary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PHI_DEFAULT 1e-4 /* as hcctd has it */

struct replay_options {
    const char *summary;
    double epsilon;
    uint64_t memory_limit;
    bool partial, no_report;
    struct view_options view;
};

#define DEFAULT_BYTES (64u << 20)  /* as hcctd has it */
#define EXACT_BYTES   (4ull << 30) /* where all contexts are wanted, as hcct record has it */

static bool keeps_all(const char *summary) {
    return summary != NULL && strcmp(summary, "exact") == 0;
}

static const struct option_spec specs[] = {
    {"summary", 0, OPTION_STRING, "KIND", offsetof(struct replay_options, summary), 0, 0,
     "which contexts are kept, as hcctd has it (filtered-space-saving)"},
    {"epsilon", 0, OPTION_FRACTION, "E", offsetof(struct replay_options, epsilon), 0, 1,
     "largest error of a count, as a share of the total; below phi (0.00002, or phi / 5 where that "
     "is "
     "less)"},
    {"memory-limit", 0, OPTION_SIZE, "SIZE", offsetof(struct replay_options, memory_limit),
     1u << 20, 1ull << 40,
     "of one process's tree; error bounds grow when it is reached (64M; with "
     "--summary exact 4G)"},
    {"partial", 0, OPTION_FLAG, NULL, offsetof(struct replay_options, partial), 0, 0,
     "of a trace that ends early, make the profile of what is there"},
    VIEW_SPECS(replay_options, "write the profile to FILE; pprof, if its suffix says nothing else"),
    {"no-report", 0, OPTION_FLAG, NULL, offsetof(struct replay_options, no_report), 0, 0,
     "with -o: only write the profile"},
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "hcct replay [options] TRACE",
    .about = "Makes the profile of a trace that 'hcct record --trace' or 'hcctd --trace' has\n"
             "written: with the same algorithm, phi and epsilon the same one, or any other.\n"
             "TRACE - is standard input.",
    .examples = "  hcct replay app.trace\n"
                "  hcct replay --summary exact -o exact.pb.gz app.trace\n"
                "  hcct replay --phi 0.001 --epsilon 0.0001 -o hot.pb.gz app.trace\n",
    .options = specs,
};

/* ---- options ---- */

static bool complain_summary(const char *word) {
    char known[256] = "";
    for (size_t i = 0; summary_kinds[i]->name != NULL; i++) {
        strcat(known, i > 0 ? ", " : "");
        strcat(known, summary_kinds[i]->name);
    }
    complain("there is no algorithm '%s'; there are: %s", word, known);
    return false;
}

static bool resolve(struct replay_options *options, struct view *view) {
    bool to_file = options->view.output != NULL;
    if (options->view.phi == 0)
        options->view.phi = PHI_DEFAULT;
    if (options->epsilon == 0)
        options->epsilon = summary_default_epsilon(options->view.phi);
    if (options->epsilon >= options->view.phi) {
        complain("--epsilon %g must be below --phi %g: an error as large as what is hot tells "
                 "nothing",
                 options->epsilon, options->view.phi);
        return false;
    }
    if (options->summary == NULL)
        options->summary = summary_kinds[0]->name;
    if (summary_find(options->summary) == NULL)
        return complain_summary(options->summary);
    if (!view_resolve(&options->view, to_file ? format_find("pprof") : formats,
                      to_file ? STDERR_FILENO : STDOUT_FILENO, view))
        return false;
    bool to_stdout = !to_file || strcmp(options->view.output, "-") == 0;
    return !to_stdout || !view_spoils_terminal(view->format, STDOUT_FILENO);
}

/* ---- the profile ---- */

/* Whether there is something to make a profile of; says why not. */
static int judge(const struct trace_reader *reader, const struct replayed *replayed, bool partial,
                 const char *name) {
    bool empty = trace_reader_totals(reader)->weight == 0;
    if (replayed->end == TRACE_READ_END && empty)
        complain("%s: the trace is complete, and nothing was counted in it", name);
    else if (replayed->end == TRACE_READ_FAILED || (replayed->end == TRACE_READ_CUT && empty))
        complain("%s", trace_reader_error(reader));
    else if (replayed->end == TRACE_READ_CUT && !partial)
        complain("%s; --partial makes a profile of what is there", trace_reader_error(reader));
    else
        return HCCT_EXIT_OK;
    return replayed->end == TRACE_READ_END ? HCCT_EXIT_NO_DATA : HCCT_EXIT_FAILURE;
}

static struct profile *make_profile(struct replayed *replayed, const struct replay_options *options,
                                    struct symbol_service *symbols) {
    const struct assemble_params params = {
        .phi = options->view.phi, .epsilon = options->epsilon, .summary = options->summary};
    uint32_t *module_of;
    struct profile *profile = assemble_trees(replayed->parts, replayed->n, &params, &module_of);
    profile->time_ns = replayed->since_ns;
    profile->duration_ns = replayed->duration_ns;
    profile->period = replayed->period;
    symbolize(profile, module_of, symbols, SYMBOL_COMPLETE);
    profile = agent_frames_hide(profile);
    free(module_of);
    return profile;
}

static int write_profile(const struct profile *profile, const struct view *view,
                         const struct replay_options *options) {
    struct format_options plain = view->options;
    struct output output;
    bool to_file = options->view.output != NULL;
    if (to_file) {
        plain.color = false;
        plain.width = 0;
    }
    if (!output_open(&output, to_file ? options->view.output : "-", NULL))
        return HCCT_EXIT_FAILURE;
    if (!profile_file_write(output.file, profile, view->format, &plain, 0)) {
        output_fail(&output);
        return HCCT_EXIT_FAILURE;
    }
    char *name = output_commit(&output, 0);
    if (name != NULL && to_file && !options->no_report) {
        profile_file_write(stderr, profile, formats, &view->options, 0);
        complain("the profile is in %s", name);
    }
    free(name);
    return name != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

static int show(struct replayed *replayed, const struct view *view,
                const struct replay_options *options) {
    struct symbol_service *symbols = symbol_service_new("/proc/self/exe"); /* see main.c */
    if (symbols == NULL)
        memory_die("no memory for symbols");
    struct profile *profile = make_profile(replayed, options, symbols);
    symbol_service_free(symbols);
    int status = write_profile(profile, view, options);
    profile_free(profile);
    return status;
}

static int replay(const char *name, const struct view *view, const struct replay_options *options) {
    const struct mcct_params params = {.summary = summary_find(options->summary),
                                       .epsilon = options->epsilon,
                                       .phi = options->view.phi,
                                       .max_bytes = options->memory_limit};
    char error[512];
    struct replayed replayed;
    struct trace_reader *reader = trace_reader_open(name, error, sizeof error);
    if (reader == NULL) {
        complain("%s", error);
        return HCCT_EXIT_FAILURE;
    }
    int status = HCCT_EXIT_FAILURE;
    if (replay_trace(reader, &params, &replayed))
        status = judge(reader, &replayed, options->partial, name);
    if (status == HCCT_EXIT_OK)
        status = show(&replayed, view, options);
    if (status == HCCT_EXIT_OK && replayed.end == TRACE_READ_CUT)
        complain("%s; the profile is of these", trace_reader_error(reader));
    replayed_free(&replayed);
    trace_reader_close(reader);
    return status;
}

int cmd_replay(int argc, char **argv) {
    struct replay_options options = {.view = VIEW_NOT_GIVEN};
    struct view view;
    int rest;
    options_parse(&command, argc, argv, &options, &rest);
    if (options.memory_limit == 0)
        options.memory_limit = keeps_all(options.summary) ? EXACT_BYTES : DEFAULT_BYTES;
    if (rest >= argc) {
        complain("name a trace: hcct replay TRACE; 'hcct record --trace FILE' writes one");
        return HCCT_EXIT_USAGE;
    }
    options_no_more(&command, argc, argv, rest + 1);
    if (!resolve(&options, &view))
        return HCCT_EXIT_USAGE;
    return replay(argv[rest], &view, &options);
}

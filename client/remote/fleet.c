/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet.c - questions to ClickHouse: hcct fleet hot, diff, list, top.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/diff_output.h"
#include "client/profile_output.h"
#include "client/remote/fleet_options.h"
#include "client/remote/fleet_top.h"
#include "client/remote/remote.h"
#include "common/render/format_number.h"

#define CLOCKS_DIFFER_S 60 /* so far that people should know */

/* ---- hot ---- */

/* A push has the time of its host's clock. */
static void tell_of_clocks(const struct fleet_choice *choice, const struct profile *profile) {
    uint64_t last = (profile->time_ns + profile->duration_ns) / 1000000000;
    if (choice->to_s == UINT64_MAX && last > choice->now_s + CLOCKS_DIFFER_S)
        complain("the clock of a host is %" PRIu64 " s ahead of the server's: what it has pushed "
                 "since then is in this, whenever it was; hcct fleet list --by host names it",
                 last - choice->now_s);
}

/* Not that hosts had no room for them, as [~] says elsewhere. */
static void tell_of_frames(const struct profile *profile, uint64_t frameless) {
    if (frameless > 0)
        complain(
            "%s of it has no frames in the table stacks, which has lost them: it stands in [~]; "
            "hcct push, while it runs, sees that, and sends those again that hcctd still has",
            format_weight(profile, frameless).text);
}

/* The status is that of fleet_profile(). */
static int ask_profile(const struct fleet_server *server, const struct fleet_choice *asked,
                       struct profile **profile) {
    struct fleet_choice choice = *asked;
    uint64_t frameless = 0;
    int status = fleet_set_span(server, &choice);
    if (status == HCCT_EXIT_OK)
        status = fleet_profile(server, &choice, profile, &frameless);
    if (status != HCCT_EXIT_OK) {
        complain("%s", server->error);
        return status;
    }
    tell_of_clocks(&choice, *profile);
    tell_of_frames(*profile, frameless);
    return status;
}

static const struct option_spec hot_specs[] = {
    FLEET_CHOICE_SPECS,
    VIEW_SPECS_BY(fleet_options, FLEET_BY_HELP, "write to FILE, not to the terminal"),
    FLEET_SERVER_SPECS};

static const struct option_command hot_command = {
    .usage = "hcct fleet hot [options]",
    .about = "Shows the hot calling contexts of all hosts that push to ClickHouse, each with its\n"
             "bounds over all of them.",
    .examples = "  hcct fleet hot --service shop --since 24h\n"
                "  hcct fleet hot --tag build=417 -o build417.pb.gz\n",
    .options = hot_specs,
};

/* Text and JSON are of grouped contexts, other formats of all. */
static bool shows_labels_only(const struct view *view) {
    bool grouped = view->format == format_find("text") || view->format == format_find("json");
    return grouped && view->options.focus == NULL && view->options.ignore == NULL;
}

static int hot(int argc, char **argv) {
    struct fleet_options options = FLEET_OPTIONS_BEGIN;
    struct fleet_choice choice;
    struct fleet_server server;
    struct profile *profile;
    struct view view;
    int rest;
    options_parse(&hot_command, argc, argv, &options, &rest);
    options_no_more(&hot_command, argc, argv, rest);
    fleet_resolve_by(&options);
    int shown_on = options.view.output != NULL ? -1 : STDOUT_FILENO;
    if (!view_resolve(&options.view, formats, shown_on, &view) ||
        view_spoils_terminal(view.format, shown_on) || !fleet_resolve_choice(&options, &choice) ||
        !fleet_open_server(&options, &server))
        return HCCT_EXIT_USAGE;
    choice.labels_only = choice.by == FLEET_BY_HOST && shows_labels_only(&view);
    int status = ask_profile(&server, &choice, &profile);
    transfer_free(server.transfer);
    if (status != HCCT_EXIT_OK)
        return status;
    status = profile_output(profile, &view, &options.view);
    profile_free(profile);
    return status;
}

/* ---- diff ---- */

static const struct option_spec diff_specs[] = {
    FLEET_CHOICE_SPECS, DIFF_SPECS_BY(struct fleet_options, FLEET_BY_HELP),
    DIFF_LIMIT_SPECS(struct fleet_options, limit), FLEET_SERVER_SPECS};

static const struct option_command diff_command = {
    .usage = "hcct fleet diff [options] BEFORE AFTER",
    .about =
        "Compares two choices of what was pushed: days, builds, hosts. Each is what the options\n"
        "say but for its own words, with semicolons between them: since, until, service, host,\n"
        "tag.",
    .examples = "  hcct fleet diff --service shop 'since=48h;until=24h' since=24h\n"
                "  hcct fleet diff --since 7d tag=build=416 tag=build=417\n",
    .options = diff_specs,
};

/* "since=48h;until=24h" over what the options say. `words` is taken apart. */
static bool resolve_side(char *words, struct fleet_options options, struct fleet_choice *choice) {
    const struct {
        const char *name;
        const char **value;
    } known[] = {{"since", &options.since},
                 {"until", &options.until},
                 {"service", &options.service},
                 {"host", &options.host},
                 {"tag", &options.tag}};
    char *save;

    for (char *word = strtok_r(words, ";", &save); word != NULL;
         word = strtok_r(NULL, ";", &save)) {
        size_t n = strcspn(word, "="), i = 0, most = sizeof known / sizeof known[0];
        while (i < most && (strlen(known[i].name) != n || strncmp(word, known[i].name, n) != 0))
            i++;
        if (i == most || word[n] == '\0') {
            complain("'%s' is none of since=, until=, service=, host= and tag=", word);
            return false;
        }
        *known[i].value = word + n + 1;
    }
    return fleet_resolve_choice(&options, choice);
}

static int compare(struct profile *const profile[DIFF_SIDES], char *const *names,
                   const struct view *view, const struct fleet_options *options) {
    struct diff_options how = {.by = view->options.by, .name = {names[0], names[1]}};
    char error[512];
    struct diff diff;
    if (options->absolute || options->shares)
        how.mode = options->absolute ? DIFF_ABSOLUTE : DIFF_SHARES;
    if (!diff_make(&diff, profile[DIFF_BEFORE], profile[DIFF_AFTER], &how, error, sizeof error)) {
        complain("%s", error);
        return HCCT_EXIT_FAILURE;
    }
    int status = diff_output(&diff, view, options->view.output, options->all);
    if (status == HCCT_EXIT_OK)
        status = diff_limit_judge(&diff, &options->limit);
    diff_free(&diff);
    return status;
}

static int diff(int argc, char **argv) {
    struct fleet_options options = FLEET_OPTIONS_BEGIN;
    struct fleet_choice choice[DIFF_SIDES];
    struct profile *profile[DIFF_SIDES] = {NULL, NULL};
    char *names[DIFF_SIDES] = {NULL, NULL};
    struct fleet_server server;
    struct view view;
    int rest, status = HCCT_EXIT_USAGE;
    options_parse(&diff_command, argc, argv, &options, &rest);
    fleet_resolve_by(&options);
    if (argc - rest != DIFF_SIDES) {
        complain("name two choices: hcct fleet diff 'since=48h;until=24h' since=24h");
        return status;
    }
    if (options.absolute && options.shares) {
        complain("--absolute and --shares exclude each other");
        return status;
    }
    if (!diff_limit_read(&options.limit))
        return status;
    for (int side = 0; side < DIFF_SIDES; side++)
        names[side] = strdup(argv[rest + side]);
    if (view_resolve(&options.view, formats, options.view.output != NULL ? -1 : STDOUT_FILENO,
                     &view) &&
        diff_output_has(view.format) && resolve_side(argv[rest], options, &choice[DIFF_BEFORE]) &&
        resolve_side(argv[rest + 1], options, &choice[DIFF_AFTER]) &&
        fleet_open_server(&options, &server)) {
        status = HCCT_EXIT_OK;
        for (int side = 0; side < DIFF_SIDES && status == HCCT_EXIT_OK; side++)
            status = ask_profile(&server, &choice[side], &profile[side]);
        transfer_free(server.transfer);
        if (status == HCCT_EXIT_OK)
            status = compare(profile, names, &view, &options);
    }
    for (int side = 0; side < DIFF_SIDES; side++) {
        profile_free(profile[side]);
        free(names[side]);
    }
    return status;
}

/* ---- list ---- */

static const struct option_spec list_specs[] = {
    FLEET_CHOICE_SPECS,
    {"by", 0, OPTION_STRING, "WHAT", FLEET_AT(view.by), 0, 0, "service or host (service)"},
    {"format", 0, OPTION_STRING, "F", FLEET_AT(view.format), 0, 0,
     "text or json, one object a line (text)"},
    FLEET_SERVER_SPECS};

static const struct option_command list_command = {
    .usage = "hcct fleet list [options]",
    .about = "Lists the services, or the hosts, that push to ClickHouse.",
    .examples = "  hcct fleet list --since 24h\n"
                "  hcct fleet list --by host --service shop\n",
    .options = list_specs,
};

/* Is `word` the second of two? NULL is the first. */
static bool is_second(const char *option, const char *word, const char *first, const char *second,
                      bool *yes) {
    *yes = word != NULL && strcmp(word, second) == 0;
    if (word == NULL || *yes || strcmp(word, first) == 0)
        return true;
    complain("%s '%s': it must be %s or %s", option, word, first, second);
    return false;
}

static int list(int argc, char **argv) {
    struct fleet_options options = FLEET_OPTIONS_BEGIN;
    struct fleet_choice choice;
    struct fleet_server server;
    bool by_host, json;
    int rest;
    options_parse(&list_command, argc, argv, &options, &rest);
    options_no_more(&list_command, argc, argv, rest);
    if (!is_second("--by", options.view.by, "service", "host", &by_host) ||
        !is_second("--format", options.view.format, "text", "json", &json) ||
        !fleet_resolve_choice(&options, &choice) || !fleet_open_server(&options, &server))
        return HCCT_EXIT_USAGE;
    int status = fleet_set_span(&server, &choice);
    if (status == HCCT_EXIT_OK)
        status = fleet_list(&server, &choice, by_host, json);
    if (status != HCCT_EXIT_OK)
        complain("%s", server.error);
    transfer_free(server.transfer);
    return status;
}

/* ---- the whole ---- */

static const struct question {
    const char *name;
    int (*run)(int argc, char **argv);
} questions[] = {{"hot", hot}, {"diff", diff}, {"list", list}, {"top", fleet_top}};

static const struct option_spec no_specs[] = {OPTIONS_END};

static const struct option_command command = {
    .usage = "hcct fleet hot|diff|list|top [options]",
    .about =
        "Asks ClickHouse for what many hosts have pushed (hcct push): hot contexts, differences,\n"
        "what there is, and all of it live.",
    .examples = "  hcct fleet hot --help\n"
                "  hcct fleet hot --service shop --since 24h\n"
                "  hcct fleet diff --since 7d tag=build=416 tag=build=417\n"
                "  hcct fleet top --service shop\n",
    .options = no_specs,
    .takes_command = true,
};

int cmd_fleet(int argc, char **argv) {
    int rest, nothing;
    for (size_t i = 0; argc > 1 && i < sizeof questions / sizeof questions[0]; i++)
        if (strcmp(argv[1], questions[i].name) == 0)
            return questions[i].run(argc - 1, argv + 1);
    options_parse(&command, argc, argv, &nothing, &rest);
    complain("say what to ask: hcct fleet hot, diff, list or top");
    return HCCT_EXIT_USAGE;
}

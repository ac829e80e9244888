/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_top.c - hcct top, of all hosts.
 */
#include "client/remote/fleet_top.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "client/remote/fleet_options.h"
#include "client/remote/fleet_source.h"
#include "client/top/batch.h"
#include "client/top/loop.h"
#include "client/top/ui.h"

#define DELAY_DEFAULT_S 15 /* pushes come so often */

struct fleet_top_options {
    struct fleet_options fleet; /* the first member: offsets of its tables are those of this */
    const char *window;
    double delay;
    unsigned iterations; /* UINT_MAX: not given */
    bool batch, inverted, functions;
};

#define MEMBER(name) offsetof(struct fleet_top_options, name)

static const struct option_spec specs[] = {
    FLEET_CHOICE_SPECS,
    {"window", 0, OPTION_STRING, "SPAN", MEMBER(window), 0, 0,
     "also the last 10s, 60s, 5m or 1h, or none (5m; none in plain text)"},
    {"delay", 'd', OPTION_FRACTION, "SECONDS", MEMBER(delay), 0.01, 86400, "refresh interval (15)"},
    {"by", 0, OPTION_STRING, "WHAT", MEMBER(fleet.view.by), 0, 0,
     "group by function, site, line, module, thread or label (function)"},
    {"n", 'n', OPTION_UNSIGNED, "N", MEMBER(fleet.view.n), 1, 1000000,
     "only the N hottest contexts"},
    {"inverted", 'i', OPTION_FLAG, NULL, MEMBER(inverted), 0, 0, "callers below callees (key i)"},
    {"functions", 'f', OPTION_FLAG, NULL, MEMBER(functions), 0, 0,
     "a flat list of functions (key f)"},
    {"batch", 'b', OPTION_FLAG, NULL, MEMBER(batch), 0, 0, "plain text on stdout, again and again"},
    {"iterations", 0, OPTION_UNSIGNED, "N", MEMBER(iterations), 0, 1e9,
     "refreshes in --batch (0: without end; 1 where stdout is no terminal)"},
    {"color", 0, OPTION_STRING, "WHEN", MEMBER(fleet.view.color), 0, 0,
     "auto, always or never (auto)"},
    FLEET_SERVER_SPECS};

static const struct option_command command = {
    .usage = "hcct fleet top [options]",
    .about = "Shows the hot calling contexts of all hosts that push to ClickHouse, live: shares "
             "since\n--since, and those of the last minutes beside them. The key ? lists the keys; "
             "services\nstand where hcct top has processes.",
    .examples = "  hcct fleet top --service shop --since 24h\n"
                "  hcct fleet top --host web7 --window 60s\n"
                "  hcct fleet top --batch --iterations 1    plain text, for scripts\n",
    .options = specs,
};

int fleet_top(int argc, char **argv) {
    struct fleet_top_options options = {
        .fleet = FLEET_OPTIONS_BEGIN, .delay = DELAY_DEFAULT_S, .iterations = UINT_MAX};
    static struct fleet_source source; /* the asking thread may outlive this function */
    struct top_start start = {0};
    struct fleet_server server;
    struct fleet_choice choice;
    struct view view;
    int rest;
    options_parse(&command, argc, argv, &options, &rest);
    options_no_more(&command, argc, argv, rest);
    bool screen = !options.batch && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
    if (!view_resolve(&options.fleet.view, formats, STDOUT_FILENO, &view) ||
        !top_resolve_window(options.window, screen ? "5m" : "none", &start.request) ||
        !fleet_resolve_choice(&options.fleet, &choice) ||
        !top_resolve_metric(choice.metric, &start.request) ||
        !fleet_open_server(&options.fleet, &server))
        return HCCT_EXIT_USAGE;
    fleet_source_make(&source, &server, &choice);
    start.color = view.options.color;
    start.shape = options.functions  ? TOP_FUNCTIONS
                  : options.inverted ? TOP_INVERTED
                                     : TOP_CONTEXTS;
    start.request.choose = screen;
    start.request.by = view.options.by;
    start.request.n = options.fleet.view.n;
    start.request.delay = options.delay;
    if (screen)
        return top_loop(&source.source, &start);
    unsigned iterations = options.iterations != UINT_MAX ? options.iterations
                          : options.batch                ? 0
                                                         : 1;
    return top_batch(&source.source, &start.request, start.shape, iterations, view.options.width);
}

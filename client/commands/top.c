/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * top.c - the live screen of hot contexts, or its text.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/ask.h"
#include "client/command.h"
#include "client/top/batch.h"
#include "client/top/daemon.h"
#include "client/top/loop.h"
#include "client/top/ui.h"
#include "client/view.h"
#include "common/wire/metric.h"

struct top_options {
    const char *socket, *process, *window, *metric;
    struct view_options view;
    double delay;
    unsigned iterations; /* UINT_MAX: not given */
    bool batch, inverted, functions;
};

#define MEMBER(name) offsetof(struct top_options, name)

static const struct option_spec specs[] = {
    {"process", 'p', OPTION_STRING, "PID|NAME", MEMBER(process), 0, 0,
     "only this process (all that are profiled)"},
    {"metric", 0, OPTION_STRING, "WHAT", MEMBER(metric), 0, 0,
     "what processes count: cpu, wall, wait, alloc, heap, lock, calls, ... (key M)"},
    {"window", 0, OPTION_STRING, "SPAN", MEMBER(window), 0, 0,
     "also the last 10s, 60s, 5m or 1h, or none (10s; none in plain text)"},
    {"delay", 'd', OPTION_FRACTION, "SECONDS", MEMBER(delay), 0.01, 86400, "refresh interval (2)"},
    {"by", 0, OPTION_STRING, "WHAT", MEMBER(view.by), 0, 0,
     "group by function, site, line, module, thread or label (function)"},
    {"phi", 0, OPTION_FRACTION, "P", MEMBER(view.phi), 0, 1,
     "hot is what has at least this share of the total"},
    {"n", 'n', OPTION_UNSIGNED, "N", MEMBER(view.n), 1, 1000000, "only the N hottest contexts"},
    {"inverted", 'i', OPTION_FLAG, NULL, MEMBER(inverted), 0, 0, "callers below callees (key i)"},
    {"functions", 'f', OPTION_FLAG, NULL, MEMBER(functions), 0, 0,
     "a flat list of functions (key f)"},
    {"batch", 'b', OPTION_FLAG, NULL, MEMBER(batch), 0, 0, "plain text on stdout, again and again"},
    {"iterations", 0, OPTION_UNSIGNED, "N", MEMBER(iterations), 0, 1e9,
     "refreshes in --batch (0: without end; 1 where stdout is no terminal)"},
    {"color", 0, OPTION_STRING, "WHEN", MEMBER(view.color), 0, 0, "auto, always or never (auto)"},
    SOCKET_SPEC(top_options, socket),
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "hcct top [options]",
    .about = "Shows the hot calling contexts of running programs, live: shares since the start, "
             "and those of\nthe last seconds beside them. The key ? lists the keys.",
    .examples = "  hcct top                           all that hcctd profiles\n"
                "  hcct top -p myserver --window 60s  one process, its last minute beside it\n"
                "  hcct top --batch --iterations 1    plain text, for scripts\n",
    .options = specs,
};

static int resolve_process(const char *socket, const char *who, struct top_request *request) {
    char *exe = NULL;
    if (who == NULL)
        return HCCT_EXIT_OK;
    int status = processes_find(socket, who, &request->pid, &exe);
    if (exe != NULL && strlen(exe) < sizeof request->exe)
        strcpy(request->exe, exe);
    free(exe);
    return status;
}

static int show(const char *socket, const struct top_options *options, bool screen,
                const struct top_start *start, const struct view *view) {
    static struct top_daemon daemon; /* the asking thread may outlive this function */
    unsigned iterations = options->iterations;
    top_daemon_make(&daemon, socket);
    if (screen)
        return top_loop(&daemon.source, start);
    if (iterations == UINT_MAX)
        iterations = options->batch ? 0 : 1;
    return top_batch(&daemon.source, &start->request, start->shape, iterations,
                     view->options.width);
}

int cmd_top(int argc, char **argv) {
    struct top_options options = {.view = VIEW_NOT_GIVEN, .delay = 2, .iterations = UINT_MAX};
    struct top_start start = {0};
    struct view view;
    static char socket[PATHS_SOCKET_MAX]; /* the asking thread may outlive this function */
    int rest;
    options_parse(&command, argc, argv, &options, &rest);
    options_no_more(&command, argc, argv, rest);
    bool screen = !options.batch && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
    const char *window =
        screen ? top_windows[TOP_WINDOW_DEFAULT] : "none"; /* or all that there was */
    const char *metric = options.metric != NULL ? metric_kind_of_word(options.metric) : NULL;
    if (!view_resolve(&options.view, formats, STDOUT_FILENO, &view) ||
        !top_resolve_window(options.window, window, &start.request) ||
        !top_resolve_metric(metric, &start.request))
        return HCCT_EXIT_USAGE;
    int status = ask_socket(socket, options.socket);
    if (status == HCCT_EXIT_OK)
        status = resolve_process(socket, options.process, &start.request);
    if (status != HCCT_EXIT_OK)
        return status;
    start.color = view.options.color;
    start.shape = options.functions  ? TOP_FUNCTIONS
                  : options.inverted ? TOP_INVERTED
                                     : TOP_CONTEXTS;
    start.request.choose = screen;
    start.request.by = view.options.by;
    start.request.phi = options.view.phi;
    start.request.n = options.view.n;
    start.request.delay = options.delay;
    return show(socket, &options, screen, &start, &view);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * hot.c - the hot contexts, as a running hcctd sees them now.
 */
#include "client/ask.h"
#include "client/command.h"
#include "client/metric_answers.h"
#include "client/output.h"
#include "client/pager.h"
#include "client/processes.h"
#include "client/range.h"
#include "client/view.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hot_options {
    const char *socket, *process, *exe, *tag, *metric, *window;
    struct range_options range;
    struct view_options view;
};

static const struct option_spec specs[] = {
    {"process", 'p', OPTION_STRING, "PID|NAME", offsetof(struct hot_options, process), 0, 0,
     "only this process (all that are profiled)"},
    {"exe", 0, OPTION_STRING, "PATH", offsetof(struct hot_options, exe), 0, 0,
     "only processes of this executable"},
    {"tag", 0, OPTION_STRING, "KEY=VALUE", offsetof(struct hot_options, tag), 0, 0,
     "only processes that were started with this tag (HCCT_TAGS)"},
    {"metric", 0, OPTION_STRING, "WHAT", offsetof(struct hot_options, metric), 0, 0,
     "only processes that count this: cpu, wall, wait, calls, alloc, heap, lock, ..."},
    {"window", 'w', OPTION_STRING, "TIME", offsetof(struct hot_options, window), 0, 0,
     "only the last 10s, 5m, 1h, up to an hour (since the start)"},
    RANGE_SPECS(hot_options, range),
    VIEW_SPECS(hot_options, "write to FILE, not to the terminal"),
    SOCKET_SPEC(hot_options, socket),
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "hcct hot [options]",
    .about = "Shows the hot calling contexts of programs that run with the agent, up to now.",
    .examples = "  hcct hot                           all that hcctd profiles\n"
                "  hcct hot -p myserver --by line     one process, by source line\n"
                "  hcct hot --window 60s              what has been hot in the last minute\n"
                "  hcct hot --since 03:10 --until 03:15\n"
                "  hcct hot -p 4711 -o hot.pb.gz      for pprof, or 'hcct report' later\n",
    .options = specs,
};

static void add_view(struct query *query, const struct view_options *given,
                     const struct view *view) {
    query_add(query, "format", view->format->name);
    if (given->by != NULL)
        query_add(query, "by", given->by);
    if (given->phi > 0)
        query_add_fraction(query, "phi", given->phi);
    if (given->focus != NULL)
        query_add(query, "focus", given->focus);
    if (given->ignore != NULL)
        query_add(query, "ignore", given->ignore);
    if (given->n > 0)
        query_add_unsigned(query, "n", given->n);
    if (given->cut >= 0)
        query_add_fraction(query, "cut", given->cut);
    if (given->top != UINT_MAX)
        query_add_unsigned(query, "top", given->top);
    if (view->options.color)
        query_add(query, "color", "1");
    if (given->output != NULL) /* what is kept should not lack what takes a while */
        query_add(query, "symbols", "complete");
    if (view->options.width > 0)
        query_add_unsigned(query, "width", view->options.width);
}

static int add_process(struct query *query, const char *path, const struct hot_options *options) {
    if (options->exe != NULL)
        query_add(query, "exe", options->exe);
    if (options->tag != NULL)
        query_add(query, "tag", options->tag);
    if (options->metric != NULL)
        query_add_metric(query, options->metric);
    return processes_query(query, path, options->process);
}

/* What is asked for without a metric is of the first one; a file of pprof has room for all. */
static bool takes_all_metrics(const struct hot_options *options, const struct view *view) {
    return options->metric == NULL && options->view.output != NULL &&
           view->format->write == write_pprof;
}

static int write_all(const struct metric_answers *answers, const char *name) {
    struct output output;
    if (!output_open(&output, name, NULL))
        return HCCT_EXIT_FAILURE;
    if (!metric_answers_join(answers, output.file)) {
        output_fail(&output);
        return HCCT_EXIT_FAILURE;
    }
    char *written = output_commit(&output, 0);
    free(written);
    return written != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

/* Of the processes that the query is about, which the list's is, too. */
static int keep_all_metrics(const char *path, const struct query *query, const struct query *list,
                            const char *name, bool part) {
    struct metric_answers answers = {.n = 0};
    int status = metric_answers_ask(&answers, path, query, NULL);
    if (status == HCCT_EXIT_OK)
        status = metric_answers_ask_others(&answers, path, query, list, part);
    if (status == HCCT_EXIT_OK)
        status = write_all(&answers, name);
    metric_answers_free(&answers);
    return status;
}

static int write_answer(const struct http_answer *answer, const char *name) {
    struct output output;
    if (!output_open(&output, name != NULL ? name : "-", NULL))
        return HCCT_EXIT_FAILURE;
    fwrite(answer->body, 1, answer->bytes, output.file);
    char *written = output_commit(&output, 0);
    free(written);
    return written != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

/* On a terminal. */
static int show_answer(const struct http_answer *answer) {
    return pager_show(answer->body, answer->bytes) ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

int cmd_hot(int argc, char **argv) {
    struct hot_options options = {.view = VIEW_NOT_GIVEN};
    struct http_answer answer;
    struct query query, list;
    struct view view;
    char path[PATHS_SOCKET_MAX];
    int rest;
    options_parse(&command, argc, argv, &options, &rest);
    options_no_more(&command, argc, argv, rest);
    bool to_file = options.view.output != NULL;
    int shown_on = to_file ? -1 : STDOUT_FILENO;
    if (!view_resolve(&options.view, formats, shown_on, &view))
        return HCCT_EXIT_USAGE;
    if (view_spoils_terminal(view.format, shown_on))
        return HCCT_EXIT_USAGE;
    int status = ask_socket(path, options.socket);
    if (status != HCCT_EXIT_OK)
        return status;
    query_start(&query, "/v1/hot");
    query_start(&list, "/v1/processes");
    status = add_process(&query, path, &options);
    if (status == HCCT_EXIT_OK && takes_all_metrics(&options, &view))
        status = add_process(&list, path, &options);
    if (status != HCCT_EXIT_OK)
        return status;
    add_view(&query, &options.view, &view);
    if (options.window != NULL)
        query_add(&query, "window", options.window);
    if (!range_add(&query, &options.range, false, NULL))
        return HCCT_EXIT_USAGE;
    if (takes_all_metrics(&options, &view))
        return keep_all_metrics(path, &query, &list, options.view.output,
                                options.window != NULL || range_is_given(&options.range));
    status = ask(path, "GET", query.text, &answer);
    if (status == HCCT_EXIT_OK)
        status = !to_file && pager_is_wanted() ? show_answer(&answer)
                                               : write_answer(&answer, options.view.output);
    free(answer.body);
    return status;
}

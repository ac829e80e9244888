/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * control.c - start, stop and set: resume and pause sampling, change its rate.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask.h"
#include "client/attach/attach.h"
#include "client/command.h"
#include "client/json_in.h"
#include "client/processes.h"
#include "common/base/options.h"
#include "common/wire/burst.h"
#include "common/wire/metric.h"

struct control_options {
    const char *socket, *process, *burst, *metric;
    unsigned rate;
};

#define AT(member) offsetof(struct control_options, member)
#define WHICH                                                                                      \
    {"process", 'p', OPTION_STRING, "PID|NAME", AT(process), 0, 0, "which process"},               \
        SOCKET_SPEC(control_options, socket)
#define HOW                                                                                        \
    {"rate", 0, OPTION_UNSIGNED, "N", AT(rate), 1, 10000, "samples per second of CPU time"}, {     \
        "burst", 0, OPTION_STRING, "LENGTH/PERIOD", AT(burst), 0, 0,                               \
            "sample in bursts only, such as 2ms/20ms of CPU time; none: evenly"                    \
    }

#define WHAT                                                                                       \
    {                                                                                              \
        "metric", 0, OPTION_STRING, "WHAT", AT(metric), 0, 0,                                      \
            "what is sampled: says how that is done, as it can't be changed here"                  \
    }

static const struct option_spec stop_specs[] = {WHICH, OPTIONS_END};
static const struct option_spec start_specs[] = {WHICH, HOW, OPTIONS_END};
static const struct option_spec set_specs[] = {WHICH, HOW, WHAT, OPTIONS_END};

static const struct option_command start_command = {
    .usage = "hcct start -p PID|NAME [options]",
    .about = "Resumes sampling a program that runs with the agent, after 'hcct stop'.",
    .examples = "  hcct start -p myserver\n"
                "  hcct start -p 812 --rate 1000\n",
    .options = start_specs,
};

static const struct option_command stop_command = {
    .usage = "hcct stop -p PID|NAME [options]",
    .about = "Pauses sampling a program, until 'hcct start'. Its profile so far "
             "stays.",
    .examples = "  hcct stop -p myserver\n",
    .options = stop_specs,
};

static const struct option_command set_command = {
    .usage = "hcct set -p PID|NAME [--rate N] [--burst LENGTH/PERIOD]",
    .about = "Changes the sampling rate of a running program.",
    .examples = "  hcct set -p myserver --rate 1000\n"
                "  hcct set -p myserver --rate 5000 --burst 2ms/20ms\n"
                "  hcct set -p myserver --rate 100 --burst none\n",
    .options = set_specs,
};

static int usage(const char *sentence) {
    complain("%s", sentence);
    return HCCT_EXIT_USAGE;
}

static int check_burst(const char *text) {
    uint64_t length, period;
    if (text == NULL || strcmp(text, "none") == 0 || burst_parse(text, &length, &period))
        return HCCT_EXIT_OK;
    return usage("--burst is no LENGTH/PERIOD such as 2ms/20ms (100us to 10s, the length not above "
                 "the period), and not none");
}

/* ---- the answer ---- */

static int say_what_is_set(const struct http_answer *answer) {
    struct json_object *root = json_in(answer->body, answer->bytes);
    if (root == NULL) {
        complain("the answer can't be read: hcct and hcctd may be of different versions");
        return HCCT_EXIT_FAILURE;
    }
    printf("process %" PRIu64 ": %s, %" PRIu64 " samples per second of CPU time",
           json_in_number(root, "pid"), json_in_text(root, "sampling"),
           json_in_number(root, "rate"));
    uint64_t length = json_in_number(root, "burst_length_ns"),
             period = json_in_number(root, "burst_period_ns");
    if (length != 0)
        printf(" within bursts of %" PRIu64 "us in %" PRIu64 "us", length / 1000, period / 1000);
    putchar('\n');
    json_object_put(root);
    return HCCT_EXIT_OK;
}

/* ---- the request ---- */

static int find_live(const char *path, const char *who, uint32_t *pid) {
    char *exe = NULL;
    int status = processes_find(path, who, pid, &exe);
    free(exe);
    if (status == HCCT_EXIT_OK && *pid == 0) {
        complain("%s has finished: 'hcct list' shows what is live", who);
        status = HCCT_EXIT_NO_DATA;
    }
    return status;
}

/* Whether hcctd has an agent of the process, which may be a number that somebody has typed. */
static int find_agent(const char *path, uint32_t pid, bool *is_there) {
    struct process_list list;
    int status = processes_ask(path, &list);
    *is_there = false;
    for (size_t i = 0; status == HCCT_EXIT_OK && i < list.n; i++)
        *is_there |= list.item[i].live && list.item[i].pid == pid;
    processes_free(&list);
    return status;
}

static void complain_no_agent(uint32_t pid, const char *metric) {
    complain("process %u has no agent here: 'hcct attach --metric %s %u'; or start it with 'hcct "
             "record --metric %s -- ...'",
             pid, metric, pid, metric);
}

/* An agent that was there from the beginning has what stands before malloc and locks from then on,
 * or never: the loader has filled the words by which they are called. */
static int refuse_metric(const struct control_options *options) {
    char path[PATHS_SOCKET_MAX];
    struct metric_list list;
    uint32_t pid = 0;
    bool is_there = false;
    const char *wrong = metric_list_read(options->metric, &list);
    if (wrong != NULL) {
        complain("--metric '%s' is not possible: %s%s", options->metric,
                 strcmp(wrong, METRICS_LIST_EXPECTED) == 0 ? "give " : "", wrong);
        return HCCT_EXIT_USAGE;
    }
    int status = ask_socket(path, options->socket);
    if (status == HCCT_EXIT_OK)
        status = find_live(path, options->process, &pid);
    if (status == HCCT_EXIT_OK)
        status = find_agent(path, pid, &is_there);
    if (status != HCCT_EXIT_OK)
        return status;
    if (!is_there) {
        complain_no_agent(pid, options->metric);
        return HCCT_EXIT_NO_DATA;
    }
    if (attach_is_there((pid_t)pid))
        complain("what is sampled of process %u was chosen when it was attached to: 'hcct detach "
                 "%u', then 'hcct attach --metric %s %u'",
                 pid, pid, options->metric, pid);
    else
        complain("what is sampled of process %u was chosen when it began, as its agent was "
                 "preloaded: start it with HCCT_METRICS=%s (libhcctagent(7) says which library "
                 "that takes); or without the agent, and then 'hcct attach --metric %s'",
                 pid, options->metric, options->metric);
    return HCCT_EXIT_FAILURE;
}

static int ask_for(const struct control_options *options, const char *state) {
    char path[PATHS_SOCKET_MAX];
    struct http_answer answer;
    struct query query;
    uint32_t pid = 0;
    int status = ask_socket(path, options->socket);
    if (status == HCCT_EXIT_OK)
        status = find_live(path, options->process, &pid);
    if (status != HCCT_EXIT_OK)
        return status;
    query_start(&query, "/v1/control");
    query_add_unsigned(&query, "pid", pid);
    if (state != NULL)
        query_add(&query, "state", state);
    if (options->rate != 0)
        query_add_unsigned(&query, "rate", options->rate);
    if (options->burst != NULL)
        query_add(&query, "burst", options->burst);
    status = ask(path, "POST", query.text, &answer);
    if (status == HCCT_EXIT_OK)
        status = say_what_is_set(&answer);
    free(answer.body);
    return status;
}

static int control(const struct option_command *command, const char *state, int argc, char **argv) {
    struct control_options options = {0};
    int rest;
    options_parse(command, argc, argv, &options, &rest);
    options_no_more(command, argc, argv, rest);
    if (options.process == NULL)
        return usage("say which process: -p PID or -p NAME ('hcct list' shows them)");
    if (options.metric != NULL)
        return refuse_metric(&options);
    if (state == NULL && options.rate == 0 && options.burst == NULL)
        return usage("say what to change: --rate or --burst");
    int status = check_burst(options.burst);
    return status == HCCT_EXIT_OK ? ask_for(&options, state) : status;
}

int cmd_start(int argc, char **argv) {
    return control(&start_command, "on", argc, argv);
}

int cmd_stop(int argc, char **argv) {
    return control(&stop_command, "off", argc, argv);
}

int cmd_set(int argc, char **argv) {
    return control(&set_command, NULL, argc, argv);
}

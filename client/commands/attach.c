/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * attach.c - attach and detach: a program that runs already gets the agent, and is left by it.
 */
#include "client/attach/attach.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/attach/named.h"
#include "client/ask.h"
#include "client/command.h"
#include "client/locate.h"
#include "client/processes.h"
#include "common/base/options.h"
#include "common/wire/metric.h"
#include "common/wire/tags.h"

#define WAIT_DEFAULT  5 /* seconds */
#define REACHED_TRIES 50
#define REACHED_NS    20000000

struct attach_options {
    const char *socket, *tags, *metric, *clock;
    unsigned rate, wait;
    bool lines;
    bool threads;
    bool python;
};

#define AT(member) offsetof(struct attach_options, member)
#define WAIT                                                                                       \
    {                                                                                              \
        "wait", 0, OPTION_UNSIGNED, "SECONDS", AT(wait), 1, 600,                                   \
            "how long to wait for a moment at which it is safe (5)"                                \
    }

static const struct option_spec attach_specs[] = {
    {"rate", 'F', OPTION_UNSIGNED, "HZ", AT(rate), 1, 10000,
     "samples per second of time (as many as the kernel's clock ticks)"},
    {"clock", 0, OPTION_STRING, "CLOCK", AT(clock), 0, 0,
     "cpu, or wall: also where threads sleep (cpu)"},
    {"metric", 0, OPTION_STRING, "WHAT", AT(metric), 0, 0,
     "cpu, wait, alloc, heap, lock, faults and others, with commas between them (cpu)"},
    {"lines", 0, OPTION_FLAG, NULL, AT(lines), 0, 0, "self weights by source line, too"},
    {"python", 0, OPTION_FLAG, NULL, AT(python), 0, 0,
     "functions of Python (3.11 to 3.13) in place of its interpreter's loop"},
    {"threads", 0, OPTION_FLAG, NULL, AT(threads), 0, 0,
     "contexts begin with the name of their thread"},
    {"tags", 0, OPTION_STRING, "TAGS", AT(tags), 0, 0, "KEY=VALUE,KEY=VALUE: tags of this run"},
    WAIT,
    SOCKET_SPEC(attach_options, socket),
    OPTIONS_END,
};

static const struct option_spec detach_specs[] = {WAIT, OPTIONS_END};

static const struct option_command attach_command = {
    .usage = "hcct attach [options] PID|NAME",
    .about =
        "Loads the agent into a program that runs already, for a running hcctd. It is sampled\n"
        "from then on, until 'hcct detach' or its end: by CPU time, or as --clock and --metric "
        "say.",
    .examples = "  hcct attach myserver\n"
                "  hcct hot -p myserver\n"
                "  hcct detach myserver\n",
    .options = attach_specs,
};

static const struct option_command detach_command = {
    .usage = "hcct detach [options] PID|NAME",
    .about = "Ends what 'hcct attach' has begun: the program is not sampled any more. The agent's\n"
             "library stays in it, and does nothing.",
    .examples = "  hcct detach 812\n",
    .options = detach_specs,
};

/* The only word beside options. */
static int read_process(const struct option_command *command, int argc, char **argv, int rest,
                        pid_t *pid) {
    if (rest >= argc) {
        complain("say which process: its PID, or the name of its command");
        return HCCT_EXIT_USAGE;
    }
    options_no_more(command, argc, argv, rest + 1);
    return named_process(argv[rest], pid) ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

static bool daemon_has(const char *socket, pid_t pid) {
    struct process_list list;
    bool found = false;
    if (processes_ask(socket, &list) != HCCT_EXIT_OK)
        return false;
    for (size_t i = 0; i < list.n; i++)
        found |= list.item[i].live && list.item[i].pid == (uint32_t)pid;
    processes_free(&list);
    return found;
}

static bool daemon_answers(const char *socket) {
    struct process_list list;
    int status = processes_ask(socket, &list);
    if (status == HCCT_EXIT_OK)
        processes_free(&list);
    return status == HCCT_EXIT_OK;
}

/* At its first tick it reaches the daemon. */
static bool is_reached(const char *socket, pid_t pid) {
    const struct timespec pause = {0, REACHED_NS};
    for (int i = 0; i < REACHED_TRIES; i++) {
        if (daemon_has(socket, pid))
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static const char *time_of(const struct attach *attach) {
    for (unsigned i = 0; i < attach->metrics->n; i++)
        if (attach->metrics->metric[i]->clock == WIRE_CLOCK_OFF)
            return "time that threads wait";
    return attach->clock == WIRE_CLOCK_WALL ? "elapsed time" : "CPU time";
}

static void say(const struct attach *attach, const struct attached *attached) {
    char why[256], rate[96] = "events";
    const char *unseen = attach_says_unseen(attach, attached);
    if (attach_has_ticks(attach->metrics))
        snprintf(rate, sizeof rate, "%u samples per second of %s", attach->rate, time_of(attach));
    printf("process %d: attached, %u of %u threads, %s; one was held for %.1f ms\n",
           (int)attach->pid, attached->sampled, attached->threads, rate, attached->stopped_ms);
    if (unseen != NULL)
        printf("%s\n", unseen);
    if (attach_says_missing(attached, why, sizeof why))
        printf("%s\n", why);
    if (!is_reached(attach->socket, attach->pid))
        printf("it has not reached hcctd yet: it does when it next uses CPU time\n");
}

static bool read_metrics(const struct attach_options *options, struct metric_list *list) {
    const char *word = options->metric != NULL ? options->metric : "cpu";
    const char *wrong = metric_list_read(word, list);
    if (wrong != NULL)
        complain("--metric '%s' is not possible: %s%s", word,
                 strcmp(wrong, METRICS_LIST_EXPECTED) == 0 ? "give " : "", wrong);
    return wrong == NULL;
}

static bool agree(const struct attach_options *options, const struct metric_list *list) {
    bool only_faults = list->n == 1 && list->metric[0]->collector == WIRE_COLLECT_FAULTS;
    if (options->python && list->n > 1)
        complain("--python shows functions for one --metric: attach for one of them");
    else if (only_faults && (options->lines || options->python))
        complain("--lines and --python are for samples of time: name cpu beside faults");
    else if (!attach_has_ticks(list) &&
             (options->rate != 0 || options->clock != NULL || options->lines))
        complain("--rate, --clock and --lines are for samples of time: name cpu beside allocations "
                 "and locks, which are sampled by their bytes and their length");
    else if (options->clock != NULL && strcmp(options->clock, "cpu") != 0 &&
             strcmp(options->clock, "wall") != 0)
        complain("--clock '%s' is not possible: give cpu or wall", options->clock);
    else if (options->clock != NULL && list->metric[0]->clock == WIRE_CLOCK_OFF)
        complain("--metric wait samples the time that threads wait: leave out --clock");
    else
        return true;
    return false;
}

static int read_attach(const struct attach_options *options, struct attach *attach,
                       struct metric_list *list) {
    attach->rate = options->rate != 0 ? options->rate : attach_rate_usual();
    attach->clock = options->clock != NULL && strcmp(options->clock, "wall") == 0 ? WIRE_CLOCK_WALL
                                                                                  : WIRE_CLOCK_CPU;
    attach->lines = options->lines;
    attach->threads = options->threads;
    attach->python = options->python;
    attach->tags = options->tags;
    attach->seconds = options->wait;
    attach->metrics = list;
    if (!read_metrics(options, list) || !agree(options, list))
        return HCCT_EXIT_USAGE;
    if (options->tags != NULL && !tags_check(options->tags)) {
        complain("--tags '%s' is not " TAGS_EXPECTED, options->tags);
        return HCCT_EXIT_USAGE;
    }
    return HCCT_EXIT_OK;
}

int cmd_attach(int argc, char **argv) {
    struct attach_options options = {.wait = WAIT_DEFAULT};
    char library[PATH_MAX], path[PATHS_SOCKET_MAX], absolute[PATH_MAX];
    struct attached attached;
    struct attach attach = {.agent_path = library};
    int rest;
    options_parse(&attach_command, argc, argv, &options, &rest);
    struct metric_list metrics;
    int status = read_attach(&options, &attach, &metrics);
    if (status == HCCT_EXIT_OK)
        status = read_process(&attach_command, argc, argv, rest, &attach.pid);
    if (status == HCCT_EXIT_OK)
        status = ask_socket(path, options.socket);
    if (status != HCCT_EXIT_OK)
        return status;
    if (!daemon_answers(path))
        return HCCT_EXIT_NO_DAEMON;
    attach.socket = realpath(path, absolute) != NULL ? absolute : path;
    if (!locate_late_agent(library) || !attach_begin(&attach, &attached))
        return HCCT_EXIT_FAILURE;
    say(&attach, &attached);
    return HCCT_EXIT_OK;
}

int cmd_detach(int argc, char **argv) {
    struct attach_options options = {.wait = WAIT_DEFAULT};
    pid_t pid;
    int rest;
    options_parse(&detach_command, argc, argv, &options, &rest);
    int status = read_process(&detach_command, argc, argv, rest, &pid);
    if (status != HCCT_EXIT_OK)
        return status;
    if (!attach_is_there(pid)) {
        complain("process %d is not attached to, or may not be read by this user", (int)pid);
        return HCCT_EXIT_NO_DATA;
    }
    status = attach_end(pid, options.wait);
    if (status == HCCT_EXIT_OK)
        printf("process %d: detached\n", (int)pid);
    return status;
}

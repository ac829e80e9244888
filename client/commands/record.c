/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * record.c - the whole tool in one command: a private hcctd, the command with the agent in it,
 * its profile in a file, its hottest contexts on stderr.
 *
 * What the command writes to stdout, its exit status and what it does on signals are as without us.
 */
#include "client/ask.h"
#include "client/attach/named.h"
#include "client/command.h"
#include "client/command_line.h"
#include "client/commands/call_files.h"
#include "client/commands/launch.h"
#include "client/commands/node_logs.h"
#include "client/commands/open.h"
#include "client/commands/perf_maps.h"
#include "client/commands/private_daemon.h"
#include "client/commands/record_attached.h"
#include "client/commands/record_options.h"
#include "client/commands/record_seen.h"
#include "client/commands/runtime_names.h"
#include "client/locate.h"
#include "client/metric_answers.h"
#include "client/output.h"
#include "client/processes.h"
#include "client/profile_file.h"
#include "client/view.h"
#include "common/render/format_number.h"
#include "common/wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Exit statuses beside the command's own, as env(1) has them. */
enum { EXIT_OURS = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

/* A recording on its way. Static, as signal handlers clean it up. */
static struct recording {
    struct private_daemon daemon;
    struct output output;
    char socket[PATHS_SOCKET_MAX]; /* absolute: the command may change its directory */
    char agent[PATH_MAX];
    char blocks[PATH_MAX], locks[PATH_MAX]; /* empty where they are not needed */
    char name[64];                          /* of the profile, when none was given */
    struct runtime_names names;
    struct timespec began;
    struct process_list processes; /* that were profiled */
} recording;

static void abandon(void) {
    private_daemon_abandon(&recording.daemon);
    output_abandon(&recording.output);
}

/* ---- before the command ---- */

static void warn_of_no_calls(const struct record_options *options, const char *program) {
    char path[PATH_MAX];
    if (call_files_hopeless(program, options->modules, path))
        complain("no calls of %s%s can be followed, see \"hcct doctor %s\": only those of what it "
                 "loads later or starts are counted",
                 path, options->modules != NULL ? " in the modules that --modules names" : "",
                 path);
}

static bool use_running_daemon(const char *override) {
    char absolute[PATH_MAX];
    struct process_list list;
    if (realpath(override, absolute) != NULL)
        override = absolute;
    if (ask_socket(recording.socket, override) != HCCT_EXIT_OK)
        return false;
    bool answers = processes_ask(recording.socket, &list) == HCCT_EXIT_OK;
    processes_free(&list);
    return answers;
}

static bool start_daemon(const struct record_options *options) {
    char program[PATH_MAX];
    if (options->socket != NULL)
        return use_running_daemon(options->socket);
    if (!locate_daemon(program))
        return false;
    const struct private_daemon_options daemon_options = {
        .program = program,
        .phi = options->view.phi,
        .epsilon = options->epsilon,
        .summary = options->summary,
        .trace = options->trace,
        .memory_limit = options->memory_limit,
        .reached_by = options->pid,
    };
    if (!private_daemon_start(&recording.daemon, &daemon_options))
        return false;
    strcpy(recording.socket, recording.daemon.socket);
    if (options->pid != 0)
        private_daemon_let_in(&recording.daemon, record_attached_user(options->pid));
    return true;
}

static bool prepare(const struct record_options *options, const struct view *view,
                    const char *program) {
    const char *name = options->view.output;
    if (name == NULL) {
        snprintf(recording.name, sizeof recording.name, "hcct%s", view->format->suffix);
        name = recording.name;
    }
    launch_catch_signals(abandon);
    return locate_agent(recording.agent) &&
           (!record_has(options, wire_of_blocks) || locate_blocks(recording.blocks)) &&
           (!record_has(options, wire_of_locks) || locate_locks(recording.locks)) &&
           output_open(&recording.output, name, program) && start_daemon(options);
}

/* ---- after the command ---- */

/* With a daemon of many processes, only the command itself is ours. */
static uint32_t only_pid(const struct record_options *options, pid_t pid) {
    return options->socket != NULL ? (uint32_t)pid : 0;
}

enum fetched { FETCHED, FETCHED_NOTHING, FETCH_FAILED };

/* As hcctd calls it. */
static const char *kind_of(const struct record_options *options, const struct metric *metric) {
    const char *clock_word = options->clock != NULL ? options->clock : getenv("HCCT_CLOCK");
    bool wall = clock_word != NULL && strcmp(clock_word, "wall") == 0;
    unsigned clock = metric->clock != WIRE_CLOCKS ? metric->clock
                     : wall                       ? WIRE_CLOCK_WALL
                                                  : WIRE_CLOCK_CPU;
    return metric_kind(metric->collector, clock);
}

static bool has_samples(const struct process_list *list, uint32_t only, const char *kind) {
    for (size_t i = 0; i < list->n; i++)
        if ((only == 0 || list->item[i].pid == only) && list->item[i].walks > 0 &&
            strcmp(list->item[i].kind, kind) == 0)
            return true;
    return false;
}

/* `kind`: NULL where there is one only. */
static bool fetch_one(const struct record_options *options, const struct launch_end *end,
                      char *const *argv, const char *kind, struct metric_answers *answers) {
    struct query query;
    uint32_t only = only_pid(options, end->pid);
    char *title = command_line_title(argv);
    query_start(&query, "/v1/hot");
    query_add(&query, "format", "pprof");
    if (only > 0)
        query_add_unsigned(&query, "pid", only);
    else if (!options->no_follow) /* else the kernel's count is of more than the profile */
        query_add_fraction(&query, "kernel_ns", (double)end->cpu_ns);
    query_add(&query, "symbols", "complete");
    if (title != NULL)
        query_add(&query, "title", title);
    free(title);
    return metric_answers_ask(answers, recording.socket, &query, kind) == HCCT_EXIT_OK;
}

/* At least one of the metrics has samples; the others are said to have none. */
static bool fetch_all(const struct record_options *options, const struct launch_end *end,
                      char *const *argv, const struct metric_list *list,
                      struct metric_answers *answers) {
    uint32_t only = only_pid(options, end->pid);
    for (unsigned i = 0; i < list->n; i++) {
        const char *kind = kind_of(options, list->metric[i]);
        if (!has_samples(&recording.processes, only, kind)) {
            complain("there is no sample of %s: it is not in the profile", list->metric[i]->name);
            continue;
        }
        if (!fetch_one(options, end, argv, kind, answers))
            return false;
    }
    return answers->n > 0;
}

static enum fetched fetch(const struct record_options *options, const struct launch_end *end,
                          char *const *argv, struct metric_answers *answers) {
    struct metric_list list;
    bool answered;
    if (processes_ask(recording.socket, &recording.processes) != HCCT_EXIT_OK)
        return FETCH_FAILED;
    const struct record_seen seen = {.options = options,
                                     .socket = recording.socket,
                                     .list = &recording.processes,
                                     .pid = only_pid(options, end->pid),
                                     .program = argv[0],
                                     .cpu_ns = end->cpu_ns};
    if (!record_seen_or_why(&seen))
        return FETCHED_NOTHING;
    record_metrics(options, &list);
    answered = list.n > 1 ? fetch_all(options, end, argv, &list, answers)
                          : fetch_one(options, end, argv, NULL, answers);
    return answered ? FETCHED : FETCH_FAILED;
}

/* The profile into its file: as it came when it is to be pprof, converted otherwise. */
static bool store(const struct metric_answers *answers, const struct profile *profile,
                  const struct view *view, pid_t pid, char **name) {
    struct format_options plain = view->options;
    struct profile *others[WIRE_METRICS_MAX];
    plain.color = false;
    plain.width = 0;
    plain.others = (const struct profile *const *)others;
    if (view->format->write == write_html)
        plain.n_others = metric_answers_others(answers, others);
    FILE *file = recording.output.file;
    bool written = view->format->write == write_pprof
                       ? metric_answers_join(answers, file)
                       : profile_file_write(file, profile, view->format, &plain, 0);
    if (view->format->write != write_pprof && plain.n_others == 0)
        profile_file_say_others(profile, view->format);
    for (unsigned i = 0; i < plain.n_others; i++)
        profile_free(others[i]);
    if (!written) {
        output_fail(&recording.output);
        return false;
    }
    *name = output_commit(&recording.output, pid);
    return *name != NULL;
}

/* With the line that says where the profile is, the report has as many lines as it may have. */
static void show(const struct profile *profile, const struct view *view) {
    struct format_options options = view->options;
    if (options.lines > 0)
        options.lines--;
    profile_file_write(stderr, profile, formats, &options, 0);
}

/* What was asked for, and is not there. */
static void tell_no_python(const struct profile *profile) {
    uint64_t frames = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        frames += profile->processes[i].python_frames;
    if (frames == 0)
        complain("no function of Python was met: it takes CPython 3.11, 3.12 or 3.13, in a program "
                 "that begins with it");
}

static bool finish(const struct record_options *options, const struct view *view,
                   const struct metric_answers *answers, pid_t pid) {
    char *name = NULL;
    bool to_stdout = recording.output.file == stdout;
    struct profile *profile = metric_answers_first(answers);
    bool stored = profile != NULL && store(answers, profile, view, pid, &name);
    if (stored && !options->no_report)
        show(profile, view);
    if (stored && options->python)
        tell_no_python(profile);
    if (stored)
        complain("the profile is in %s", name);
    if (stored && options->open)
        stored = open_profile(profile, view->format, &format_default_options, name, !to_stdout);
    free(name);
    profile_free(profile);
    return stored;
}

static void remove_names_of(pid_t pid) {
    perf_maps_remove(pid, &recording.began);
    if (recording.names.logs)
        node_logs_remove(pid, &recording.began);
}

/* The files of names that nobody has asked for. hcctd has read them. One that runs already knows of
 * others' processes, too. */
static void remove_names(const struct record_options *options, pid_t pid) {
    const struct process_list *list = &recording.processes;
    if (!recording.names.maps)
        return;
    remove_names_of(pid);
    for (size_t i = 0; i < list->n && options->socket == NULL; i++)
        remove_names_of((pid_t)list->item[i].pid);
}

/* ---- the command ---- */

static int exec_status(const char *program, int error) {
    if (error == ENOENT && strchr(program, '/') != NULL && access(program, F_OK) == 0)
        complain("%s can't be run: its interpreter (named in its first line or by its linker) is "
                 "missing",
                 program);
    else if (error == ENOENT)
        complain("there is no command '%s': give its path, or add its directory to PATH", program);
    else
        complain("%s can't be run: %s", program, strerror(error));
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int run(const struct record_options *options, const struct view *view, char **argv) {
    const struct launch launch = {.argv = argv,
                                  .agent = recording.agent,
                                  .socket = recording.socket,
                                  .rate = options->rate,
                                  .burst = options->burst,
                                  .budget = options->budget,
                                  .clock = options->clock,
                                  .collector = options->collector,
                                  .metric = options->metric,
                                  .blocks = recording.blocks[0] != '\0' ? recording.blocks : NULL,
                                  .locks = recording.locks[0] != '\0' ? recording.locks : NULL,
                                  .every = options->every,
                                  .credit = options->credit,
                                  .modules = options->modules,
                                  .tags = options->tags,
                                  .names = &recording.names,
                                  .lines = options->lines,
                                  .threads = options->threads,
                                  .python = options->python,
                                  .check = options->check,
                                  .keep = recording.daemon.pid,
                                  .follow = !options->no_follow};
    struct metric_answers found = {.n = 0};
    struct launch_end end;
    clock_gettime(CLOCK_REALTIME, &recording.began);
    if (!launch_run(&launch, &end))
        return EXIT_OURS;
    if (end.error != 0)
        return exec_status(argv[0], end.error);
    enum fetched fetched = fetch(options, &end, argv, &found);
    private_daemon_stop(&recording.daemon);
    remove_names(options, end.pid);
    bool good = fetched == FETCHED_NOTHING ||
                (fetched == FETCHED && finish(options, view, &found, end.pid));
    metric_answers_free(&found);
    if (!good)
        complain("the profile of %s is lost", argv[0]);
    return good || end.status != 0 ? end.status : EXIT_OURS;
}

/* Of a process that runs, which is left before its profile is shown. */
static int run_attached(const struct record_options *options, const struct view *view, char *name) {
    char *argv[] = {name, NULL};
    struct metric_answers found = {.n = 0};
    const struct launch_end end = {.pid = options->pid};
    const char *seen = recording.daemon.seen[0] != '\0' ? recording.daemon.seen : NULL;
    if (!record_attached_begin(options, recording.socket, seen))
        return HCCT_EXIT_FAILURE;
    record_attached_wait(options);
    record_attached_end(options); /* what threads sleep in is known then */
    enum fetched fetched = fetch(options, &end, argv, &found);
    private_daemon_stop(&recording.daemon);
    bool good = fetched == FETCHED && finish(options, view, &found, end.pid);
    metric_answers_free(&found);
    if (fetched == FETCHED_NOTHING)
        return HCCT_EXIT_NO_DATA;
    if (!good)
        complain("the profile of %s is lost", name);
    return good ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

static int record_process(const struct record_options *options, const struct view *view) {
    char name[64];
    int status = HCCT_EXIT_FAILURE;
    record_attached_name(options->pid, name, sizeof name);
    if (prepare(options, view, name))
        status = run_attached(options, view, name);
    private_daemon_stop(&recording.daemon);
    output_discard(&recording.output);
    return status;
}

static bool has_what_to_record(const struct record_options *options, bool command) {
    if (command != (options->process != NULL))
        return true;
    complain(command ? "name a command to run, or a process by -p, not both"
                     : "name a command to run: hcct record [options] -- CMD; or a process that "
                       "runs: hcct record -p PID|NAME");
    return false;
}

static void rename_clock(struct record_options *options) {
    if (options->clock == NULL || strcmp(options->clock, "perf") != 0)
        return;
    complain("--clock perf is another name of cpu: CPU time is sampled as finely without events");
    options->clock = "cpu";
}

int cmd_record(int argc, char **argv) {
    struct record_options options = {.view = VIEW_NOT_GIVEN};
    struct view view;
    int rest;
    record_options_parse(argc, argv, &options, &rest);
    rename_clock(&options);
    if (!has_what_to_record(&options, rest < argc))
        return HCCT_EXIT_USAGE;
    if (!view_resolve(&options.view, format_find("pprof"), STDERR_FILENO, &view) ||
        !record_options_agree(&options) ||
        (options.process != NULL && !record_attached_agrees(&options)))
        return HCCT_EXIT_USAGE;
    bool to_stdout = options.view.output != NULL && strcmp(options.view.output, "-") == 0;
    if (to_stdout && view_spoils_terminal(view.format, STDOUT_FILENO))
        return HCCT_EXIT_USAGE;
    if (options.process != NULL && !named_process(options.process, &options.pid))
        return HCCT_EXIT_FAILURE;
    if (options.pid != 0)
        return record_process(&options, &view);
    if (record_counts_calls(&options))
        warn_of_no_calls(&options, argv[rest]);
    else if (!options.no_runtime_names)
        runtime_names_find(argv + rest, &recording.names);
    int status = EXIT_OURS;
    if (prepare(&options, &view, argv[rest])) {
        runtime_names_say(&recording.names);
        status = run(&options, &view, argv + rest);
    }
    private_daemon_stop(&recording.daemon);
    output_discard(&recording.output);
    processes_free(&recording.processes);
    runtime_names_clear(&recording.names);
    return status;
}

/*
 * cmd_record.c - the whole tool in one command: a private hcctd, the command with the agent in it,
 * its profile in a file, its hottest contexts on stderr.
 *
 * What the command writes to stdout, its exit status and what it does on signals are as without us.
 */
#include "client/ask.h"
#include "client/command.h"
#include "client/launch.h"
#include "client/locate.h"
#include "client/no_agent.h"
#include "client/output.h"
#include "client/private_daemon.h"
#include "client/processes.h"
#include "client/profile_file.h"
#include "client/view.h"
#include "common/burst.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RATE_DEFAULT 1000

/* Exit statuses beside the command's own, as env(1) has them. */
enum { EXIT_OURS = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

struct record_options {
    const char *socket, *burst, *clock;
    unsigned rate; /* 0: not given */
    double epsilon;
    bool no_report, no_follow, check;
    struct view_options view;
};

static const struct option_spec specs[] = {
    {"rate", 'F', OPTION_UNSIGNED, "HZ", offsetof(struct record_options, rate), 1, 10000,
     "walks per second of CPU time (1000; within bursts 5000)"},
    {"burst", 0, OPTION_STRING, "LENGTH/PERIOD", offsetof(struct record_options, burst), 0, 0,
     "walk in bursts only, such as 2ms/20ms of CPU time"},
    {"clock", 0, OPTION_STRING, "CLOCK", offsetof(struct record_options, clock), 0, 0,
     "cpu; wall: where threads sleep, too; perf: cpu by perf_event_open (cpu)"},
    {"check", 0, OPTION_FLAG, NULL, offsetof(struct record_options, check), 0, 0,
     "make each walk twice, the second in full, and count differences"},
    {"epsilon", 0, OPTION_FRACTION, "E", offsetof(struct record_options, epsilon), 0, 1,
     "largest error of a count, as a share of the total; below phi"},
    VIEW_SPECS(record_options, "the profile (hcct.pb.gz); %p pid, %e command, %h host, %t time"),
    {"no-report", 0, OPTION_FLAG, NULL, offsetof(struct record_options, no_report), 0, 0,
     "only write the profile"},
    {"no-follow", 0, OPTION_FLAG, NULL, offsetof(struct record_options, no_follow), 0, 0,
     "do not profile the command's children"},
    {"socket", 0, OPTION_STRING, "PATH", offsetof(struct record_options, socket), 0, 0,
     "use the hcctd that listens there, not a private one"},
    {NULL, 0, OPTION_FLAG, NULL, 0, 0, 0, NULL},
};

static const struct option_command command = {
    .usage = "hcct record [options] [--] CMD [ARGS...]",
    .about = "Runs CMD with the agent and a private hcctd, writes its profile, and shows its hot\n"
             "calling contexts on stderr. The exit status is CMD's.",
    .examples = "  hcct record -- ./app --its-own options\n"
                "  hcct record -o app-%p.pb.gz --phi 0.01 ./app\n"
                "  hcct record --by line -F 2000 make -j4\n",
    .options = specs,
    .takes_command = true,
};

/* A recording on its way. Static, as signal handlers clean it up. */
static struct recording {
    struct private_daemon daemon;
    struct output output;
    char socket[PATHS_SOCKET_MAX]; /* absolute: the command may change its directory */
    char agent[PATH_MAX];
    char name[64]; /* of the profile, when none was given */
} recording;

static void abandon(void) {
    private_daemon_abandon(&recording.daemon);
    output_abandon(&recording.output);
}

/* ---- before the command ---- */

static bool use_running_daemon(const char *wish) {
    char absolute[PATH_MAX];
    struct process_list list;
    if (realpath(wish, absolute) != NULL)
        wish = absolute;
    if (ask_socket(recording.socket, wish) != HCCT_EXIT_OK)
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
        .program = program, .phi = options->view.phi, .epsilon = options->epsilon};
    if (!private_daemon_start(&recording.daemon, &daemon_options))
        return false;
    strcpy(recording.socket, recording.daemon.socket);
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
    return locate_agent(recording.agent) && output_open(&recording.output, name, program) &&
           start_daemon(options);
}

static bool options_agree(const struct record_options *options, const struct view *view) {
    uint64_t length, period;
    if (options->burst != NULL && !burst_parse(options->burst, &length, &period)) {
        complain("--burst '%s' is no LENGTH/PERIOD such as 2ms/20ms (100us to 10s, the length not "
                 "above the period)",
                 options->burst);
        return false;
    }
    if (options->clock != NULL && strcmp(options->clock, "cpu") != 0 &&
        strcmp(options->clock, "wall") != 0 && strcmp(options->clock, "perf") != 0) {
        complain("there is no clock '%s': --clock takes cpu, wall or perf", options->clock);
        return false;
    }
    if (options->epsilon > 0 && options->view.phi > 0 && options->epsilon >= options->view.phi) {
        complain("--epsilon %g must be below --phi %g: an error as large as what is hot tells "
                 "nothing",
                 options->epsilon, options->view.phi);
        return false;
    }
    bool to_stdout = options->view.output != NULL && strcmp(options->view.output, "-") == 0;
    return !to_stdout || !view_spoils_terminal(view->format, STDOUT_FILENO);
}

/* ---- after the command ---- */

/* With a daemon of many processes, only the command itself is ours. */
static uint32_t only_pid(const struct record_options *options, pid_t pid) {
    return options->socket != NULL ? (uint32_t)pid : 0;
}

/* Whether there is anything to show; says why not. */
static bool was_profiled(const struct process_list *list, uint32_t pid, const char *program) {
    char reason[PATH_MAX + 256];
    bool seen = false;
    for (size_t i = 0; i < list->n; i++) {
        if (pid > 0 && list->item[i].pid != pid)
            continue;
        if (list->item[i].walks > 0)
            return true;
        seen = true;
    }
    if (seen) {
        complain("%s used too little CPU time to be sampled: no profile is written", program);
        return false;
    }
    no_agent_reason(program, reason, sizeof reason);
    complain("%s was not profiled, and no profile is written: %s", program, reason);
    return false;
}

enum fetched { FETCHED, FETCHED_NOTHING, FETCH_FAILED };

static enum fetched fetch(const struct record_options *options, pid_t pid, const char *program,
                          struct http_answer *answer) {
    struct process_list list;
    struct query query;
    uint32_t only = only_pid(options, pid);
    if (processes_ask(recording.socket, &list) != HCCT_EXIT_OK)
        return FETCH_FAILED;
    bool profiled = was_profiled(&list, only, program);
    processes_free(&list);
    if (!profiled)
        return FETCHED_NOTHING;
    query_start(&query, "/v1/hot");
    query_add(&query, "format", "pprof");
    if (options->view.phi > 0)
        query_add_fraction(&query, "phi", options->view.phi);
    if (only > 0)
        query_add_unsigned(&query, "pid", only);
    bool answered = ask(recording.socket, "GET", query.text, answer) == HCCT_EXIT_OK;
    return answered ? FETCHED : FETCH_FAILED;
}

/* The profile into its file: as it came when it is to be pprof, converted otherwise. */
static bool store(const struct http_answer *answer, const struct profile *profile,
                  const struct view *view, pid_t pid, char **name) {
    struct format_options plain = view->options;
    plain.color = false;
    plain.width = 0;
    FILE *file = recording.output.file;
    bool written = view->format->write == write_pprof
                       ? fwrite(answer->body, 1, answer->bytes, file) == answer->bytes
                       : profile_file_write(file, profile, view->format, &plain, 0);
    if (!written) {
        output_fail(&recording.output);
        return false;
    }
    *name = output_commit(&recording.output, pid);
    return *name != NULL;
}

static bool finish(const struct record_options *options, const struct view *view,
                   const struct http_answer *answer, pid_t pid) {
    char *name = NULL;
    struct profile *profile = profile_file_parse("hcctd's answer", answer->body, answer->bytes);
    bool stored = profile != NULL && store(answer, profile, view, pid, &name);
    if (stored && !options->no_report)
        profile_file_write(stderr, profile, formats, &view->options, 0);
    if (stored)
        fprintf(stderr, "%s: the profile is in %s\n", options_program, name);
    free(name);
    profile_free(profile);
    return stored;
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
                                  .clock = options->clock,
                                  .check = options->check,
                                  .follow = !options->no_follow};
    struct http_answer answer = {0};
    struct launch_end end;
    if (!launch_run(&launch, &end))
        return EXIT_OURS;
    if (end.error != 0)
        return exec_status(argv[0], end.error);
    enum fetched fetched = fetch(options, end.pid, argv[0], &answer);
    private_daemon_stop(&recording.daemon);
    bool good = fetched == FETCHED_NOTHING ||
                (fetched == FETCHED && finish(options, view, &answer, end.pid));
    free(answer.body);
    if (!good)
        complain("the profile of %s is lost", argv[0]);
    return good || end.status != 0 ? end.status : EXIT_OURS;
}

int cmd_record(int argc, char **argv) {
    struct record_options options = {.view = VIEW_NOT_GIVEN};
    struct view view;
    int rest;

    options_parse(&command, argc, argv, &options, &rest);
    if (options.rate == 0 && options.burst == NULL)
        options.rate = RATE_DEFAULT;
    if (rest >= argc) {
        complain("name a command to run: hcct record [options] -- CMD");
        return HCCT_EXIT_USAGE;
    }
    if (!view_resolve(&options.view, format_find("pprof"), STDERR_FILENO, &view) ||
        !options_agree(&options, &view))
        return HCCT_EXIT_USAGE;
    int status = EXIT_OURS;
    if (prepare(&options, &view, argv[rest]))
        status = run(&options, &view, argv + rest);
    private_daemon_stop(&recording.daemon);
    output_discard(&recording.output);
    return status;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * doctor_parts.c - agent, daemon, and both together on a program that is busy for a moment.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/commands/doctor.h"
#include "client/http_client.h"
#include "client/json_in.h"
#include "client/locate.h"
#include "client/processes.h"
#include "common/wire/paths.h"

#define ASK_TIMEOUT_MS 5000

static void inspect_agent(struct finding *finding, const char *program) {
    char path[PATH_MAX];
    (void)program;
    if (locate_agent(path))
        finding_set(finding, FINDING_OK, "%s", path);
    else
        finding_set(finding, FINDING_PROBLEM, "not found, as was said above");
}

static void inspect_daemon(struct finding *finding, const char *program) {
    char path[PATH_MAX];
    (void)program;
    if (locate_daemon(path))
        finding_set(finding, FINDING_OK, "%s", path);
    else
        finding_set(finding, FINDING_PROBLEM, "not found, as was said above");
}

static void inspect_running(struct finding *finding, const char *program) {
    char path[PATHS_SOCKET_MAX], error[512];
    struct http_answer answer = {0};
    struct process_list list;
    (void)program;
    if (paths_socket(path, sizeof path, NULL) >= sizeof path) {
        finding_set(finding, FINDING_NOTE,
                    "the path of its socket is too long for one: set HCCT_SOCKET");
        return;
    }
    enum http_result result =
        http_exchange(path, "GET", "/v1/processes", ASK_TIMEOUT_MS, &answer, error, sizeof error);
    if (result == HTTP_NO_DAEMON)
        finding_set(finding, FINDING_NOTE,
                    "none listens at %s: hcct record needs none, for programs that are always "
                    "profiled start one",
                    path);
    else if (result == HTTP_DONE && processes_parse(answer.body, answer.bytes, &list)) {
        finding_set(finding, FINDING_OK, "listens at %s, knows %zu programs", path, list.n);
        processes_free(&list);
    } else
        finding_set(finding, FINDING_PROBLEM, "%s",
                    result == HTTP_DONE ? "its answer can't be read: it may be of another version"
                                        : error);
    free(answer.body);
}

/* ---- the trial ---- */

#define BUSY "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"

_Noreturn static void become_trial(int out) {
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execl("/proc/self/exe", "hcct", "record", "--no-report", "--format", "json", "-o", "-", "--",
          "/bin/sh", "-c", BUSY, (char *)NULL);
    _exit(127);
}

/* What a recording of a busy shell wrote, NULL: nothing that is JSON. */
static struct json_object *try_it(void) {
    struct json_object *root = NULL;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    pid_t pid = fork();
    if (pid == 0)
        become_trial(ends[1]);
    close(ends[1]);
    if (pid > 0)
        root = json_object_from_fd(ends[0]);
    close(ends[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return root;
}

static void inspect_trial(struct finding *finding, const char *program) {
    struct json_object *root = try_it(), *process = NULL;
    struct json_object *list = json_in_array(root, "processes");
    (void)program;
    if (list != NULL)
        process = json_object_array_get_idx(list, 0);
    uint64_t walks = json_in_number(process, "walks"),
             complete = json_in_number(process, "complete");
    uint64_t cpu_ns = json_in_number(process, "cpu_ns"),
             cost_ns = json_in_number(process, "handler_ns");
    if (walks == 0)
        finding_set(finding, FINDING_PROBLEM,
                    "a busy /bin/sh could not be profiled: 'hcct record -- sh -c \"%s\"' says more",
                    BUSY);
    else
        finding_set(finding, FINDING_OK,
                    "/bin/sh: %" PRIu64
                    " samples in %.0f ms of CPU time, %.1f %% of them complete, "
                    "the agent took %.1f %%",
                    walks, (double)cpu_ns / 1e6, 100 * (double)complete / (double)walks,
                    cpu_ns > 0 ? 100 * (double)cost_ns / (double)cpu_ns : 0);
    json_object_put(root);
}

const struct check doctor_parts[] = {
    {"agent", inspect_agent},
    {"daemon", inspect_daemon},
    {"running daemon", inspect_running},
    {"trial", inspect_trial},
    {NULL, NULL},
};

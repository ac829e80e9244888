/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * list.c - what a running hcctd profiles, and what programs have marked, as tables.
 */
#include "client/ask.h"
#include "client/command.h"
#include "client/json_in.h"
#include "client/mark_rows.h"
#include "client/processes.h"
#include "common/base/options.h"
#include "common/base/utf8.h"
#include "common/wire/metric.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list_options {
    const char *socket, *format;
    bool marks;
};

static const struct option_spec specs[] = {
    {"format", 0, OPTION_STRING, "F", offsetof(struct list_options, format), 0, 0,
     "text or json (text)"},
    {"marks", 0, OPTION_FLAG, NULL, offsetof(struct list_options, marks), 0, 0,
     "moments that programs have marked (hcct.h(3))"},
    SOCKET_SPEC(list_options, socket),
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "hcct list [options]",
    .about = "Lists what hcctd profiles: live processes, and finished ones by executable.",
    .examples = "  hcct list\n"
                "  hcct list --marks\n"
                "  hcct list --format json | jq '.processes[].pid'\n",
    .options = specs,
};

static void duration_text(char *text, size_t bytes, uint64_t ns) {
    double seconds = (double)ns / 1e9;
    if (seconds < 600)
        snprintf(text, bytes, "%.2fs", seconds);
    else
        snprintf(text, bytes, "%.1fh", seconds / 3600);
}

static void size_text(char *text, size_t bytes, uint64_t size) {
    if (size < 1u << 20)
        snprintf(text, bytes, "%.1fK", (double)size / 1024);
    else
        snprintf(text, bytes, "%.1fM", (double)size / (1 << 20));
}

/* Of time that was lost nobody knows how many samples it would have been. */
static void lost_text(char *text, size_t bytes, const struct listed_process *process) {
    if (process->lost == 0 && process->lost_ns > 0 && metric_kind_is_time(process->kind))
        duration_text(text, bytes, process->lost_ns);
    else
        snprintf(text, bytes, "%" PRIu64, process->lost);
}

static void print_process(const struct listed_process *process) {
    char pid[16] = "-", cpu[32], memory[32], name[64], seen[32], lost[32];
    if (process->pid > 0)
        snprintf(pid, sizeof pid, "%" PRIu32, process->pid);
    duration_text(cpu, sizeof cpu, process->cpu_ns);
    size_text(memory, sizeof memory, process->bytes);
    lost_text(lost, sizeof lost, process);
    /* these are the process's own words: nothing in them may steer the terminal */
    utf8_copy_clean(name, sizeof name, process->command);
    snprintf(seen, sizeof seen, "%" PRIu64 " %s", process->calls ? process->total : process->walks,
             process->calls ? "calls" : "samples");
    printf("%-8s %-20s %-8s %9s %18s %9" PRIu64 " %8s %8s %s\n", pid, name,
           process->live && process->on ? "live"
           : process->live              ? "stopped"
           : process->waiting           ? "waiting"
                                        : "finished",
           cpu, seen, process->contexts, memory, lost, metric_word_of_kind(process->kind));
}

static int print_table(const char *path) {
    struct process_list list;
    int status = processes_ask(path, &list);
    if (status != HCCT_EXIT_OK)
        return status;
    printf("%-8s %-20s %-8s %9s %18s %9s %8s %8s %s\n", "PID", "COMMAND", "STATE", "CPU", "SEEN",
           "CONTEXTS", "MEMORY", "LOST", "METRIC");
    for (size_t i = 0; i < list.n; i++)
        print_process(&list.item[i]);
    processes_free(&list);
    return HCCT_EXIT_OK;
}

static void print_mark(struct json_object *mark) {
    mark_row(json_in_moment(mark, "time"), json_in_number(mark, "pid"),
             json_in_text(mark, "command"), json_in_text(mark, "name"));
}

static int print_marks(const char *path) {
    struct http_answer answer;
    int status = ask(path, "GET", "/v1/timeline", &answer);
    if (status != HCCT_EXIT_OK)
        return status;
    struct json_object *root = json_in(answer.body, answer.bytes);
    struct json_object *marks = json_in_array(root, "marks");
    free(answer.body);
    if (marks == NULL)
        complain("%s: the answer has no marks: hcctd may be an older one", path);
    else
        mark_rows_head();
    for (size_t i = 0; marks != NULL && i < json_object_array_length(marks); i++)
        if (json_object_is_type(json_object_array_get_idx(marks, i), json_type_object))
            print_mark(json_object_array_get_idx(marks, i));
    uint64_t lost = root != NULL ? json_in_number(root, "marks_lost") : 0;
    if (lost > 0)
        mark_rows_lost(lost);
    json_object_put(root);
    return marks != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

static int print_json(const char *path, const char *target) {
    struct http_answer answer;
    int status = ask(path, "GET", target, &answer);
    if (status != HCCT_EXIT_OK)
        return status;
    fwrite(answer.body, 1, answer.bytes, stdout);
    if (answer.bytes > 0 && answer.body[answer.bytes - 1] != '\n')
        putchar('\n');
    free(answer.body);
    return HCCT_EXIT_OK;
}

int cmd_list(int argc, char **argv) {
    struct list_options options = {0};
    char path[PATHS_SOCKET_MAX];
    int rest;
    options_parse(&command, argc, argv, &options, &rest);
    options_no_more(&command, argc, argv, rest);
    bool json = options.format != NULL && strcmp(options.format, "json") == 0;
    if (options.format != NULL && !json && strcmp(options.format, "text") != 0) {
        complain("--format '%s': a list is text or json", options.format);
        return HCCT_EXIT_USAGE;
    }
    int status = ask_socket(path, options.socket);
    if (status != HCCT_EXIT_OK)
        return status;
    if (json)
        return print_json(path, options.marks ? "/v1/timeline" : "/v1/processes");
    return options.marks ? print_marks(path) : print_table(path);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * processes.c - /v1/processes from JSON to a table, and names to pids.
 */
#include "client/processes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask.h"
#include "client/json_in.h"
#include "common/base/options.h"

static bool read_process(struct json_object *object, struct listed_process *process) {
    if (!json_object_is_type(object, json_type_object))
        return false;
    const char *collector = json_in_text(object, "collector");
    bool calls = strcmp(collector, "calls") == 0;
    *process = (struct listed_process){
        .exe = strdup(json_in_text(object, "exe")),
        .command = strdup(json_in_text(object, "command")),
        .pid = (uint32_t)json_in_number(object, "pid"),
        .waiting = strcmp(json_in_text(object, "state"), "waiting") == 0,
        .on = strcmp(json_in_text(object, "sampling"), "off") != 0,
        .calls = calls,
        .cpu_ns = json_in_number(object, "cpu_ns"),
        .total = json_in_number(object, calls ? "calls" : "total_ns"),
        .walks = json_in_number(object, "walks"),
        .contexts = json_in_number(object, "contexts"),
        .bytes = json_in_number(object, "bytes"),
        .lost = json_in_number(object, "lost"),
        .lost_ns = json_in_number(object, "lost_ns"),
        .confined = json_in_number(object, "threads_confined"),
        .no_room = json_in_number(object, "threads_without_room"),
        .no_room_ns = json_in_number(object, "without_room_ns"),
    };
    /* what has no number is not there, whatever is said of it: nobody could ask for it */
    process->live = process->pid > 0 && strcmp(json_in_text(object, "state"), "live") == 0;
    snprintf(process->kind, sizeof process->kind, "%s", json_in_text(object, "kind"));
    return process->exe != NULL && process->command != NULL;
}

static bool read_list(struct json_object *root, struct process_list *list) {
    struct json_object *array = json_in_array(root, "processes");
    if (array == NULL)
        return false;
    size_t n = json_object_array_length(array);
    list->item = calloc(n > 0 ? n : 1, sizeof *list->item);
    if (list->item == NULL)
        return false;
    bool good = true;
    for (; list->n < n && good; list->n++) /* one that is bad is freed with the rest */
        good = read_process(json_object_array_get_idx(array, list->n), &list->item[list->n]);
    return good;
}

bool processes_parse(const char *json, size_t bytes, struct process_list *list) {
    *list = (struct process_list){0};
    struct json_object *root = json_in(json, bytes);
    bool good = root != NULL && read_list(root, list);
    json_object_put(root);
    if (!good)
        processes_free(list);
    return good;
}

void processes_free(struct process_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        free(list->item[i].exe);
        free(list->item[i].command);
    }
    free(list->item);
    *list = (struct process_list){0};
}

static int ask_for(const char *path, const char *target, struct process_list *list) {
    struct http_answer answer;
    *list = (struct process_list){0};
    int status = ask(path, "GET", target, &answer);
    if (status != HCCT_EXIT_OK)
        return status;
    if (!processes_parse(answer.body, answer.bytes, list)) {
        complain("the list of processes from %s can't be read: hcct and hcctd may be of different "
                 "versions",
                 path);
        status = HCCT_EXIT_FAILURE;
    }
    free(answer.body);
    return status;
}

int processes_ask(const char *path, struct process_list *list) {
    return ask_for(path, "/v1/processes", list);
}

int processes_ask_for(const char *path, const struct query *query, struct process_list *list) {
    return ask_for(path, query->text, list);
}

/* ---- names ---- */

/* What ps calls it, where it has given itself another name than it was executed by. */
static bool is_called(uint32_t pid, const char *name) {
    char path[64], comm[32] = "";
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/comm", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    if (fgets(comm, sizeof comm, file) != NULL)
        comm[strcspn(comm, "\n")] = '\0';
    fclose(file);
    return strcmp(comm, name) == 0;
}

static bool has_name(const struct listed_process *process, const char *name) {
    const char *slash = strrchr(process->exe, '/');
    return strcmp(process->command, name) == 0 || strcmp(process->exe, name) == 0 ||
           (slash != NULL && strcmp(slash + 1, name) == 0) ||
           (process->live && is_called(process->pid, name));
}

static int complain_several(const char *name, const struct process_list *list) {
    char pids[256] = "";
    size_t used = 0;
    uint32_t last = 0;
    for (size_t i = 0; i < list->n && used + 16 < sizeof pids; i++)
        if (list->item[i].live && has_name(&list->item[i], name) && list->item[i].pid != last) {
            last = list->item[i].pid;
            used += (size_t)sprintf(pids + used, "%s%u", used > 0 ? ", " : "", last);
        }
    complain("several processes are called %s: name one by its pid: %s", name, pids);
    return HCCT_EXIT_USAGE;
}

/* Called by a name of its own: others of the same file are other processes. */
static bool is_link(const struct listed_process *process) {
    const char *slash = strrchr(process->exe, '/');
    return strcmp(process->command, slash != NULL ? slash + 1 : process->exe) != 0;
}

static int choose(const struct process_list *list, const char *name, uint32_t *pid, char **exe) {
    const struct listed_process *live = NULL, *finished = NULL;
    unsigned n_live = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct listed_process *process = &list->item[i];
        if (!has_name(process, name))
            continue;
        if (process->live) {
            n_live += live == NULL || live->pid != process->pid; /* one has several metrics */
            live = process;
        } else {
            finished = process;
        }
    }
    if (n_live > 1)
        return complain_several(name, list);
    if (live == NULL && finished == NULL) {
        complain("no process called '%s' is profiled: 'hcct list' shows which are", name);
        return HCCT_EXIT_NO_DATA;
    }
    *pid = live != NULL ? live->pid : finished->pid;
    if (*pid == 0)
        *exe = strdup(is_link(finished) ? finished->command : finished->exe);
    return HCCT_EXIT_OK;
}

int processes_find(const char *path, const char *who, uint32_t *pid, char **exe) {
    char *end;
    *exe = NULL;
    unsigned long n = strtoul(who, &end, 10);
    if (who[0] >= '0' && who[0] <= '9' && *end == '\0' && n > 0 && n <= INT32_MAX) {
        *pid = (uint32_t)n;
        return HCCT_EXIT_OK;
    }
    struct process_list list;
    int status = processes_ask(path, &list);
    if (status == HCCT_EXIT_OK)
        status = choose(&list, who, pid, exe);
    processes_free(&list);
    return status;
}

int processes_query(struct query *query, const char *path, const char *who) {
    uint32_t pid = 0;
    char *exe = NULL;
    int status = who != NULL ? processes_find(path, who, &pid, &exe) : HCCT_EXIT_OK;
    if (pid > 0)
        query_add_unsigned(query, "pid", pid);
    else if (exe != NULL)
        query_add(query, "exe", exe);
    free(exe);
    return status;
}

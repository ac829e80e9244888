/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * threads.c - /v1/threads from JSON to a table.
 */
#include "client/top/threads.h"

#include <stdlib.h>
#include <string.h>

#include "client/json_in.h"

static bool read_thread(struct json_object *object, struct top_thread *thread) {
    if (!json_object_is_type(object, json_type_object))
        return false;
    *thread = (struct top_thread){
        .pid = (uint32_t)json_in_number(object, "pid"),
        .tid = (uint32_t)json_in_number(object, "tid"),
        .name = strdup(json_in_text(object, "name")),
        .state = strdup(json_in_text(object, "state")),
        .credited_ns = json_in_number(object, "credited_ns"),
        .walks = json_in_number(object, "walks"),
        .complete = json_in_number(object, "complete"),
        .lost = json_in_number(object, "lost"),
        .agent_ns = json_in_number(object, "agent_ns"),
        .recent = -1,
    };
    return thread->name != NULL && thread->state != NULL;
}

static int busiest_first(const void *a, const void *b) {
    const struct top_thread *x = a, *y = b;
    if (x->credited_ns != y->credited_ns)
        return x->credited_ns > y->credited_ns ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static bool read_all(struct json_object *root, struct top_threads *list) {
    struct json_object *threads = json_in_array(root, "threads"),
                       *ended = json_in_array(root, "ended");
    if (threads == NULL || ended == NULL)
        return false;
    size_t n = json_object_array_length(threads);
    list->item = calloc(n > 0 ? n : 1, sizeof *list->item);
    if (list->item == NULL)
        return false;
    for (; list->n < n; list->n++) {
        struct top_thread *thread = &list->item[list->n];
        if (!read_thread(json_object_array_get_idx(threads, list->n), thread)) {
            list->n++; /* what it has is freed with the rest */
            return false;
        }
        list->credited_ns += thread->credited_ns;
    }
    for (size_t i = 0; i < json_object_array_length(ended); i++) {
        struct json_object *gone = json_object_array_get_idx(ended, i);
        list->ended += json_in_number(gone, "threads");
        list->ended_ns += json_in_number(gone, "credited_ns");
    }
    list->credited_ns += list->ended_ns;
    qsort(list->item, list->n, sizeof *list->item, busiest_first);
    return true;
}

bool top_threads_parse(const char *json, size_t bytes, uint64_t at_ns, struct top_threads *list) {
    *list = (struct top_threads){.at_ns = at_ns};
    struct json_object *root = json_in(json, bytes);
    bool good = root != NULL && read_all(root, list);
    json_object_put(root);
    if (!good)
        top_threads_free(list);
    return good;
}

void top_threads_free(struct top_threads *list) {
    for (size_t i = 0; i < list->n; i++) {
        free(list->item[i].name);
        free(list->item[i].state);
    }
    free(list->item);
    *list = (struct top_threads){0};
}

static const struct top_thread *find(const struct top_threads *list, uint32_t pid, uint32_t tid) {
    for (size_t i = 0; i < list->n; i++)
        if (list->item[i].pid == pid && list->item[i].tid == tid)
            return &list->item[i];
    return NULL;
}

void top_threads_compare(struct top_threads *list, const struct top_threads *before) {
    if (list->at_ns <= before->at_ns)
        return;
    for (size_t i = 0; i < list->n; i++) {
        struct top_thread *now = &list->item[i];
        const struct top_thread *then = find(before, now->pid, now->tid);
        if (then != NULL && now->credited_ns >= then->credited_ns)
            now->recent = (double)(now->credited_ns - then->credited_ns) /
                          (double)(list->at_ns - before->at_ns);
    }
}

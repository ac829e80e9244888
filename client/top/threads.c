/*
 * threads.c - /v1/threads from JSON to a table.
 */
#include "client/top/threads.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

static uint64_t number(struct json_object *object, const char *name) {
    struct json_object *value;
    return json_object_object_get_ex(object, name, &value) ? json_object_get_uint64(value) : 0;
}

static char *text(struct json_object *object, const char *name) {
    struct json_object *value;
    if (!json_object_object_get_ex(object, name, &value) ||
        !json_object_is_type(value, json_type_string))
        return strdup("");
    return strdup(json_object_get_string(value));
}

static struct json_object *array(struct json_object *object, const char *name) {
    struct json_object *value;
    if (!json_object_object_get_ex(object, name, &value) ||
        !json_object_is_type(value, json_type_array))
        return NULL;
    return value;
}

static bool read_thread(struct json_object *object, struct top_thread *thread) {
    if (!json_object_is_type(object, json_type_object))
        return false;
    *thread = (struct top_thread){
        .pid = (uint32_t)number(object, "pid"),
        .tid = (uint32_t)number(object, "tid"),
        .name = text(object, "name"),
        .state = text(object, "state"),
        .credited_ns = number(object, "credited_ns"),
        .walks = number(object, "walks"),
        .complete = number(object, "complete"),
        .lost = number(object, "lost"),
        .agent_ns = number(object, "agent_ns"),
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
    struct json_object *threads = array(root, "threads"), *ended = array(root, "ended");
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
        list->ended += number(gone, "threads");
        list->ended_ns += number(gone, "credited_ns");
    }
    list->credited_ns += list->ended_ns;
    qsort(list->item, list->n, sizeof *list->item, busiest_first);
    return true;
}

bool top_threads_parse(const char *json, size_t bytes, uint64_t at_ns, struct top_threads *list) {
    *list = (struct top_threads){.at_ns = at_ns};
    struct json_tokener *tokener = json_tokener_new();
    struct json_object *root = NULL;
    if (tokener == NULL)
        return false;
    if (bytes < INT32_MAX)
        root = json_tokener_parse_ex(tokener, json, (int)bytes);
    bool good = root != NULL && read_all(root, list);
    json_object_put(root);
    json_tokener_free(tokener);
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

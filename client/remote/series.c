/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * series.c - one profile for each process.
 */
#include "client/remote/series.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/copy.h"
#include "common/render/format.h"
#include "common/wire/tags.h"

#define LABELS_MAX 30 /* Pyroscope takes no more, unless it is told to */

static const char *keep(struct pool *pool, const char *text, size_t length) {
    char *copy = pool_alloc(pool, length + 1);

    memcpy(copy, text, length);
    return copy;
}

static void add(struct series *series, struct pool *pool, const char *name, const char *value) {
    for (size_t i = 0; i < series->n_labels; i++)
        if (strcmp(series->labels[i].name, name) == 0)
            return;
    if (series->n_labels < LABELS_MAX && value[0] != '\0')
        series->labels[series->n_labels++] = (struct series_label){
            .name = keep(pool, name, strlen(name)), .value = keep(pool, value, strlen(value))};
}

static void add_tags(struct series *series, struct pool *pool, const char *tags) {
    struct tag tag;
    while (tags_next(&tags, &tag)) {
        char name[TAGS_ROOM + 1];
        snprintf(name, sizeof name, "%.*s", (int)tag.key_length, tag.key);
        for (char *c = name; *c != '\0'; c++)
            *c = isalnum((unsigned char)*c) ? *c : '_';
        add(series, pool, name, keep(pool, tag.value, tag.value_length));
    }
}

/* As Pyroscope's own agents call profiles of these kinds. */
static const char *kind_of(const struct profile *profile) {
    if (strcmp(profile->type, "cpu") == 0)
        return "process_cpu";
    return profile_of_blocks(profile) ? "memory" : profile->type;
}

static void add_labels(struct series *series, struct pool *pool,
                       const struct push_settings *settings, const struct profile *profile,
                       const struct profile_process *process) {
    char room[TAGS_ROOM], pid[16] = "";
    series->labels = pool_alloc(pool, LABELS_MAX * sizeof *series->labels);
    if (process->pid != 0)
        snprintf(pid, sizeof pid, "%u", process->pid);
    add(series, pool, "__name__", kind_of(profile));
    add(series, pool, "service_name", push_service(settings, process, room));
    add(series, pool, "__delta__", "false"); /* it has only what is new already */
    add(series, pool, "host", settings->host);
    add(series, pool, "pid", pid);
    add_tags(series, pool, process->tags);
}

static void pack(struct series *series, struct pool *pool, const struct profile *profile) {
    FILE *out = memory_stream("a profile");
    size_t bytes;
    write_pprof(out, profile, &format_default_options);
    char *text = memory_stream_end(out, &bytes, "a profile");

    series->pprof = pool_alloc(pool, bytes);
    series->bytes = bytes;
    memcpy(series->pprof, text, bytes);
    free(text);
}

static bool is_it(const void *it, const struct profile_process *process) {
    return process == it;
}

/* The end of it stays. */
static void shorten(struct profile *profile, uint64_t longest_ns) {
    if (longest_ns == 0 || profile->duration_ns <= longest_ns)
        return;
    profile->time_ns += profile->duration_ns - longest_ns;
    profile->duration_ns = longest_ns;
}

size_t series_make(const struct push_settings *settings, const struct push *push,
                   uint64_t longest_ns, struct pool *pool, struct series **list) {
    const struct profile *profile = push->profile;
    size_t n = 0;

    *list = memory_new(profile->n_processes, sizeof(**list), "processes");
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        struct series *series = &(*list)[n];
        struct push_id_text id = push_id_text(push, i);
        if (profile->processes[i].total == 0)
            continue;
        add_labels(series, pool, settings, profile, &profile->processes[i]);
        series->id = keep(pool, id.text, strlen(id.text));
        struct profile *part = copy_processes(profile, is_it, &profile->processes[i]);
        shorten(part, longest_ns);
        pack(series, pool, part);
        profile_free(part);
        n++;
    }
    return n;
}

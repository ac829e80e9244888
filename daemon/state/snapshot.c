/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * snapshot.c - DIR/hcct-COMMAND-PID-TIME.SUFFIX
 */
#include "daemon/state/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "common/base/own_directory.h"
#include "common/wire/metric.h"
#include "daemon/answers/config.h"
#include "daemon/answers/past.h"
#include "daemon/ingest/registry.h"
#include "daemon/state/snapshot_report.h"

#define TEMPORARY      ".hcct-"
#define TEMPORARY_NAME (sizeof TEMPORARY + 16)

/* A command name may hold what a file name should not. */
static void safe_name(const char *command, char *name, size_t bytes) {
    size_t n = 0;
    for (; *command != '\0' && n + 1 < bytes; command++) {
        char c = *command;
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '+' || c == '-';
        name[n++] = ok ? c : '_';
    }
    name[n] = '\0';
}

/* The report's name in its directory. */
static void name_file(const struct process *p, const struct format *format, char *name,
                      size_t bytes) {
    char command[64], when[32];
    struct timespec now;
    struct tm tm;
    safe_name(process_command(p), command, sizeof command);
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    strftime(when, sizeof when, "%Y%m%dT%H%M%S", &tm);
    const char *metric = metric_kind(p->sampling.collector, p->sampling.clock);
    bool first = p->sampling.place == 0;
    snprintf(name, bytes, "hcct-%s-%d-%s.%06ld%s%s%s", command, (int)p->pid, when,
             now.tv_nsec / 1000, first ? "" : ".", first ? "" : metric_word_of_kind(metric),
             format->suffix);
}

static enum query_status cannot_write(const char *path, struct query_error *error) {
    snprintf(error->text, sizeof error->text, "can't write %.200s: %s", path, strerror(errno));
    return QUERY_FAILED;
}

static enum query_status cannot_use_directory(struct query_error *error) {
    snprintf(error->text, sizeof error->text, "can't write to the report directory %.200s: %s",
             config.report_dir, own_directory_error(errno));
    return QUERY_FAILED;
}

/* A new file of a name that nobody can know before, so that nothing waits there. */
static FILE *open_temporary(int directory, char name[TEMPORARY_NAME]) {
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return NULL;
    snprintf(name, TEMPORARY_NAME, TEMPORARY "%016" PRIx64, random);
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (fd >= 0 && out == NULL)
        close(fd);
    return out;
}

/* Of a process, with `n` of its metrics. */
static enum query_status write_file(const struct query *query, struct process *const *metrics,
                                    size_t n, int directory, const char *name,
                                    struct query_error *error) {
    char temporary[TEMPORARY_NAME];
    FILE *out = open_temporary(directory, temporary);
    if (out == NULL)
        return cannot_write(name, error);
    struct query whole = *query;
    whole.patience = SYMBOL_COMPLETE;
    whole.options.phi = 0; /* a file is not cut */
    enum query_status status = snapshot_report_write(&whole, metrics, n, out, error);
    bool flushed = fflush(out) == 0 && fsync(fileno(out)) == 0;
    if ((fclose(out) != 0 || !flushed) && status == QUERY_OK)
        status = cannot_write(name, error);
    if (status == QUERY_OK && renameat(directory, temporary, directory, name) != 0)
        status = cannot_write(name, error);
    if (status != QUERY_OK)
        unlinkat(directory, temporary, 0);
    return status;
}

/* `*named`: a bit for each collector that has been named. */
static void name_left_out(struct snapshot_files *files, const struct process *p, uint32_t *named) {
    const char *kind = metric_kind(p->sampling.collector, p->sampling.clock);
    size_t used = strlen(files->left_out);
    if ((*named >> p->sampling.collector & 1) == 0)
        snprintf(files->left_out + used, sizeof files->left_out - used, "%s%s",
                 used > 0 ? ", " : "", metric_word_of_kind(kind));
    *named |= 1u << p->sampling.collector;
}

/* Those that live, without what has no past where that is asked for; how many stay. */
static size_t choose(const struct query *query, struct process **processes, size_t n,
                     struct snapshot_files *files, unsigned *live) {
    size_t kept = 0;
    uint32_t named = 0;
    for (size_t i = 0; i < n; i++) {
        struct process *p = processes[i];
        bool has = !past_is_asked(query) || process_keeps_windows(p->sampling.collector);
        *live += p->live;
        if (p->live && !has)
            name_left_out(files, p, &named);
        if (p->live && has)
            processes[kept++] = p;
        else
            registry_put(p);
    }
    return kept;
}

/* Reports of all that live. `*live`: how many there are. */
static enum query_status write_all(const struct query *query, int directory,
                                   struct snapshot_files *files, unsigned *live,
                                   struct query_error *error) {
    enum query_status status = QUERY_OK;
    size_t n;
    struct process **processes = query_processes(query, &n);
    if (processes == NULL)
        return query_no_memory("a list of processes", error);
    n = choose(query, processes, n, files, live);
    if (n == 0 && *live > 0) {
        snprintf(error->text, sizeof error->text, "no windows are kept of %s: no report is written",
                 files->left_out);
        status = QUERY_BAD;
    }
    for (size_t i = 0, metrics; i < n && status == QUERY_OK; i += metrics) {
        char name[NAME_MAX + 1], path[PATH_MAX];
        metrics = snapshot_report_metrics(query, &processes[i], n - i);
        name_file(processes[i], query->format, name, sizeof name);
        status = write_file(query, &processes[i], metrics, directory, name, error);
        snprintf(path, sizeof path, "%s/%s", config.report_dir, name);
        if (status == QUERY_OK)
            files->written(files->arg, path);
    }
    registry_free_list(processes, n);
    return status;
}

/* Reports have a format of their own, unless another one was asked for. */
static struct query in_format(const struct query *query) {
    struct query formatted = *query;
    if (!query->has_format)
        formatted.format = format_find(config.report_format);
    return formatted;
}

enum query_status snapshot_write(const struct query *query, struct snapshot_files *files,
                                 struct query_error *error) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    unsigned live = 0;
    if (config.report_dir == NULL) {
        snprintf(error->text, sizeof error->text,
                 "hcctd was started with --report-dir none: it writes no snapshots");
        return QUERY_BAD;
    }
    int directory = own_directory_make(config.report_dir);
    if (directory < 0)
        return cannot_use_directory(error);
    pthread_mutex_lock(&one_at_a_time);
    const struct query formatted = in_format(query);
    enum query_status status = write_all(&formatted, directory, files, &live, error);
    pthread_mutex_unlock(&one_at_a_time);
    close(directory);
    if (status == QUERY_OK && live == 0) {
        snprintf(error->text, sizeof error->text, "no live process%s is profiled",
                 query->pid != 0 ? " of that number" : "");
        status = QUERY_NOT_FOUND;
    }
    return status;
}

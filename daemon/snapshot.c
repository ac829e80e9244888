/*
 * snapshot.c - DIR/hcct-COMMAND-PID-TIME.SUFFIX
 */
#include "daemon/snapshot.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/ingest/registry.h"

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

static void name_file(const struct process *p, const struct format *format, char *path,
                      size_t bytes) {
    char command[64], when[32];
    struct timespec now;
    struct tm tm;
    safe_name(process_command(p), command, sizeof command);
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    strftime(when, sizeof when, "%Y%m%dT%H%M%S", &tm);
    snprintf(path, bytes, "%s/hcct-%s-%d-%s.%06ld%s", config.report_dir, command, (int)p->pid, when,
             now.tv_nsec / 1000, format->suffix);
}

static enum query_status cannot_write(const char *path, struct query_error *error) {
    snprintf(error->text, sizeof error->text, "can't write %.200s: %s", path, strerror(errno));
    return QUERY_FAILED;
}

static enum query_status write_one(const struct query *query, struct process *process,
                                   const char *path, struct query_error *error) {
    char temporary[PATH_MAX];
    snprintf(temporary, sizeof temporary, "%s/.hcct-%d.tmp", config.report_dir, (int)process->pid);
    FILE *out = fopen(temporary, "we");
    if (out == NULL)
        return cannot_write(temporary, error);
    struct query whole = *query;
    whole.patience = SYMBOL_COMPLETE;
    whole.options.phi = 0; /* a file is not cut */
    enum query_status status = query_write(&whole, &process, 1, out, error);
    bool flushed = fflush(out) == 0 && fsync(fileno(out)) == 0;
    if ((fclose(out) != 0 || !flushed) && status == QUERY_OK)
        status = cannot_write(temporary, error);
    if (status == QUERY_OK && rename(temporary, path) != 0)
        status = cannot_write(path, error);
    if (status != QUERY_OK)
        unlink(temporary);
    return status;
}

static bool make_directory(void) {
    return mkdir(config.report_dir, 0700) == 0 || errno == EEXIST;
}

enum query_status snapshot_write(const struct query *query, snapshot_written *written, void *arg,
                                 struct query_error *error) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    enum query_status status = QUERY_OK;
    size_t n;
    if (config.report_dir == NULL) {
        snprintf(error->text, sizeof error->text,
                 "hcctd was started with --report-dir none: it writes no snapshots");
        return QUERY_BAD;
    }
    if (!make_directory())
        return cannot_write(config.report_dir, error);
    pthread_mutex_lock(&one_at_a_time);
    struct process **processes = query_processes(query, &n);
    unsigned live = 0;
    for (size_t i = 0; i < n && status == QUERY_OK; i++) {
        char path[PATH_MAX];
        if (!processes[i]->live)
            continue;
        live++;
        name_file(processes[i], query->format, path, sizeof path);
        status = write_one(query, processes[i], path, error);
        if (status == QUERY_OK)
            written(arg, path);
    }
    registry_free_list(processes, n);
    pthread_mutex_unlock(&one_at_a_time);
    if (status == QUERY_OK && live == 0) {
        snprintf(error->text, sizeof error->text, "no live process%s is profiled",
                 query->pid != 0 ? " of that number" : "");
        status = QUERY_NOT_FOUND;
    }
    return status;
}

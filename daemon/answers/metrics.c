/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * metrics.c - a table of figures, each written for all processes before the next.
 */
#include "daemon/answers/metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/utf8.h"
#include "common/code/frame.h"
#include "common/code/module.h"
#include "common/tree/batch.h"
#include "common/wire/wire.h"
#include "daemon/answers/config.h"
#include "daemon/ingest/frame_sweep.h"
#include "daemon/ingest/ingest.h"
#include "common/wire/metric.h"
#include "daemon/ingest/module_sweep.h"
#include "daemon/ingest/registry.h"
#include "daemon/ingest/session_room.h"
#include "daemon/render/render_counts.h"

/* One process as it is now, or the sum of the finished ones. */
struct sample {
    pid_t pid;
    char command[256]; /* as a label's value: escaped */
    uint32_t collector;
    const char *metric;
    bool again; /* of the same process as another: what is the process's is that one's */
    struct process_stats stats;
    struct mcct_stats tree;
    size_t window_bytes;
};

static double seconds(uint64_t ns) {
    return (double)ns / 1e9;
}

static double walks(const struct sample *s) {
    return (double)(s->stats.counter[WIRE_WALKS] + s->stats.deferred.credited);
}

static double complete(const struct sample *s) {
    return (double)(s->stats.counter[WIRE_COMPLETE] + s->stats.deferred.complete);
}

static double lost(const struct sample *s) {
    return (double)s->stats.counter[WIRE_LOST];
}

static double agent_seconds(const struct sample *s) {
    return seconds(s->stats.counter[WIRE_HANDLER_NS]);
}

static double cpu_seconds(const struct sample *s) {
    return seconds(s->stats.cpu_ns);
}

static double total_seconds(const struct sample *s) {
    return s->collector == WIRE_COLLECT_WALKS ? seconds(s->tree.total) : 0;
}

static double waited_seconds(const struct sample *s) {
    return s->collector == WIRE_COLLECT_LOCK ? seconds(s->tree.total) : 0;
}

static double total_calls(const struct sample *s) {
    return s->collector == WIRE_COLLECT_CALLS ? (double)s->tree.total : 0;
}

static double total_bytes(const struct sample *s) {
    bool bytes = wire_of_blocks(s->collector) && !wire_of_numbers(s->collector);
    return bytes ? (double)s->tree.total : 0;
}

static double contexts(const struct sample *s) {
    return (double)(s->tree.nodes > 0 ? s->tree.nodes - 1 : 0);
}

static double monitored(const struct sample *s) {
    return (double)s->tree.monitored;
}

static double bytes(const struct sample *s) {
    return (double)s->tree.bytes;
}

static double window_bytes(const struct sample *s) {
    return (double)s->window_bytes;
}

static double unseen_share(const struct sample *s) {
    return s->tree.total > 0 ? (double)s->tree.unseen / (double)s->tree.total : 0;
}

static double sampling(const struct sample *s) {
    return s->stats.off ? 0 : 1;
}

static double rate(const struct sample *s) {
    return s->collector == WIRE_COLLECT_WALKS ? s->stats.rate : 0;
}

static const struct figure {
    const char *name; /* after hcct_process_ or hcct_finished_ */
    const char *help;
    double (*of)(const struct sample *sample);
    bool counter; /* grows as long as the process lives: _total is added to its name */
    bool summed;  /* makes sense for all finished processes together */
    bool whole;   /* is the process's, not a metric's */
} figures[] = {
    {"walks", "Stack samples that were credited to contexts", walks, true, true, false},
    {"complete_walks", "Of these, those that reached the outermost frame", complete, true, true,
     false},
    {"lost_ticks", "Timer expirations without a sample of their own", lost, true, true, false},
    {"agent_seconds", "CPU time that the agent took", agent_seconds, true, true, false},
    {"cpu_seconds", "CPU time of the process", cpu_seconds, true, true, true},
    {"profiled_seconds", "Time credited to contexts", total_seconds, true, true, false},
    {"lock_wait_seconds", "Time that threads waited for locks which others had", waited_seconds,
     true, true, false},
    {"profiled_calls", "Calls credited to contexts", total_calls, true, true, false},
    {"profiled_bytes", "Bytes of sampled allocations, or of those not freed", total_bytes, false,
     true, false},
    {"contexts", "Nodes of the calling context tree", contexts, false, true, false},
    {"monitored_contexts", "Contexts whose weight is counted", monitored, false, true, false},
    {"tree_bytes", "Memory of the tree and of the summary that selects its contexts", bytes, false,
     true, false},
    {"window_bytes", "Memory of what is kept of the last hour, for windows", window_bytes, false,
     true, false},
    {"unseen_ratio", "Largest share that a context outside the tree can have", unseen_share, false,
     false, false},
    {"sampling", "1 while the agent samples, 0 while it is paused", sampling, false, false, true},
    {"walk_rate_hertz", "Samples that were asked for in a second of CPU time", rate, false, false,
     true},
};

/* ---- samples ---- */

static void escape(char *to, size_t room, const char *from) {
    size_t n = 0;
    for (; *from != '\0' && n + 3 < room; from++) {
        if (*from == '\\' || *from == '"' || *from == '\n')
            to[n++] = '\\';
        to[n++] = *from == '\n' ? 'n' : *from;
    }
    to[n] = '\0';
}

static void name_command(struct sample *s, const char *command) {
    char *repaired = malloc(3 * strlen(command) + 1);
    if (repaired != NULL) {
        utf8_repair(repaired, command);
        utf8_clean(repaired);
    }
    escape(s->command, sizeof s->command, repaired != NULL ? repaired : "");
    /* cut in the middle of a character: what is left of it goes */
    for (size_t i = 0, n; s->command[i] != '\0'; i += n)
        if ((n = utf8_length(&s->command[i])) == 0)
            s->command[i] = '\0', n = 0;
    free(repaired);
}

static void take(struct process *p, struct sample *s) {
    *s = (struct sample){
        .pid = p->pid,
        .collector = p->sampling.collector,
        .again = p->sampling.place > 0,
        .metric = metric_word_of_kind(metric_kind(p->sampling.collector, p->sampling.clock))};
    name_command(s, process_command(p));
    if (wire_of_heap(p->sampling.collector)) /* what was freed is in no ring */
        ingest_flush(p);
    pthread_mutex_lock(&p->lock);
    process_stats_locked(p, &s->stats);
    mcct_stats(process_tree(p), &s->tree);
    s->window_bytes = p->subwindows != NULL ? subwindows_bytes(p->subwindows) : 0;
    pthread_mutex_unlock(&p->lock);
}

/* ---- text ---- */

static void head(FILE *out, const char *name, const char *help, bool counter) {
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, counter ? "counter" : "gauge");
}

static void one(FILE *out, const char *name, const char *help, bool counter, double value) {
    head(out, name, help, counter);
    fprintf(out, "%s %.15g\n", name, value);
}

/* A process of several metrics has one sample for each; the first has no label of its own, so that
 * the labels of a process of one metric do not change. */
static void write_one(FILE *out, const char *name, const struct sample *s, double value) {
    fprintf(out, "%s{pid=\"%d\",command=\"%s\"", name, (int)s->pid, s->command);
    if (s->again)
        fprintf(out, ",metric=\"%s\"", s->metric);
    fprintf(out, "} %.15g\n", value);
}

static void write_live(FILE *out, const struct sample *live, size_t n) {
    char name[128];
    for (size_t f = 0; f < sizeof figures / sizeof figures[0] && n > 0; f++) {
        snprintf(name, sizeof name, "hcct_process_%s%s", figures[f].name,
                 figures[f].counter ? "_total" : "");
        head(out, name, figures[f].help, figures[f].counter);
        for (size_t i = 0; i < n; i++)
            if (!(live[i].again && figures[f].whole))
                write_one(out, name, &live[i], figures[f].of(&live[i]));
    }
}

/* Sums are gauges: what is dropped for want of room leaves them. */
static void write_finished(FILE *out, struct process *const *processes, size_t n) {
    double sum[sizeof figures / sizeof figures[0]] = {0};
    uint64_t runs = 0;
    char name[128];
    struct sample s;
    for (size_t i = 0; i < n; i++) {
        if (processes[i]->live)
            continue;
        take(processes[i], &s);
        runs += s.again ? 0 : processes[i]->runs;
        for (size_t f = 0; f < sizeof sum / sizeof sum[0]; f++)
            sum[f] += s.again && figures[f].whole ? 0 : figures[f].of(&s);
    }
    one(out, "hcct_finished_processes", "Finished processes whose profiles are kept", false,
        (double)runs);
    for (size_t f = 0; f < sizeof sum / sizeof sum[0]; f++) {
        snprintf(name, sizeof name, "hcct_finished_%s", figures[f].name);
        if (figures[f].summed)
            one(out, name, figures[f].help, false, sum[f]);
    }
}

/* ---- what users have of what each may have so much of ---- */

struct listing {
    FILE *out;
    const char *name;
    const struct query *query;
};

static void list_frames(void *arg, const struct frame_usage *usage) {
    const struct listing *l = arg;
    if (query_sees(l->query, usage->uid))
        fprintf(l->out, "%s{uid=\"%u\"} %u\n", l->name, (unsigned)usage->uid, usage->frames);
}

static void list_overflow(void *arg, const struct frame_usage *usage) {
    const struct listing *l = arg;
    if (query_sees(l->query, usage->uid))
        fprintf(l->out, "%s{uid=\"%u\"} %" PRIu64 "\n", l->name, (unsigned)usage->uid,
                usage->overflow);
}

static void list_modules(void *arg, const struct module_usage *usage) {
    const struct listing *l = arg;
    if (usage->uid != MODULE_NOBODY && query_sees(l->query, usage->uid))
        fprintf(l->out, "%s{uid=\"%u\"} %u\n", l->name, (unsigned)usage->uid, usage->modules);
}

static void list_refused(void *arg, const struct module_usage *usage) {
    const struct listing *l = arg;
    if (usage->uid != MODULE_NOBODY && query_sees(l->query, usage->uid))
        fprintf(l->out, "%s{uid=\"%u\"} %" PRIu64 "\n", l->name, (unsigned)usage->uid,
                usage->refused);
}

static void add_modules(void *arg, const struct module_usage *usage) {
    struct module_usage *sum = arg;
    sum->modules += usage->modules;
    sum->files += usage->files;
}

static void write_modules(FILE *out, const struct query *query) {
    struct listing modules = {out, "hcct_modules", query};
    struct listing refused = {out, "hcct_modules_refused_total", query};
    struct module_usage sum = {0};
    head(out, modules.name, "Modules that a user's programs have, or had since the last sweep",
         false);
    module_usage_all(list_modules, &modules);
    head(out, refused.name, "Times that a module was one too many, whose code has no names", true);
    module_usage_all(list_refused, &refused);
    one(out, "hcct_modules_limit", "The most modules that one user may have", false,
        MODULES_USER_MAX);
    module_usage_all(add_modules, &sum);
    one(out, "hcct_modules_all", "Modules of all users, and those that are everybody's", false,
        sum.modules);
    one(out, "hcct_modules_all_limit", "The most of these", false, MODULES_MAX);
    one(out, "hcct_module_files", "Files of modules that are kept open", false, sum.files);
    one(out, "hcct_module_sweeps_total", "Sweeps that gave back modules in no use", true,
        (double)module_sweeps());
}

static void write_users(FILE *out, const struct query *query) {
    struct listing frames = {out, "hcct_frames", query};
    struct listing overflow = {out, "hcct_frames_refused_total", query};
    head(out, frames.name, "Frames that a user's programs have, or had since the last sweep",
         false);
    frame_usage_all(list_frames, &frames);
    head(out, overflow.name, "Times that a frame was one too many, shown as [too many frames]",
         true);
    frame_usage_all(list_overflow, &overflow);
    one(out, "hcct_frames_limit", "The most frames that one user may have", false, FRAMES_USER_MAX);
    one(out, "hcct_frame_sweeps_total", "Sweeps that gave back frames in no use", true,
        (double)frame_sweeps());
    write_modules(out, query);
}

static void write_renderings(FILE *out) {
    static const char *const ends[RENDER_ENDS] = {[RENDER_END_WHOLE] = "whole",
                                                  [RENDER_END_REFUSED] = "refused",
                                                  [RENDER_END_LATE] = "late",
                                                  [RENDER_END_KILLED] = "killed"};
    head(out, "hcct_renderings_total",
         "Answers that were rendered by a process of their own, by how that ended", true);
    for (int i = 0; i < RENDER_ENDS; i++)
        fprintf(out, "hcct_renderings_total{end=\"%s\"} %" PRIu64 "\n", ends[i],
                render_counted((enum render_end)i));
}

static double started(void) {
    static double at; /* the same at each scrape, whatever the clock does meanwhile */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct timespec now, up;
    unsigned long long ticks = 0;
    pthread_mutex_lock(&lock);
    FILE *f = at == 0 ? fopen("/proc/self/stat", "re") : NULL;
    if (f != NULL &&
        fscanf(f,
               "%*d (hcctd) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
               "%*d %*d %llu",
               &ticks) == 1) {
        clock_gettime(CLOCK_REALTIME, &now);
        clock_gettime(CLOCK_BOOTTIME, &up);
        at = (double)(now.tv_sec - up.tv_sec) + (double)(now.tv_nsec - up.tv_nsec) / 1e9 +
             (double)ticks / (double)sysconf(_SC_CLK_TCK);
    }
    if (f != NULL)
        fclose(f);
    double result = at;
    pthread_mutex_unlock(&lock);
    return result;
}

static double resident_bytes(void) {
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f == NULL)
        return 0;
    if (fscanf(f, "%*u %llu", &pages) != 1)
        pages = 0;
    fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void write_daemon(FILE *out, size_t live) {
    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    head(out, "hcct_build_info", "Which hcctd this is", false);
    fprintf(out, "hcct_build_info{version=\"%s\",summary=\"%s\"} 1\n", HCCT_VERSION,
            config.summary);
    one(out, "hcct_phi_ratio", "Share from which on a context is hot", false, config.phi);
    one(out, "hcct_epsilon_ratio", "Largest error of a count, as a share", false, config.epsilon);
    one(out, "process_start_time_seconds", "When hcctd started, since 1970", false, started());
    one(out, "process_resident_memory_bytes", "Resident memory of hcctd", false, resident_bytes());
    one(out, "process_cpu_seconds_total", "User and system CPU time of hcctd", true,
        (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    one(out, "hcct_processes", "Live processes that are profiled", false, (double)live);
    one(out, "hcct_session_bytes", "Memory that hcctd shares with profiled processes", false,
        (double)session_room_taken());
    one(out, "hcct_session_limit_bytes", "The most that it shares with all of them", false,
        (double)session_room_limit());
    one(out, "hcct_batch_bytes", "Memory in which calls are gathered before they go into a tree",
        false, (double)mcct_batch_bytes());
    one(out, "hcct_dropped_profiles_seconds_total",
        "Time in profiles that were dropped for want of room", true, seconds(registry_dropped()));
    write_renderings(out);
}

enum query_status metrics_write(const struct query *query, FILE *out, struct query_error *error) {
    size_t n, live = 0, whole = 0;
    struct process **processes = query_processes(query, &n);
    struct sample *samples = processes != NULL ? calloc(n + 1, sizeof *samples) : NULL;
    if (samples == NULL) {
        registry_free_list(processes, n);
        return query_no_memory("a list of processes", error);
    }
    for (size_t i = 0; i < n; i++)
        if (processes[i]->live) {
            take(processes[i], &samples[live]);
            whole += !samples[live++].again;
        }
    write_daemon(out, whole);
    write_users(out, query);
    write_live(out, samples, live);
    write_finished(out, processes, n);
    free(samples);
    registry_free_list(processes, n);
    return QUERY_OK;
}

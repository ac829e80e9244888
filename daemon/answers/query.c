/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * query.c - parameters as a table; flush, copy, symbolize, write.
 */
#include "daemon/answers/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/assemble/agent_frames.h"
#include "common/assemble/symbols.h"
#include "common/base/memory.h"
#include "common/code/frame.h"
#include "common/code/module.h"
#include "common/render/render_order.h"
#include "common/wire/compiler.h"
#include "common/wire/metric.h"
#include "common/wire/tags.h"
#include "common/base/clock.h"
#include "common/base/moment.h"
#include "daemon/answers/config.h"
#include "daemon/answers/marked.h"
#include "daemon/answers/past.h"
#include "daemon/answers/process_copies.h"
#include "daemon/ingest/ingest.h"
#include "daemon/ingest/registry.h"

/* ---- parameters ---- */

static bool number(const char *text, double min, double max, double *value) {
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return text[0] != '\0' && *end == '\0' && errno == 0 && *value >= min && *value <= max;
}

static bool set_pid(struct query *q, const char *value) {
    double n;
    bool ok = number(value, 1, 1 << 22, &n);
    q->pid = ok ? (pid_t)n : 0;
    return ok && (double)q->pid == n;
}

static bool set_exe(struct query *q, const char *value) {
    q->exe = value;
    return value[0] != '\0';
}

static bool set_tag(struct query *q, const char *value) {
    q->tag = value;
    return tags_check(value);
}

static bool set_collector(struct query *q, const char *value) {
    q->collector = value;
    for (unsigned i = 0; i < WIRE_COLLECTORS; i++)
        for (unsigned clock = 0; clock < WIRE_CLOCKS; clock++)
            if (strcmp(value, metric_kind(i, clock)) == 0)
                return true;
    return false;
}

static bool set_metric(struct query *q, const char *value) {
    return set_collector(q, metric_kind_of_word(value));
}

static bool set_phi(struct query *q, const char *value) {
    bool ok = number(value, 0, 1, &q->phi) && q->phi > 0 && q->phi < 1;
    q->options.phi = ok ? q->phi : 0;
    return ok;
}

static bool set_n(struct query *q, const char *value) {
    double n;
    bool ok = number(value, 1, 1e9, &n);
    q->options.n = ok ? (unsigned)n : 0;
    return ok;
}

static bool set_by(struct query *q, const char *value) {
    return profile_by_parse(value, &q->options.by);
}

static bool set_format(struct query *q, const char *value) {
    q->format = format_find(value);
    q->has_format = true;
    return q->format != NULL;
}

static bool set_color(struct query *q, const char *value) {
    q->options.color = strcmp(value, "1") == 0;
    return q->options.color || strcmp(value, "0") == 0;
}

static bool set_width(struct query *q, const char *value) {
    double n;
    bool ok = number(value, 0, 10000, &n);
    q->options.width = ok ? (unsigned)n : 0;
    return ok;
}

/* Whether it is a regular expression is for the renderer to find out: to compile one may take all
 * memory and time. */
static bool set_focus(struct query *q, const char *value) {
    q->options.focus = value;
    return true;
}

static bool set_ignore(struct query *q, const char *value) {
    q->options.ignore = value;
    return true;
}

static bool set_title(struct query *q, const char *value) {
    q->title = value;
    return true;
}

static bool set_kernel_ns(struct query *q, const char *value) {
    double n;
    bool ok = number(value, 0, 1e18, &n);
    q->kernel_ns = ok ? (uint64_t)n : 0;
    return ok;
}

static bool set_symbols(struct query *q, const char *value) {
    q->patience = strcmp(value, "complete") == 0 ? SYMBOL_COMPLETE : SYMBOL_SOON;
    return q->patience == SYMBOL_COMPLETE || strcmp(value, "soon") == 0;
}

static bool set_cut(struct query *q, const char *value) {
    double cut;
    bool ok = number(value, 0, 1, &cut);
    format_set_cut(&q->options, ok ? cut : 0);
    return ok;
}

/* 90, 60s, 5m, 1h. */
static bool set_window(struct query *q, const char *value) {
    char *end, unit;
    errno = 0;
    double n = strtod(value, &end);
    bool ok = end != value && errno == 0 && (end[0] == '\0' || end[1] == '\0');
    unit = ok ? *end : '\0';
    double seconds = unit == 'h' ? 3600 * n : unit == 'm' ? 60 * n : n;
    ok =
        ok && strchr("smh", unit) != NULL && seconds > 0 && seconds * 1e9 <= SUBWINDOWS_SPAN_MAX_NS;
    q->window_ns = ok ? (uint64_t)(seconds * 1e9) : 0;
    return ok && q->window_ns > 0;
}

static bool set_moment(const char *value, uint64_t *ns, const char **mark) {
    *mark = moment_is_mark(value) ? value : NULL;
    *ns = 0;
    return *mark != NULL || (moment_parse(value, clock_ns(CLOCK_REALTIME), ns) && *ns > 0);
}

static bool set_since(struct query *q, const char *value) {
    return set_moment(value, &q->since_ns, &q->since_mark);
}

static bool set_until(struct query *q, const char *value) {
    return set_moment(value, &q->until_ns, &q->until_mark);
}

static bool set_rest(struct query *q, const char *value) {
    q->rest = strcmp(value, "1") == 0;
    return q->rest || strcmp(value, "0") == 0;
}

static bool set_diff(struct query *q, const char *value) {
    q->diff = strcmp(value, "1") == 0;
    return q->diff || strcmp(value, "0") == 0;
}

static bool set_top(struct query *q, const char *value) {
    double n;
    bool ok = number(value, 0, 1e6, &n);
    format_set_top(&q->options, ok ? (unsigned)n : 0);
    return ok;
}

static const struct {
    const char *name;
    bool (*set)(struct query *query, const char *value);
    const char *values;
} parameters[] = {
    {"pid", set_pid, "the number of a process"},
    {"exe", set_exe, "the path or the name of an executable, or of a command"},
    {"tag", set_tag, "a tag as HCCT_TAGS has it: KEY=VALUE"},
    {"collector", set_collector,
     "walks, wall, wait, calls, alloc, alloc-objects, heap, heap-objects, lock, lock-waits, "
     "lock-held or "
     "faults"},
    {"metric", set_metric,
     "cpu, wall, wait, calls, alloc, alloc-objects, heap, heap-objects, lock, lock-waits, "
     "lock-held or "
     "faults"},
    {"phi", set_phi, "a fraction between 0 and 1"},
    {"n", set_n, "a number of contexts, from 1 on"},
    {"by", set_by, "function, site, line, module, thread or label"},
    {"format", set_format, FORMAT_NAMES},
    {"color", set_color, "0 or 1"},
    {"width", set_width, "a number of columns up to 10000, 0 for no limit"},
    {"cut", set_cut, "a fraction from 0 to 1"},
    {"top", set_top, "a number of functions"},
    {"window", set_window, "a time of up to an hour, such as 10s, 5m, 1h or 90 (seconds)"},
    {"since", set_since, MOMENT_FORMS ", or the name of a mark"},
    {"until", set_until, MOMENT_FORMS ", or the name of a mark"},
    {"rest", set_rest, "0 or 1"},
    {"diff", set_diff, "0 or 1"},
    {"symbols", set_symbols, "soon or complete"},
    {"title", set_title, "what the profile is to be called"},
    {"kernel_ns", set_kernel_ns, "a CPU time in nanoseconds"},
    {"focus", set_focus, "a POSIX extended regular expression"},
    {"ignore", set_ignore, "a POSIX extended regular expression"},
};

void query_init(struct query *query, uid_t asker) {
    *query = (struct query){
        .phi = config.phi,
        .format = &formats[0],
        .options = format_default_options,
        .asker = asker,
    };
}

bool query_needs_renderer(const struct query *query) {
    return !query->format->plain || query->diff || query->options.focus != NULL ||
           query->options.ignore != NULL;
}

static void say_unknown(const char *name, struct query_error *error) {
    const size_t n = sizeof parameters / sizeof parameters[0];
    int used =
        snprintf(error->text, sizeof error->text, "there is no parameter %.80s: known are ", name);
    for (size_t i = 0; i < n && used < (int)sizeof error->text; i++)
        used += snprintf(error->text + used, sizeof error->text - (size_t)used, "%s%s",
                         parameters[i].name,
                         i + 2 < n   ? ", "
                         : i + 1 < n ? " and "
                                     : "");
}

enum query_status query_set(struct query *query, const char *name, const char *value,
                            struct query_error *error) {
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        if (strcmp(name, parameters[i].name) != 0)
            continue;
        if (value != NULL && parameters[i].set(query, value))
            return QUERY_OK;
        snprintf(error->text, sizeof error->text, "%s=%.80s is not possible: give %s", name,
                 value != NULL ? value : "", parameters[i].values);
        return QUERY_BAD;
    }
    say_unknown(name, error);
    return QUERY_BAD;
}

/* ---- processes ---- */

bool query_sees(const struct query *query, uid_t uid) {
    return query->asker == 0 || query->asker == geteuid() || query->asker == uid;
}

struct process_choice query_choice(const struct query *query) {
    return (struct process_choice){query->pid, query->exe, query->tag};
}

bool query_wants(const struct query *q, pid_t pid, const char *exe, const char *command,
                 const char *tags) {
    const struct process_choice choice = query_choice(q);
    return process_choice_has(&choice, pid, exe, command, tags);
}

static const char *kind_of(const struct process *p) {
    return metric_kind(p->sampling.collector, p->sampling.clock);
}

static bool wanted(const struct process *p, const void *arg) {
    const struct query *q = arg;
    const char *kind = kind_of(p);
    return query_sees(q, p->uid) && (q->collector == NULL || strcmp(q->collector, kind) == 0) &&
           query_wants(q, p->pid, p->exe, process_command(p), process_tags(p));
}

struct process **query_processes(const struct query *query, size_t *n) {
    return registry_list(wanted, query, n);
}

size_t query_choose(const struct query *query, struct process **processes, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (query->collector == NULL && processes[i]->sampling.place > 0)
            registry_put(processes[i]);
        else
            processes[kept++] = processes[i];
    return kept;
}

/* ---- answers ---- */

/* The kinds that query_choose() would leave out. */
struct other_kinds {
    const char *kind[WIRE_COLLECTORS * WIRE_CLOCKS];
    size_t n;
};

static void find_others(struct other_kinds *others, const struct query *query,
                        struct process *const *processes, size_t n) {
    others->n = 0;
    for (size_t i = 0; i < n && query->collector == NULL; i++) {
        const char *kind = kind_of(processes[i]);
        bool found = processes[i]->sampling.place == 0;
        for (size_t k = 0; k < others->n && !found; k++)
            found = strcmp(others->kind[k], kind) == 0;
        if (!found && others->n < HCCT_ARRAY_LEN(others->kind))
            others->kind[others->n++] = kind;
    }
}

static void name_others(struct query *query, const struct other_kinds *others) {
    query->others[0] = '\0';
    for (size_t i = 0; i < others->n; i++) {
        size_t used = strlen(query->others);
        snprintf(query->others + used, sizeof query->others - used, "%s%s", used > 0 ? ", " : "",
                 metric_word_of_kind(others->kind[i]));
    }
}

static bool have_windows(struct process *const *processes, size_t n, struct query_error *error) {
    for (size_t i = 0; i < n; i++)
        if (!process_keeps_windows(processes[i]->sampling.collector)) {
            snprintf(error->text, sizeof error->text,
                     processes[i]->sampling.collector == WIRE_COLLECT_CALLS
                         ? "calls are counted since the start only: a window is kept of processes "
                           "whose stacks are walked"
                         : "the heap is what is allocated now: it has no window");
            return false;
        }
    return true;
}

void query_hold_frames(struct process *const *processes, size_t n) {
    for (size_t i = 0; i < n; i++)
        frame_hold(processes[i]->frames);
}

void query_drop_frames(struct process *const *processes, size_t n) {
    for (size_t i = 0; i < n; i++)
        frame_drop(processes[i]->frames);
}

/* An answer under way. */
struct writing {
    const struct query *query;
    const struct process_copies *copies;
    struct process *const *processes;
    size_t n;
    const struct past *past;
    FILE *out;
    int64_t start;     /* where the answer, or the order, begins in `out` */
    bool holds;        /* frames, until what they stand for is in the profile ... */
    uint32_t *modules; /* ... and from then on what is to have names; NULL: nothing */
    size_t n_modules;
    int error; /* of the stream */
    enum query_status status;
    struct query_error *said;
};

static void drop_frames(struct writing *w) {
    if (w->holds)
        query_drop_frames(w->processes, w->n);
    w->holds = false;
}

/* Of what the daemon has in memory. Its contexts may go to `contexts` one by one. */
static struct profile *name_profile(struct writing *w, FILE *contexts) {
    const struct query *query = w->query;
    const struct assemble_params params = {query->phi, config.epsilon, config.summary, contexts};
    uint32_t *module_of;
    struct profile *profile =
        process_copies_profile(w->copies, w->processes, w->n, &params, &module_of);
    w->n_modules = profile->n_modules;
    w->modules = module_hold(module_of, w->n_modules);
    if (w->modules == NULL)
        memory_die("names");
    drop_frames(w);
    symbolize(profile, module_of, config.symbols, query->patience);
    free(module_of);
    return contexts == NULL ? agent_frames_hide(profile) : profile;
}

/* What it is called by who asks. */
static void describe(struct profile *profile, const struct query *query) {
    char *marks = marked_lines(query);
    if (marks == NULL)
        memory_die("marks");
    profile->marks = profile_string(profile, marks);
    free(marks);
    profile->title = profile_string(profile, query->title);
    profile->kernel_ns = query->kernel_ns;
    profile->others = profile_string(profile, query->others);
}

/* `part`: of the profile, the renderer adds past hours to it. */
static bool put_order(const struct writing *w, struct profile *profile, bool part) {
    const struct query *query = w->query;
    return (part ? render_order_write_part
                 : render_order_write)(query->format, w->out, w->start, profile, &query->options,
                                       query->beside ? RENDER_BESIDE : RENDER_AFTER);
}

static void write_profile(void *arg) {
    struct writing *w = arg;
    const struct query *query = w->query;
    bool alone = past_is_empty(w->past), part = false;
    struct profile *profile = name_profile(w, query->to_render != NULL && alone ? w->out : NULL);
    describe(profile, query);
    if (query->to_render != NULL && !alone)
        part = past_order(w->past, w->out, query->to_render);
    if (!alone && !part) {
        profile = past_add(w->past, profile, w->said);
        w->status = profile != NULL ? QUERY_OK : QUERY_BAD;
        if (profile == NULL)
            return;
    }
    bool written = query->to_render != NULL
                       ? put_order(w, profile, part)
                       : format_write(query->format, w->out, profile, &query->options);
    if (!written) /* an order's file is in memory */
        w->error = query->to_render != NULL ? ENOMEM : errno;
    profile_free(profile);
}

enum query_status query_no_memory(const char *what, struct query_error *error) {
    snprintf(error->text, sizeof error->text,
             "hcctd has no memory for %s: ask for less (n=, phi=, pid=), or give it more", what);
    return QUERY_FAILED;
}

/* A file of all that there is, from which numbers of contexts can be read afterwards. */
static bool has_numbers(const struct query *query, const struct past *past) {
    return past->window == NULL && past_is_empty(past) && query->patience == SYMBOL_COMPLETE &&
           query->options.n == 0 && strcmp(query->format->name, "pprof") == 0;
}

enum query_status query_write(const struct query *query, struct process *const *processes, size_t n,
                              FILE *out, struct query_error *error) {
    struct process_copies copies;
    struct past past;
    const char *what;
    if (!past_find(query, &past, error) ||
        (past.window != NULL && !have_windows(processes, n, error)))
        return QUERY_BAD;
    for (size_t i = 0; i < n; i++)
        ingest_flush(processes[i]);
    struct writing w = {.query = query,
                        .copies = &copies,
                        .processes = processes,
                        .n = n,
                        .past = &past,
                        .out = out,
                        .start = query->to_render != NULL ? ftello(out) : 0,
                        .holds = true,
                        .status = QUERY_OK,
                        .said = error};
    query_hold_frames(processes, n);
    bool taken = process_copies_take(&copies, processes, n, past.window);
    if (taken && has_numbers(query, &past) && !process_copies_take_numbers(&copies, processes)) {
        process_copies_free(&copies);
        taken = false;
    }
    if (!taken) {
        drop_frames(&w);
        past_free(&past);
        return query_no_memory("copies of the trees", error);
    }
    if (query->pid != 0 || past.window != NULL)
        process_copies_leave_children(&copies);
    bool done = memory_try(write_profile, &w, &what);
    drop_frames(&w);
    module_drop(w.modules, w.n_modules);
    process_copies_free(&copies);
    past_free(&past);
    if (!done)
        return query_no_memory(what, error);
    if (w.status != QUERY_OK)
        return w.status;
    if (w.error == 0)
        return QUERY_OK;
    if (w.error == ENOMEM || w.error == ENOSPC)
        return query_no_memory("the answer", error);
    snprintf(error->text, sizeof error->text, "the answer could not be written: %s",
             strerror(w.error));
    return QUERY_FAILED;
}

bool query_have_one_unit(struct process *const *processes, size_t n, struct query_error *error) {
    for (size_t i = 1; i < n; i++)
        if (strcmp(kind_of(processes[i]), kind_of(processes[0])) != 0) {
            snprintf(error->text, sizeof error->text,
                     "what is counted is not the same for all processes, such as CPU time, elapsed "
                     "time, calls or bytes: ask for one process (pid=), executable (exe=) or "
                     "metric (collector=)");
            return false;
        }
    return true;
}

/* Kinds of the processes that would be asked for but for the metric, with commas between them.
 * False: there are no such processes. */
static bool name_other_metrics(const struct query *query, char *names, size_t room) {
    struct query any = *query;
    size_t n = 0, used = 0;
    any.collector = NULL;
    struct process **processes = query->collector != NULL ? query_processes(&any, &n) : NULL;
    for (size_t i = 0; i < n && used < room; i++) {
        size_t k = 0;
        while (strcmp(kind_of(processes[k]), kind_of(processes[i])) != 0)
            k++;
        if (k == i)
            used += (size_t)snprintf(names + used, room - used, "%s%s", used > 0 ? ", " : "",
                                     metric_word_of_kind(kind_of(processes[i])));
    }
    registry_free_list(processes, n);
    return used > 0;
}

enum query_status query_nothing(const struct query *query, struct query_error *error) {
    char others[128];
    char who[32] = "what is asked for";
    if (query->pid != 0)
        snprintf(who, sizeof who, "process %d", (int)query->pid);
    if (name_other_metrics(query, others, sizeof others))
        snprintf(error->text, sizeof error->text,
                 "%s is profiled by %s, not by %s: HCCT_METRICS chooses when a program begins, "
                 "`hcct attach --metric` for one that runs without the agent",
                 who, others, metric_word_of_kind(query->collector));
    else if (query->pid != 0)
        snprintf(error->text, sizeof error->text,
                 "process %d has no agent: start it with `hcct record -- ...` or "
                 "LD_PRELOAD=libhcctagent.so",
                 (int)query->pid);
    else
        snprintf(
            error->text, sizeof error->text,
            "nothing is profiled%s%s%s%s: start a program with `hcct record -- ...` or "
            "LD_PRELOAD=libhcctagent.so",
            query->exe != NULL ? " whose executable is " : "", query->exe != NULL ? query->exe : "",
            query->tag != NULL ? " that has the tag " : "", query->tag != NULL ? query->tag : "");
    return QUERY_NOT_FOUND;
}

/* Can it be compared with all else, and be written then? */
static bool can_compare(const struct query *query, struct query_error *error) {
    if (query->since_ns == 0 && query->until_ns == 0)
        snprintf(error->text, sizeof error->text,
                 "diff=1 compares a part of the past with the rest: give since= or until=");
    else if (query->format->write_diff == NULL)
        snprintf(error->text, sizeof error->text,
                 "a comparison can't be written as %s, only as " FORMAT_DIFF_NAMES,
                 query->format->name);
    else
        return true;
    return false;
}

/* Of a comparison, what it is compared with comes first: an order for each. */
static enum query_status write_both(const struct query *query, struct process *const *processes,
                                    size_t n, FILE *out, struct query_error *error) {
    struct query other = *query;
    other.rest = !query->rest;
    enum query_status status =
        query->diff ? query_write(&other, processes, n, out, error) : QUERY_OK;
    return status == QUERY_OK ? query_write(query, processes, n, out, error) : status;
}

/* Of another metric, if it has what is asked for. */
static enum query_status write_other(const struct query *query, const char *kind, FILE *out,
                                     struct query_error *error) {
    struct query other = *query;
    enum query_status status = QUERY_OK;
    size_t n;
    other.collector = kind;
    other.others[0] = '\0';
    struct process **processes = query_processes(&other, &n);
    if (processes == NULL)
        return query_no_memory("a list of processes", error);
    if (n > 0 && (!past_is_asked(&other) || have_windows(processes, n, error)))
        status = query_write(&other, processes, n, out, error);
    registry_free_list(processes, n);
    return status;
}

/* What a page has beside its first metric, last first: an order for each. */
static enum query_status write_others(const struct query *query, const struct other_kinds *others,
                                      FILE *out, struct query_error *error) {
    enum query_status status = QUERY_OK;
    bool has_room = query->to_render != NULL && !query->diff && query->format->write == write_html;
    for (size_t i = others->n; i-- > 0 && has_room && status == QUERY_OK;)
        if (i + 1 < WIRE_METRICS_MAX)
            status = write_other(query, others->kind[i], out, error);
    return status;
}

enum query_status query_hot(const struct query *asked, FILE *out, struct query_error *error) {
    struct query chosen = *asked, *query = &chosen;
    size_t n;
    struct process **processes = query_processes(query, &n);
    enum query_status status = QUERY_NOT_FOUND;
    struct other_kinds others = {.n = 0};
    if (processes != NULL) {
        find_others(&others, query, processes, n);
        name_others(query, &others);
        n = query_choose(query, processes, n);
    }
    if (processes == NULL)
        status = query_no_memory("a list of processes", error);
    else if (query->diff && !can_compare(query, error))
        status = QUERY_BAD;
    else if (n == 0 && past_has(query))
        status = write_both(query, processes, n, out, error);
    else if (n > 0 && !query_have_one_unit(processes, n, error))
        status = QUERY_BAD;
    else if (n > 0) {
        query->beside = !query->diff;
        status = write_others(query, &others, out, error);
        if (status == QUERY_OK)
            status = write_both(query, processes, n, out, error);
    } else
        status = query_nothing(query, error);
    registry_free_list(processes, n);
    return status;
}

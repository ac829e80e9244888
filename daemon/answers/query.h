/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * query.h - a question about the profiled processes, and its answer as text, JSON, pprof, ...
 */
#ifndef HCCT_QUERY_H
#define HCCT_QUERY_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "common/code/symbol_service.h"
#include "common/render/format.h"
#include "daemon/history/process_choice.h"
#include "daemon/ingest/process.h"

struct query {
    pid_t pid;             /* 0: any */
    const char *exe;       /* path of the executable or its last part; NULL: any */
    const char *tag;       /* KEY=VALUE that a process has; NULL: any */
    const char *collector; /* as metric_collector() has it; NULL: any */
    double phi;        /* what is called hot; asked for, it cuts what is shown, too (options.phi) */
    const char *title; /* of the profile (profile.h); NULL: none */
    uint64_t kernel_ns; /* what the asker knows of the profile's CPU time (profile.h); 0: nothing */
    const struct format *format;
    bool has_format; /* it was asked for */
    struct format_options options;
    char others[128]; /* metrics that are left out, as one is shown (query_choose) */
    bool beside;      /* the order is of another metric than the one before it in the file */
    struct render_files *to_render; /* not NULL: what is written is an order (render_order.h) for a
                                     * renderer, which gets these files, and not the answer */
    uint64_t window_ns;             /* weights of the last so much time; 0: since the start */
    uint64_t since_ns, until_ns;    /* or of a part of the past (ns since 1970), 0: open */
    const char *since_mark, *until_mark; /* these are named so, and not known yet (marked.h) */
    bool rest;                           /* or of all that is kept but that part */
    bool diff;                           /* that compared with all else that is kept */
    enum symbol_patience patience;       /* with the symbols of large programs */
    uid_t asker; /* sees its own processes; root and the daemon's user see all */
};

/* HTTP statuses, as the answer to a query is one. */
enum query_status {
    QUERY_OK = 200,
    QUERY_BAD = 400,
    QUERY_NOT_FOUND = 404,
    QUERY_FAILED = 500,
    QUERY_UNAVAILABLE = 503, /* hcctd ends, or rendering took too long: ask again */
};

struct query_error {
    char text[512]; /* one sentence */
};

/* Sets one parameter, by its name in the URL. QUERY_BAD: it is unknown or its value can't be. */
enum query_status query_set(struct query *query, const char *name, const char *value,
                            struct query_error *error);
void query_init(struct query *query, uid_t asker);

/* Is the answer one that only a renderer writes (renderer.h)? All are but plain formats without
 * filters. */
bool query_needs_renderer(const struct query *query);

/* May the asker see what is that user's? */
bool query_sees(const struct query *query, uid_t uid);

/* Which processes are asked for. */
struct process_choice query_choice(const struct query *query);
/* Is it asked for: a process of this pid, executable, command and tags? */
bool query_wants(const struct query *query, pid_t pid, const char *exe, const char *command,
                 const char *tags);

/* The processes that are asked for, with references (registry_free_list). NULL: no memory. */
struct process **query_processes(const struct query *query, size_t *n);

/* Of these, of which no metric was asked for, those that count another one than the first of their
 * session are left out. Returns how many stay. */
size_t query_choose(const struct query *query, struct process **processes, size_t n);

/* Writes the hot contexts of these processes, or the order to render them (to_render). Everything
 * published before is in it. */
enum query_status query_write(const struct query *query, struct process *const *processes, size_t n,
                              FILE *out, struct query_error *error);

/* All of it: find the processes, write the answer; an error when there are none. */
enum query_status query_hot(const struct query *query, FILE *out, struct query_error *error);

/* The frame ids of these processes stay what they are until they are dropped. */
void query_hold_frames(struct process *const *processes, size_t n);
void query_drop_frames(struct process *const *processes, size_t n);

/* Nothing is there that the query asks for: QUERY_NOT_FOUND, and the sentence for it. */
enum query_status query_nothing(const struct query *query, struct query_error *error);

/* Can the weights of these processes be added up? Numbers of calls and times can't. */
bool query_have_one_unit(struct process *const *processes, size_t n, struct query_error *error);

/* GET /v1/processes: JSON. */
enum query_status query_list(const struct query *query, FILE *out, struct query_error *error);

/* There is no memory for `what`: QUERY_FAILED, and the sentence for it. */
enum query_status query_no_memory(const char *what, struct query_error *error);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * metric_answers.h - the profiles of several metrics, as hcctd answers with them, one by one, and
 * as the one profile that people keep.
 *
 * Begins as all zero.
 */
#ifndef HCCT_METRIC_ANSWERS_H
#define HCCT_METRIC_ANSWERS_H

#include <stdbool.h>
#include <stdio.h>

#include "client/ask.h"
#include "common/profile/profile.h"
#include "common/wire/wire.h"

struct metric_answers {
    struct http_answer answer[WIRE_METRICS_MAX]; /* files of pprof */
    const char *name[WIRE_METRICS_MAX];          /* of the metric, "" where it does not matter */
    unsigned n;
};

void metric_answers_free(struct metric_answers *answers);

/* Asks the daemon at `path` for one of them. `kind`: as hcctd calls what it counts, NULL: what it
 * answers with by itself. Returns an exit status; complained unless HCCT_EXIT_OK. */
int metric_answers_ask(struct metric_answers *answers, const char *path, const struct query *query,
                       const char *kind);

/* The same for what the processes of `list`, a query of /v1/processes, count beside what the first
 * answer has, and have samples of. `part`: the query is about a part of the time. */
int metric_answers_ask_others(struct metric_answers *answers, const char *path,
                              const struct query *query, const struct query *list, bool part);

/* The first one, which knows the names of the others. NULL: it can't be read; complained. */
struct profile *metric_answers_first(const struct metric_answers *answers);

/* The others, for a page, which has room for all: how many could be read. The caller frees them. */
unsigned metric_answers_others(const struct metric_answers *answers,
                               struct profile *others[WIRE_METRICS_MAX]);

/* All of them as one file of pprof. False: complained. */
bool metric_answers_join(const struct metric_answers *answers, FILE *file);

#endif

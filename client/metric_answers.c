/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * metric_answers.c - asked for in turn, joined by pprof_join().
 */
#include "client/metric_answers.h"

#include <stdlib.h>
#include <string.h>

#include "client/processes.h"
#include "client/profile_file.h"
#include "common/base/options.h"
#include "common/render/pprof_join.h"
#include "common/wire/metric.h"

#define ANSWER "hcctd's answer"

void metric_answers_free(struct metric_answers *answers) {
    for (unsigned i = 0; i < answers->n; i++)
        free(answers->answer[i].body);
    answers->n = 0;
}

/* The word itself, of those that stay: what a list has is freed. */
static const char *name_of(const char *kind) {
    const char *word = kind != NULL ? metric_word_of_kind(kind) : "";
    const struct metric *metric = metric_find(word);
    return metric != NULL ? metric->name : "";
}

int metric_answers_ask(struct metric_answers *answers, const char *path, const struct query *query,
                       const char *kind) {
    struct query of_kind = *query;
    if (kind != NULL)
        query_add(&of_kind, "collector", kind);
    int status = ask(path, "GET", of_kind.text, &answers->answer[answers->n]);
    if (status == HCCT_EXIT_OK)
        answers->name[answers->n++] = name_of(kind);
    return status;
}

/* What is allocated now has no windows. */
static bool has_part(const char *kind, bool part) {
    const struct metric *metric = metric_find(kind);
    if (!part || metric == NULL || !wire_of_heap(metric->collector))
        return true;
    complain("%s has no windows: it is not in the profile", kind);
    return false;
}

static bool is_new(const struct process_list *list, size_t i, const char *first) {
    const struct listed_process *process = &list->item[i];
    bool is = process->walks > 0 && strcmp(metric_word_of_kind(process->kind), first) != 0;
    for (size_t k = 0; k < i && is; k++)
        is = list->item[k].walks == 0 || strcmp(list->item[k].kind, process->kind) != 0;
    return is;
}

int metric_answers_ask_others(struct metric_answers *answers, const char *path,
                              const struct query *query, const struct query *list, bool part) {
    struct process_list processes;
    struct profile *first = metric_answers_first(answers);
    int status = first != NULL ? processes_ask_for(path, list, &processes) : HCCT_EXIT_FAILURE;
    if (status != HCCT_EXIT_OK) {
        profile_free(first);
        return status;
    }
    const char *word = metric_word_of_type(first->type);
    for (size_t i = 0; i < processes.n && status == HCCT_EXIT_OK; i++)
        if (answers->n < WIRE_METRICS_MAX && is_new(&processes, i, word) &&
            has_part(processes.item[i].kind, part))
            status = metric_answers_ask(answers, path, query, processes.item[i].kind);
    processes_free(&processes);
    profile_free(first);
    return status;
}

static void name_others(struct profile *profile, const struct metric_answers *answers) {
    char others[256] = "";
    for (unsigned i = 1, used = 0; i < answers->n && used < sizeof others; i++)
        used += (unsigned)snprintf(others + used, sizeof others - used, "%s%s", i > 1 ? ", " : "",
                                   answers->name[i]);
    profile->others = profile_string(profile, others);
}

struct profile *metric_answers_first(const struct metric_answers *answers) {
    const struct http_answer *first = &answers->answer[0];
    struct profile *profile = profile_file_parse(ANSWER, first->body, first->bytes);
    if (profile != NULL)
        name_others(profile, answers);
    return profile;
}

unsigned metric_answers_others(const struct metric_answers *answers,
                               struct profile *others[WIRE_METRICS_MAX]) {
    unsigned n = 0;
    for (unsigned i = 1; i < answers->n; i++) {
        const struct http_answer *answer = &answers->answer[i];
        others[n] = profile_file_parse(ANSWER, answer->body, answer->bytes);
        n += others[n] != NULL;
    }
    return n;
}

bool metric_answers_join(const struct metric_answers *answers, FILE *file) {
    struct pprof_part parts[WIRE_METRICS_MAX];
    char error[512];
    for (unsigned i = 0; i < answers->n; i++)
        parts[i] = (struct pprof_part){answers->answer[i].body, answers->answer[i].bytes};
    if (pprof_join(file, parts, answers->n, error, sizeof error))
        return true;
    complain("the metrics can't be joined in one profile: %s", error);
    return false;
}

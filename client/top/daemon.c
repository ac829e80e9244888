/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * daemon.c - what is asked of hcctd.
 *
 * Profiles are asked for as .pb.gz: they are what is kept when somebody wants a copy of what is on
 * the screen, and one reader reads them all.
 */
#include "client/top/daemon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask.h"
#include "common/base/clock.h"
#include "common/render/format.h"
#include "common/wire/metric.h"

/* The first question about a large program waits until its symbols have been read. */
#define ANSWER_TIMEOUT_MS 120000

/* True: `answer` is a good one, and the caller's to free. Else response->outcome and its
 * sentence. */
static bool exchange(const char *socket, const char *target, struct http_answer *answer,
                     struct top_response *response) {
    enum http_result result = http_exchange(socket, "GET", target, ANSWER_TIMEOUT_MS, answer,
                                            response->sentence, sizeof response->sentence);
    if (result != HTTP_DONE) {
        response->outcome = result == HTTP_NO_DAEMON ? TOP_NO_DAEMON : TOP_FAILED;
        return false;
    }
    if (answer->status / 100 == 2)
        return true;
    response->outcome = answer->status == 404 ? TOP_NOT_FOUND : TOP_FAILED;
    response->window_refused = answer->status == 400;
    option_words_say(response->sentence, sizeof response->sentence, answer->body, option_words);
    if (response->sentence[0] == '\0')
        snprintf(response->sentence, sizeof response->sentence, "hcctd answered with status %u",
                 answer->status);
    free(answer->body);
    return false;
}

static void start_query(struct query *query, const char *path, const struct top_request *request) {
    query_start(query, path);
    if (request->pid != 0)
        query_add_unsigned(query, "pid", request->pid);
    if (request->exe[0] != '\0')
        query_add(query, "exe", request->exe);
    if (request->what == TOP_REQUEST_CONTEXTS && request->kind[0] != '\0')
        query_add_metric(query, metric_word_of_kind(request->kind));
}

static bool unreadable(struct top_response *response, const char *what) {
    response->outcome = TOP_FAILED;
    snprintf(response->sentence, sizeof response->sentence,
             "hcctd's answer can't be read (%.300s): hcct and hcctd may be of different versions",
             what);
    return false;
}

static void add_range(struct query *query, const struct top_range *range) {
    char text[40];
    snprintf(text, sizeof text, "%.3f", range->since);
    query_add(query, "since", text);
    snprintf(text, sizeof text, "%.3f", range->until);
    query_add(query, "until", text);
}

/* An hcctd that knows no time line has none. */
static void ask_strip(const char *socket, const struct top_request *request,
                      struct top_response *response) {
    struct http_answer answer;
    struct query query;
    char unused[512];
    start_query(&query, "/v1/timeline", request);
    if (request->columns == 0 || http_exchange(socket, "GET", query.text, ANSWER_TIMEOUT_MS,
                                               &answer, unused, sizeof unused) != HTTP_DONE)
        return;
    if (answer.status == 200)
        top_strip_parse(answer.body, answer.bytes, request->columns, &response->strip);
    free(answer.body);
}

static bool ask_profile(const char *socket, const struct top_request *request, int span,
                        struct profile **profile, struct top_response *response) {
    struct http_answer answer;
    struct query query;
    char error[256];
    start_query(&query, "/v1/hot", request);
    query_add(&query, "format", "pprof");
    query_add_fraction(&query, "phi", request->phi > 0 ? request->phi : TOP_PHI_DEFAULT);
    if (span == TOP_RECENT && request->range.until > 0)
        add_range(&query, &request->range);
    else if (span == TOP_RECENT)
        query_add(&query, "window", request->window);
    if (!exchange(socket, query.text, &answer, response))
        return false;
    *profile = read_pprof(answer.body, answer.bytes, error, sizeof error);
    response->copy[span] = (struct top_copy){answer.body, answer.bytes};
    return *profile != NULL || unreadable(response, error);
}

/* Sees which kinds there are, of the processes that are asked for, and takes one. */
static void choose_kind(const char *socket, struct top_response *response) {
    struct top_request *request = &response->request, any = *request;
    struct process_list list;
    struct http_answer answer;
    struct query query;
    char unused[512];
    any.kind[0] = '\0';
    start_query(&query, "/v1/processes", &any);
    if (http_exchange(socket, "GET", query.text, ANSWER_TIMEOUT_MS, &answer, unused,
                      sizeof unused) != HTTP_DONE)
        return;
    if (answer.status == 200 && processes_parse(answer.body, answer.bytes, &list)) {
        top_kinds_of(&response->kinds, &list);
        processes_free(&list);
    }
    free(answer.body);
    if (response->kinds.n > 0 &&
        top_kinds_find(&response->kinds, request->kind) == response->kinds.n)
        strcpy(request->kind, response->kinds.name[0]);
}

static void ask_contexts(const char *socket, struct top_response *response) {
    const struct top_request *request = &response->request;
    struct profile *total = NULL, *recent = NULL;
    if (request->choose)
        choose_kind(socket, response);
    if (!ask_profile(socket, request, TOP_TOTAL, &total, response)) {
        response->window_refused = false;
        return;
    }
    ask_strip(socket, request, response);
    bool recent_asked = request->window != NULL || request->range.until > 0;
    if (!recent_asked || ask_profile(socket, request, TOP_RECENT, &recent, response) ||
        response->window_refused) {
        response->outcome = TOP_ANSWERED;
        response->model = top_model_make(total, recent, request->by, &request->steps, request->n);
    }
    profile_free(total);
    profile_free(recent);
}

static void ask_list(const char *socket, const struct top_request *request,
                     struct top_response *response) {
    struct http_answer answer;
    struct query query;
    bool threads = request->what == TOP_REQUEST_THREADS;
    start_query(&query, "/v1/threads", request);
    if (!exchange(socket, threads ? query.text : "/v1/processes", &answer, response))
        return;
    if (threads ? !top_threads_parse(answer.body, answer.bytes, clock_now(), &response->threads)
                : !processes_parse(answer.body, answer.bytes, &response->processes))
        unreadable(response, "it is not the JSON that was asked for");
    free(answer.body);
}

static void answer(const struct top_source *source, const struct top_request *request,
                   struct top_response *response) {
    const char *socket = ((const struct top_daemon *)source)->socket;
    if (request->what == TOP_REQUEST_CONTEXTS)
        ask_contexts(socket, response);
    else
        ask_list(socket, request, response);
}

void top_daemon_make(struct top_daemon *daemon, const char *socket) {
    *daemon = (struct top_daemon){.source = {"hcctd", answer}, .socket = socket};
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * client.c - one thread, one request at a time.
 *
 * Profiles are asked for as .pb.gz: they are what is kept when somebody wants a copy of what is on
 * the screen, and one reader reads them all.
 */
#include "client/top/client.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "client/ask.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/render/format.h"
#include "common/wire/metric.h"

#define PHI_DEFAULT 1e-4 /* a screen has no room for less, and is drawn anew all the time */

/* The first question about a large program waits until its symbols have been read. */
#define ANSWER_TIMEOUT_MS 120000

/* ---- one request ---- */

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
    query_add_fraction(&query, "phi", request->phi > 0 ? request->phi : PHI_DEFAULT);
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

void top_client_once(const char *socket, const struct top_request *request,
                     struct top_response *response) {
    *response = (struct top_response){.request = *request, .outcome = TOP_ANSWERED};
    if (request->what == TOP_REQUEST_CONTEXTS)
        ask_contexts(socket, response);
    else
        ask_list(socket, request, response);
}

void top_copies_free(struct top_copy copy[static TOP_SPANS]) {
    for (int span = 0; span < TOP_SPANS; span++) {
        free(copy[span].data);
        copy[span] = (struct top_copy){0};
    }
}

void top_response_clear(struct top_response *response) {
    top_model_free(response->model);
    top_threads_free(&response->threads);
    processes_free(&response->processes);
    top_copies_free(response->copy);
    *response = (struct top_response){0};
}

/* ---- the thread ---- */

struct top_client {
    char socket[PATHS_SOCKET_MAX];
    int fd; /* eventfd */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* request or stop */
    struct top_request request;
    bool fresh; /* request has not been sent yet */
    bool stop;
    bool done;                     /* whoever of both comes last frees all */
    uint64_t asked_ns;             /* when the question under way was asked; 0: there is none */
    struct top_response *response; /* to be taken */
};

static void discard(struct top_response *response) {
    if (response == NULL)
        return;
    top_response_clear(response);
    free(response);
}

static void free_ask(struct top_client *client) {
    discard(client->response);
    close(client->fd);
    pthread_cond_destroy(&client->changed);
    pthread_mutex_destroy(&client->lock);
    free(client);
}

/* Waits, with the lock, until it is time to ask. False: to stop. */
static bool wait_for_turn(struct top_client *client, uint64_t last_ns) {
    while (!client->stop && !client->fresh) {
        uint64_t next = last_ns + (uint64_t)(client->request.delay * 1e9);
        struct timespec until = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)};
        if (client->request.paused)
            pthread_cond_wait(&client->changed, &client->lock);
        else if (pthread_cond_timedwait(&client->changed, &client->lock, &until) == ETIMEDOUT)
            break;
    }
    return !client->stop;
}

static void post(struct top_client *client, struct top_response *response) {
    uint64_t one = 1;
    discard(client->response);
    client->response = response;
    if (write(client->fd, &one, sizeof one) < 0) {
        /* the counter is full: whoever waits has been woken */
    }
}

static void *keep_asking(void *arg) {
    struct top_client *client = arg;
    uint64_t last_ns = 0;
    pthread_mutex_lock(&client->lock);
    while (wait_for_turn(client, last_ns)) {
        struct top_request request = client->request;
        struct top_response *response = memory_new(1, sizeof *response, "an answer");
        client->fresh = false;
        client->asked_ns = last_ns = clock_now();
        pthread_mutex_unlock(&client->lock);
        top_client_once(client->socket, &request, response);
        pthread_mutex_lock(&client->lock);
        client->asked_ns = 0;
        post(client, response);
    }
    bool last = client->done;
    client->done = true;
    pthread_mutex_unlock(&client->lock);
    if (last)
        free_ask(client);
    return NULL;
}

/* Signals are for the thread that has the terminal. */
static bool start_thread(struct top_client *client) {
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, &attributes, keep_asking, client);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    errno = failed;
    return failed == 0;
}

struct top_client *top_client_start(const char *socket) {
    struct top_client *client = memory_new(1, sizeof *client, "questions");
    pthread_condattr_t monotonic;
    snprintf(client->socket, sizeof client->socket, "%s", socket);
    pthread_mutex_init(&client->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&client->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    client->request.paused = true;
    client->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (client->fd >= 0 && start_thread(client))
        return client;
    int why = errno;
    free_ask(client);
    errno = why;
    return NULL;
}

void top_client_request(struct top_client *client, const struct top_request *request, bool now) {
    pthread_mutex_lock(&client->lock);
    client->request = *request;
    client->fresh = now;
    pthread_cond_signal(&client->changed);
    pthread_mutex_unlock(&client->lock);
}

int top_client_fd(const struct top_client *client) {
    return client->fd;
}

struct top_response *top_client_take(struct top_client *client) {
    uint64_t count;
    if (read(client->fd, &count, sizeof count) < 0)
        return NULL;
    pthread_mutex_lock(&client->lock);
    struct top_response *response = client->response;
    client->response = NULL;
    pthread_mutex_unlock(&client->lock);
    return response;
}

uint64_t top_client_waiting_ns(struct top_client *client) {
    pthread_mutex_lock(&client->lock);
    uint64_t since = client->asked_ns;
    pthread_mutex_unlock(&client->lock);
    return since > 0 ? clock_now() - since : 0;
}

void top_client_stop(struct top_client *client) {
    pthread_mutex_lock(&client->lock);
    client->stop = true;
    pthread_cond_signal(&client->changed);
    bool last = client->done;
    client->done = true;
    pthread_mutex_unlock(&client->lock);
    if (last)
        free_ask(client);
}

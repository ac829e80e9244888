/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * collect.c - one question for each kind of weight that is counted.
 */
#include "client/remote/collect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask.h"
#include "client/json_in.h"
#include "common/base/options.h"
#include "common/profile/process_fields.h"
#include "common/profile/since.h"
#include "common/render/format.h"

#define ANSWER_TIMEOUT_MS 120000

struct daemon {
    uint64_t instance;
    bool restored;
    bool counts[SPOOL_COLLECTORS];
};

/* HCCT_EXIT_OK: the answer is the caller's to free. 404: there is nothing, with an empty answer. */
static int exchange(const char *socket, const char *target, struct http_answer *answer, char *error,
                    size_t error_bytes) {
    enum http_result result =
        http_exchange(socket, "GET", target, ANSWER_TIMEOUT_MS, answer, error, error_bytes);
    if (result != HTTP_DONE)
        return result == HTTP_NO_DAEMON ? HCCT_EXIT_NO_DAEMON : HCCT_EXIT_FAILURE;
    if (answer->status == 200)
        return HCCT_EXIT_OK;
    snprintf(error, error_bytes, "hcctd answers with status %u: %.*s", answer->status,
             (int)strcspn(answer->body, "\n"), answer->body);
    free(answer->body);
    answer->body = NULL;
    return answer->status == 404 ? HCCT_EXIT_NO_DATA : HCCT_EXIT_FAILURE;
}

static void note_process(struct daemon *daemon, const struct json_object *process) {
    for (int i = 0; i < SPOOL_COLLECTORS; i++)
        daemon->counts[i] |= strcmp(json_in_text(process, "kind"), spool_collectors[i]) == 0;
}

static int ask_daemon(const char *socket, struct daemon *daemon, char *error, size_t error_bytes) {
    struct http_answer answer;
    struct json_object *root, *about = NULL, *list, *restored = NULL;
    int status = exchange(socket, "/v1/processes", &answer, error, error_bytes);
    *daemon = (struct daemon){0};
    if (status != HCCT_EXIT_OK)
        return status;
    root = json_in(answer.body, answer.bytes);
    free(answer.body);
    json_object_object_get_ex(root, "daemon", &about);
    json_object_object_get_ex(about, "restored", &restored);
    daemon->instance = json_in_number(about, "instance");
    daemon->restored = json_object_get_boolean(restored);
    list = json_in_array(root, "processes");
    for (size_t i = 0; list != NULL && i < json_object_array_length(list); i++)
        note_process(daemon, json_object_array_get_idx(list, i));
    json_object_put(root);
    if (daemon->instance != 0)
        return HCCT_EXIT_OK;
    snprintf(error, error_bytes, "what listens at %s is no hcctd of this version", socket);
    return HCCT_EXIT_FAILURE;
}

static int ask_profile(const char *socket, int collector, struct profile **profile, char *error,
                       size_t error_bytes) {
    struct http_answer answer;
    struct query query;
    int status;
    query_start(&query, "/v1/hot");
    query_add(&query, "format", "pprof");
    query_add(&query, "symbols", "complete"); /* contexts are known by them elsewhere */
    query_add(&query, "collector", spool_collectors[collector]);
    status = exchange(socket, query.text, &answer, error, error_bytes);
    if (status != HCCT_EXIT_OK)
        return status;
    *profile = format_read(answer.body, answer.bytes, error, error_bytes);
    free(answer.body);
    return *profile != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

/* Does hcctd still have what the last push was made of? Else another one has begun anew. */
static bool goes_on(const struct spool *spool, const struct daemon *daemon, int collector) {
    const struct spool_base *base = &spool->base[collector];
    return base->number != 0 && (base->instance == daemon->instance || daemon->restored);
}

static bool has_news(const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (push_has_news(profile, i))
            return true;
    return false;
}

/* What is not sent, as it has no sample yet, comes with what is: `now` is as if it were to come. */
static void leave_unsent(struct profile *now, const struct profile *news) {
    if (now->n_processes != news->n_processes) /* some are one process in the difference */
        return;
    for (uint32_t i = 1; i < news->n_processes; i++)
        if (!push_has_news(news, i))
            process_fields_subtract(&now->processes[i], &news->processes[i]);
}

/* Whoever has no idea what was sent before sends nothing now: rather too little than twice. */
static int take_unsent(struct spool *spool, const struct daemon *daemon, int collector,
                       const struct profile *now, char *error, size_t error_bytes) {
    if (!spool_take(spool, collector, now, NULL, daemon->instance, error, error_bytes))
        return HCCT_EXIT_FAILURE;
    complain("what came since the last push is lost: how much was sent before can't be read "
             "(%s)",
             spool_collectors[collector]);
    return HCCT_EXIT_OK;
}

static int take(struct spool *spool, const struct daemon *daemon, int collector,
                struct profile *now, struct collected *sum, char *error, size_t error_bytes) {
    struct profile *base = NULL, *news;
    uint64_t excess = 0;
    int status = HCCT_EXIT_FAILURE;
    if (goes_on(spool, daemon, collector) && (base = spool_base(spool, collector)) == NULL)
        return take_unsent(spool, daemon, collector, now, error, error_bytes);
    news = since_make(base, now, &excess, error, error_bytes);
    profile_free(base);
    if (news == NULL)
        return HCCT_EXIT_FAILURE;
    bool any = has_news(news);
    leave_unsent(now, news);
    if (spool_take(spool, collector, now, any ? news : NULL, daemon->instance, error,
                   error_bytes)) {
        sum->pushes += any;
        sum->weight += profile_total(news);
        sum->excess += excess;
        status = HCCT_EXIT_OK;
    }
    profile_free(news);
    return status;
}

/* A new hcctd may lack what its last checkpoint did not have, or all. */
static void note_restart(const struct spool *spool, const struct daemon *daemon, int collector,
                         char *note, size_t bytes) {
    if (spool->base[collector].number == 0 || spool->base[collector].instance == daemon->instance)
        return;
    snprintf(note, bytes,
             daemon->restored
                 ? "hcctd was restarted: where it was killed, what came after its last checkpoint "
                   "is lost"
                 : "hcctd was restarted without its state: what came after the last push is lost");
}

int collect(struct spool *spool, const char *socket, struct collected *sum, char *error,
            size_t error_bytes) {
    struct daemon daemon;
    char note[512] = "";
    int status = ask_daemon(socket, &daemon, error, error_bytes);
    if (status != HCCT_EXIT_OK)
        return status;
    if (spool_is_full(spool)) {
        snprintf(error, error_bytes,
                 "%s is full: what comes now is kept in hcctd, and sent as one push later",
                 spool->path);
        return HCCT_EXIT_NO_DATA;
    }
    for (int i = 0; i < SPOOL_COLLECTORS; i++) {
        struct profile *now = NULL;
        if (!daemon.counts[i])
            continue;
        note_restart(spool, &daemon, i, note, sizeof note);
        status = ask_profile(socket, i, &now, error, error_bytes);
        if (status == HCCT_EXIT_OK)
            status = take(spool, &daemon, i, now, sum, error, error_bytes);
        profile_free(now);
        if (status != HCCT_EXIT_OK && status != HCCT_EXIT_NO_DATA)
            return status;
    }
    snprintf(error, error_bytes, "%s", note);
    return HCCT_EXIT_OK;
}

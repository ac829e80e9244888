/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_options.c - words to a choice and a server.
 */
#include "client/remote/fleet_options.h"

#include <stdlib.h>
#include <string.h>

#include "client/remote/span.h"
#include "common/wire/metric.h"
#include "common/wire/tags.h"

#define TIMEOUT_S  300
#define ANSWER_MAX (1u << 30)

static bool resolve_span(const char *option, const char *text, uint64_t *seconds) {
    if (text == NULL || span_parse(text, seconds))
        return true;
    complain("%s '%s': it must be a time such as 30m, 24h or 7d", option, text);
    return false;
}

static bool check_tag(const char *tag) {
    if (tag == NULL || (tags_check(tag) && strchr(tag, ',') == NULL))
        return true;
    complain("--tag '%s': it must be one of HCCT_TAGS, such as build=417", tag);
    return false;
}

static bool check_metric(const char *word) {
    const struct metric *metric = word != NULL ? metric_find(word) : NULL;
    if (metric == NULL || !wire_of_heap(metric->collector))
        return true;
    complain("--metric %s: what is allocated at a moment is no sum, and is not pushed: hcct hot "
             "on its host has it",
             word);
    return false;
}

void fleet_resolve_by(struct fleet_options *options) {
    const char *word = options->view.by;
    if (word != NULL && strcmp(word, "host") == 0)
        options->by = FLEET_BY_HOST;
    else if (word != NULL && strcmp(word, "service") == 0)
        options->by = FLEET_BY_SERVICE;
    if (options->by != FLEET_BY_NOTHING)
        options->view.by = profile_by_word(PROFILE_BY_LABEL);
}

bool fleet_resolve_choice(const struct fleet_options *options, struct fleet_choice *choice) {
    *choice = (struct fleet_choice){
        .by = options->by,
        .service = options->service,
        .host = options->host,
        .tag = options->tag,
        .metric = options->metric != NULL ? metric_word_of_type(options->metric) : NULL,
        .since_s = 3600};
    if (!check_tag(choice->tag) || !check_metric(choice->metric) ||
        !resolve_span("--since", options->since, &choice->since_s) ||
        !resolve_span("--until", options->until, &choice->until_s))
        return false;
    if (choice->until_s < choice->since_s)
        return true;
    complain("--until must be nearer to now than --since");
    return false;
}

bool fleet_open_server(const struct fleet_options *options, struct fleet_server *server) {
    const char *url = options->url != NULL ? options->url : getenv("HCCT_FLEET_URL");
    if (url == NULL) {
        complain("say where ClickHouse is: --url http://clickhouse:8123, or HCCT_FLEET_URL");
        return false;
    }
    if (!transfer_is_url(url) || !clickhouse_check_name(options->database))
        return false;
    static char error[FLEET_ERROR_ROOM]; /* one server in a run */
    *server = (struct fleet_server){.url = url, .database = options->database, .error = error};
    server->transfer = transfer_new(&(struct transfer_options){.credentials = options->credentials,
                                                               .ca = options->ca,
                                                               .timeout_s = TIMEOUT_S,
                                                               .answer_max = ANSWER_MAX});
    if (server->transfer == NULL)
        return false;
    clickhouse_be_exact(server->transfer, 0);
    return true;
}

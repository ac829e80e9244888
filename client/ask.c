/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ask.c - a question by http_client.h, with a sentence and an exit status where it fails.
 */
#include "client/ask.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/options.h"

/* The first question about a large program waits until its symbols have been read. */
#define ANSWER_TIMEOUT_MS 120000

int ask_socket(char path[PATHS_SOCKET_MAX], const char *override) {
    size_t length = paths_socket(path, PATHS_SOCKET_MAX, override);
    if (length < PATHS_SOCKET_MAX)
        return HCCT_EXIT_OK;
    complain("the socket path has %zu bytes, more than the %d that a socket can have: name a "
             "shorter one with --socket or HCCT_SOCKET",
             length, PATHS_SOCKET_MAX - 1);
    return HCCT_EXIT_USAGE;
}

static int exit_status(unsigned http_status) {
    switch (http_status) {
    case 400:
        return HCCT_EXIT_USAGE;
    case 404:
        return HCCT_EXIT_NO_DATA;
    default:
        return HCCT_EXIT_FAILURE;
    }
}

int ask_about(const char *path, const char *method, const char *target,
              const struct option_word *words, struct http_answer *answer) {
    char line[512];
    enum http_result result =
        http_exchange(path, method, target, ANSWER_TIMEOUT_MS, answer, line, sizeof line);
    if (result != HTTP_DONE) {
        complain("%s", line);
        return result == HTTP_NO_DAEMON ? HCCT_EXIT_NO_DAEMON : HCCT_EXIT_FAILURE;
    }
    if (answer->status / 100 == 2)
        return HCCT_EXIT_OK;
    int status = exit_status(answer->status);
    option_words_say(line, sizeof line, answer->body, words);
    if (line[0] != '\0')
        complain("%s", line);
    else
        complain("hcctd answered with status %u", answer->status);
    free(answer->body);
    *answer = (struct http_answer){0};
    return status;
}

int ask(const char *path, const char *method, const char *target, struct http_answer *answer) {
    return ask_about(path, method, target, option_words, answer);
}

void query_start(struct query *query, const char *path) {
    query->used = (size_t)snprintf(query->text, sizeof query->text, "%s?", path);
}

/* Half an expression would get an answer to another question. */
static void put(struct query *query, char c) {
    if (query->used + 1 >= sizeof query->text) {
        complain("what the options ask for is longer than the %zu bytes of a question",
                 sizeof query->text - 1);
        exit(HCCT_EXIT_USAGE);
    }
    query->text[query->used++] = c;
    query->text[query->used] = '\0';
}

static void put_escaped(struct query *query, const char *text) {
    static const char hex[] = "0123456789ABCDEF";
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (isalnum(c) || strchr("-._~/", c) != NULL) {
            put(query, (char)c);
        } else {
            put(query, '%');
            put(query, hex[c >> 4]);
            put(query, hex[c & 15]);
        }
    }
}

void query_add(struct query *query, const char *name, const char *value) {
    if (query->text[query->used - 1] != '?')
        put(query, '&');
    put_escaped(query, name);
    put(query, '=');
    put_escaped(query, value);
}

void query_add_metric(struct query *query, const char *metric) {
    query_add(query, "metric", metric);
}

void query_add_unsigned(struct query *query, const char *name, unsigned value) {
    char text[16];
    snprintf(text, sizeof text, "%u", value);
    query_add(query, name, text);
}

void query_add_fraction(struct query *query, const char *name, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.9g", value);
    query_add(query, name, text);
}

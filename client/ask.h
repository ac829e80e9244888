/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ask.h - questions to a running hcctd, with the sentences and exit statuses that people get.
 */
#ifndef HCCT_ASK_H
#define HCCT_ASK_H

#include <stddef.h>

#include "client/http_client.h"
#include "client/option_words.h"
#include "common/base/options.h"
#include "common/wire/paths.h"

/* An entry of an option table, for a struct TYPE with a MEMBER of type const char *. */
#define SOCKET_SPEC(type, member)                                                                  \
    {                                                                                              \
        "socket", 0, OPTION_STRING, "PATH", offsetof(struct type, member), 0, 0,                   \
            "where hcctd listens ($HCCT_SOCKET)"                                                   \
    }

/* Where the daemon is: `override` (--socket, or NULL), else as paths.h says. A path that is too
 * long is complained about; returns an exit status. */
int ask_socket(char path[PATHS_SOCKET_MAX], const char *override);

/* One exchange with the daemon at `path`. HCCT_EXIT_OK: the answer's status is 2xx, the caller
 * frees its body. Else the reason stands on stderr, and the answer is empty. */
int ask(const char *path, const char *method, const char *target, struct http_answer *answer);

/* The same, where a refusal of hcctd's is about what was typed as `words` (option_words.h) says. */
int ask_about(const char *path, const char *method, const char *target,
              const struct option_word *words, struct http_answer *answer);

/* The query of a target, "/v1/hot?pid=1&by=line". */
struct query {
    char text[8192];
    size_t used;
};

void query_start(struct query *query, const char *path);
/* Adds name=value; both become part of the text, what is special in a URL is escaped. Ends the
 * program, as options_parse() does, where there is no room. */
void query_add(struct query *query, const char *name, const char *value);
/* Only processes that count this: a metric as users name it. */
void query_add_metric(struct query *query, const char *metric);
void query_add_unsigned(struct query *query, const char *name, unsigned value);
void query_add_fraction(struct query *query, const char *name, double value);

#endif

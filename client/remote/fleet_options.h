/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_options.h - the options that all questions to the fleet have: which pushes, which server.
 */
#ifndef HCCT_FLEET_OPTIONS_H
#define HCCT_FLEET_OPTIONS_H

#include <stdbool.h>

#include "client/diff_limit.h"
#include "client/remote/clickhouse.h"
#include "client/remote/fleet_query.h"
#include "client/view.h"

/* As people gave them; each command has those that it names. */
struct fleet_options {
    const char *url, *database, *credentials, *ca;
    const char *since, *until, *service, *host, *tag, *metric;
    bool absolute, shares, all; /* of diff */
    struct diff_limit limit;    /* the same */
    struct view_options view;
    enum fleet_by by; /* --by host or service, where view.by is by label then */
};

#define FLEET_OPTIONS_BEGIN                                                                        \
    { .database = CLICKHOUSE_DATABASE, .view = VIEW_NOT_GIVEN }

#define FLEET_AT(member) offsetof(struct fleet_options, member)

#define FLEET_CHOICE_SPECS                                                                         \
    {"since",                                                                                      \
     0,                                                                                            \
     OPTION_STRING,                                                                                \
     "TIME",                                                                                       \
     FLEET_AT(since),                                                                              \
     0,                                                                                            \
     0,                                                                                            \
     "what was pushed in the last 1h, 7d (1h)"},                                                   \
        {"until",                                                                                  \
         0,                                                                                        \
         OPTION_STRING,                                                                            \
         "TIME",                                                                                   \
         FLEET_AT(until),                                                                          \
         0,                                                                                        \
         0,                                                                                        \
         "... but before the last 1h, 7d"},                                                        \
        {"service", 0, OPTION_STRING, "NAME", FLEET_AT(service), 0, 0, "only of this service"},    \
        {"host", 0, OPTION_STRING, "NAME", FLEET_AT(host), 0, 0, "only of this host"},             \
        {"tag",                                                                                    \
         0,                                                                                        \
         OPTION_STRING,                                                                            \
         "KEY=VALUE",                                                                              \
         FLEET_AT(tag),                                                                            \
         0,                                                                                        \
         0,                                                                                        \
         "only of processes with this tag (HCCT_TAGS)"},                                           \
    {                                                                                              \
        "metric", 0, OPTION_STRING, "M", FLEET_AT(metric), 0, 0,                                   \
            "cpu, wait, alloc, ... as list has them"                                               \
    }

#define FLEET_SERVER_SPECS                                                                         \
    {"url", 0, OPTION_STRING, "URL", FLEET_AT(url), 0, 0, "of ClickHouse ($HCCT_FLEET_URL)"},      \
        {"database", 0, OPTION_STRING, "NAME", FLEET_AT(database), 0, 0, "in which it is (hcct)"}, \
        {"credentials",                                                                            \
         0,                                                                                        \
         OPTION_STRING,                                                                            \
         "FILE",                                                                                   \
         FLEET_AT(credentials),                                                                    \
         0,                                                                                        \
         0,                                                                                        \
         "has USER:PASSWORD, or Bearer TOKEN ($HCCT_PUSH_CREDENTIALS)"},                           \
        {"ca",                                                                                     \
         0,                                                                                        \
         OPTION_STRING,                                                                            \
         "FILE",                                                                                   \
         FLEET_AT(ca),                                                                             \
         0,                                                                                        \
         0,                                                                                        \
         "certificates that are accepted instead of the system's"},                                \
        OPTIONS_END

#define FLEET_BY_HELP                                                                              \
    "group by function, site, line, module, label, or by host or service (function)"

/* Is it by host or service? Before view_resolve(). */
void fleet_resolve_by(struct fleet_options *options);

/* Which pushes the options name; the span is not set. False: they can't be meant, complained. */
bool fleet_resolve_choice(const struct fleet_options *options, struct fleet_choice *choice);

/* The server; transfer_free(server->transfer) gives it back. False: complained. */
bool fleet_open_server(const struct fleet_options *options, struct fleet_server *server);

#endif

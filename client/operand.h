/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * operand.h - a profile that a command line names: a file, or what a running hcctd has.
 */
#ifndef HCCT_OPERAND_H
#define HCCT_OPERAND_H

#include "client/ask.h"
#include "client/range.h"
#include "common/base/options.h"
#include "common/profile/profile.h"

struct operand_options {
    const char *socket, *process, *exe, *metric; /* of which processes "@..." is; NULL: not given */
};

/* Entries of an option table, for a struct TYPE with a member MEMBER of struct operand_options. */
#define OPERAND_SPECS(type, member)                                                                \
    {"process",                                                                                    \
     'p',                                                                                          \
     OPTION_STRING,                                                                                \
     "PID|NAME",                                                                                   \
     offsetof(struct type, member.process),                                                        \
     0,                                                                                            \
     0,                                                                                            \
     "of @now: only this process"},                                                                \
        {"exe",                                                                                    \
         0,                                                                                        \
         OPTION_STRING,                                                                            \
         "PATH",                                                                                   \
         offsetof(struct type, member.exe),                                                        \
         0,                                                                                        \
         0,                                                                                        \
         "of @now: only processes of this executable"},                                            \
        {"metric",                                                                                 \
         0,                                                                                        \
         OPTION_STRING,                                                                            \
         "WHAT",                                                                                   \
         offsetof(struct type, member.metric),                                                     \
         0,                                                                                        \
         0,                                                                                        \
         "of several metrics this one: cpu, wall, alloc, ... (a file's first)"},                   \
        SOCKET_SPEC(type, member.socket)

/* Reads FILE, "-" for standard input, "@now" for what hcctd has, "@60s" for what it has of the last
 * 60 s (any span that /v1/hot takes for a window), "@03:10..03:15" for what it has from the one
 * moment to the other. *profile is the caller's to free. Returns an
 * exit status; complained unless HCCT_EXIT_OK, and *profile is NULL. */
int operand_read(const char *word, const struct operand_options *options, struct profile **profile);

/* The same of what hcctd has of a range, or, with `rest`, of all that it keeps but that. */
int operand_read_range(const struct range_options *range, bool rest,
                       const struct operand_options *options, struct profile **profile);

#endif

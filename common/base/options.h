/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * options.h - command-line options as a table, from which parsing and --help both come.
 *
 * For programs (daemon, client), not for the agent. One thread, before anything else starts.
 */
#ifndef HCCT_OPTIONS_H
#define HCCT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/compiler.h"

/* Exit statuses of all our programs. */
enum {
    HCCT_EXIT_OK = 0,
    HCCT_EXIT_FAILURE = 1,
    HCCT_EXIT_USAGE = 2,
    HCCT_EXIT_NO_DAEMON = 3,
    HCCT_EXIT_NO_DATA = 4, /* no such process, or nothing to show */
    HCCT_EXIT_ABOVE = 5,   /* a weight rose by more than is allowed (hcct diff --fail-above) */
};

enum option_kind {
    OPTION_FLAG,     /* bool */
    OPTION_STRING,   /* const char * */
    OPTION_UNSIGNED, /* unsigned, in [min, max] */
    OPTION_FRACTION, /* double, strictly between min and max */
    OPTION_SHARE,    /* double, from min up to, but not, max */
    OPTION_SIZE,     /* uint64_t bytes: 64M, 2G, in [min, max] */
};

struct option_spec {
    const char *name; /* long name without dashes; NULL ends a table */
    char letter;      /* 0: none */
    enum option_kind kind;
    const char *arg; /* name of the argument in the help; NULL for a flag */
    size_t offset;   /* of the member in the struct that options_parse fills */
    double min, max;
    const char *help; /* one line, its default included */
};

struct option_command {
    const char *usage;    /* "hcct hot [options]" */
    const char *about;    /* what it does: a sentence or two */
    const char *examples; /* lines for the end of --help, or NULL */
    const struct option_spec *options;
    bool takes_command; /* the first word that is no option begins a command with its own options;
                         * otherwise options may also stand behind the other words */
};

/* A table has at most this many options, and ends with OPTIONS_END. */
#define OPTIONS_MAX 64
#define OPTIONS_END                                                                                \
    { NULL, 0, OPTION_FLAG, NULL, 0, 0, 0, NULL }

/* Fills `into` from argv (argv[0] is skipped); *rest is the index of the first word that is no
 * option (argv is put in order so that all such words come last), or of what follows "--". Members
 * whose option is not given stay as they are. Strings point into argv. --help prints to stdout and
 * exits with 0; --version likewise. A bad option is one sentence on stderr and exit with
 * HCCT_EXIT_USAGE. */
void options_parse(const struct option_command *command, int argc, char **argv, void *into,
                   int *rest);

/* Ends the program with HCCT_EXIT_USAGE when words are left over at argv[rest]. */
void options_no_more(const struct option_command *command, int argc, char **argv, int rest);

/* Prints "PROGRAM: sentence" to stderr in one write; main() sets options_program before all. */
extern const char *options_program;
void complain(const char *format, ...) hcct_printf(1, 2);

#endif

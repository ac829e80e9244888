/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * runtime_names.h - has a language's runtime write the names of the code that it generates, into
 * /tmp/perf-PID.map, where COMMAND's program is such a runtime.
 *
 * A runtime gets an option only where its own file shows that it knows it. It gets none where its
 * user says something of it already, where the option could make it fail, or where the file can't
 * be written: a program without names is better than one that does not run.
 */
#ifndef HCCT_RUNTIME_NAMES_H
#define HCCT_RUNTIME_NAMES_H

#include <stdbool.h>

#define RUNTIME_OPTIONS_MAX 3

struct runtime;

struct runtime_names {
    const struct runtime *runtime; /* NULL: no runtime, or nothing to add */
    bool adds[RUNTIME_OPTIONS_MAX];
    char **argv; /* the command with them, where they are arguments; else NULL */
    char *value; /* of the runtime's variable, where they are in the environment */
    bool maps;   /* we, not its user, have it write perf maps ... */
    bool logs;   /* ... and node's logs */
};

/* What to add for this command, ended by NULL. */
void runtime_names_find(char *const *argv, struct runtime_names *names);
/* One line about it; nothing where nothing is added. */
void runtime_names_say(const struct runtime_names *names);
void runtime_names_clear(struct runtime_names *names);

/* In the process that is to become the command: sets the variable, and returns the arguments to
 * execute. These are `argv` where nothing is added. */
char **runtime_names_enter(const struct runtime_names *names, char **argv);

#endif

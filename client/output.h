/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * output.h - a file that is there whole or not at all.
 *
 * It is written under a temporary name beside the final one and renamed when it is complete; a file
 * that had the name before is kept as NAME.old.
 */
#ifndef HCCT_OUTPUT_H
#define HCCT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

struct output {
    FILE *file; /* to write to */
    /* private */
    const char *pattern;
    const char *command; /* for %e; NULL: the pattern is a plain name */
    time_t time;         /* for %t */
    char *temporary;     /* NULL: written directly: stdout, a device, a pipe */
};

/* Opens NAME, "-" for stdout, or with `command` a pattern: %p pid, %e name of the command, %h host,
 * %t time in seconds, %% a percent sign. Strings are borrowed until the end. False: it can't be
 * written, and that was complained about. */
bool output_open(struct output *output, const char *pattern, const char *command);

/* Ends the file and gives it its name; `pid` is for %p. Returns the name (the caller frees it);
 * NULL: it could not be written, complained, and what was there before still is. */
char *output_commit(struct output *output, pid_t pid);

/* For a writer that failed: complains with errno, leaves what was there before. */
void output_fail(struct output *output);

/* Nothing stays behind. */
void output_discard(struct output *output);

/* Removes the temporary file. Any context, a signal handler too. */
void output_abandon(const struct output *output);

#endif

/*
 * settings.h - what the user can say to the agent, by environment variables.
 *
 *   HCCT_SOCKET   where the daemon listens                     see common/paths.h
 *   HCCT_RATE     walks per second of CPU time, 1 to 10000     100
 *   HCCT_SIGNAL   signal number to use                         first free one, SIGPROF first
 *   HCCT_FOLLOW   yes, no: profile child processes too         yes
 *   HCCT_ENABLE   0 switches the agent off                     1
 *   HCCT_WAIT     milliseconds that a starting program waits   0
 *                 for its unwind tables, 0 to 10000
 *   HCCT_VERBOSE  1: say on stderr what the agent does         0
 */
#ifndef HCCT_SETTINGS_H
#define HCCT_SETTINGS_H

#include <stdbool.h>

#include "common/paths.h"

struct agent_settings {
    char socket[PATHS_SOCKET_MAX]; /* empty: the path is too long to be one */
    unsigned rate;
    unsigned wait_ms;
    int signal; /* 0: choose */
    bool follow;
    bool enable;
    bool verbose;
};

/* Reads the environment; a bad value is named once on stderr, with what is used instead. Process
 * context. */
void settings_read(struct agent_settings *settings);

/* One line on stderr, "hcct: ..." in one write, when verbose or `always`. Any context but signal.
 */
void settings_say(const struct agent_settings *settings, bool always, const char *what,
                  const char *detail);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * private_daemon.h - an hcctd of our own, for as long as one command runs.
 */
#ifndef HCCT_PRIVATE_DAEMON_H
#define HCCT_PRIVATE_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/wire/paths.h"

struct private_daemon {
    pid_t pid; /* 0: not running */
    char directory[PATHS_SOCKET_MAX];
    char socket[PATHS_SOCKET_MAX];
    int listener;                /* that hcctd is given; 0: it opens the socket itself */
    char seen[PATHS_SOCKET_MAX]; /* its path for the process that is to reach it */
};

struct private_daemon_options {
    const char *program;   /* absolute path of hcctd */
    double phi, epsilon;   /* 0: its own default */
    const char *summary;   /* kind, NULL: its own default */
    uint64_t memory_limit; /* of one process's tree, bytes; 0: its own default */
    const char *trace;     /* file for the raw events, NULL: none */
    pid_t reached_by;      /* a process that may have other files than we; 0: none */
};

/* Starts it in a private directory and waits until it listens. False: complained, and nothing is
 * left behind. */
bool private_daemon_start(struct private_daemon *daemon,
                          const struct private_daemon_options *options);
/* That user's processes, and root's, can reach it: for root, who attaches to others'. */
void private_daemon_let_in(const struct private_daemon *daemon, uid_t user);

/* Ends it and removes its directory. Harmless when it was never started or has been stopped. */
void private_daemon_stop(struct private_daemon *daemon);

/* The same in a hurry: any context, a signal handler too. */
void private_daemon_abandon(const struct private_daemon *daemon);

#endif

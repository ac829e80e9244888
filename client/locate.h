/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * locate.h - where the agent and the daemon are: installed, moved with their prefix, or in a build
 * directory.
 */
#ifndef HCCT_LOCATE_H
#define HCCT_LOCATE_H

#include <limits.h>
#include <stdbool.h>

/* Each gives an absolute path. False: there is no such file, which was said on stderr. */
bool locate_agent(char path[PATH_MAX]);
bool locate_late_agent(char path[PATH_MAX]); /* the agent for processes that run already */
bool locate_blocks(char path[PATH_MAX]);     /* the library that stands before malloc */
bool locate_locks(char path[PATH_MAX]);      /* the library that stands before locks */
bool locate_daemon(char path[PATH_MAX]);
bool locate_remote(char path[PATH_MAX]); /* hcct-remote */

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * locate.h - where the agent and the daemon are: installed, moved with their prefix, or in a build
 * directory.
 */
#ifndef HCCT_LOCATE_H
#define HCCT_LOCATE_H

#include <limits.h>
#include <stdbool.h>

/* Absolute paths into `path`. False: it was not found, and that was complained about. */
/* Its sibling, for processes that run already. */
bool locate_late_agent(char path[PATH_MAX]);
bool locate_agent(char path[PATH_MAX]);
/* What stands before malloc, and before locks. */
bool locate_blocks(char path[PATH_MAX]);
bool locate_locks(char path[PATH_MAX]);
bool locate_daemon(char path[PATH_MAX]);
bool locate_remote(char path[PATH_MAX]); /* hcct-remote */

#endif

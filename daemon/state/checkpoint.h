/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * checkpoint.h - profiles that outlive the daemon: DIR/hcctd.state, written anew every so often.
 *
 * The file is replaced by a rename, so that a daemon that is killed at any moment leaves a whole
 * one behind, and at most one interval is lost. The next daemon reads it; when the agent of a
 * process that lived connects again, its profile goes on (ingest/resume.h). Windows (windows.h)
 * begin anew.
 */
#ifndef HCCT_CHECKPOINT_H
#define HCCT_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/tree/mcct.h"

/* Makes the directory where there is none, and takes possession of it. False: `error` says why it
 * can't be used. */
bool checkpoint_open(const char *directory, char *error, size_t room);

/* Puts the processes of the last checkpoint into the registry; a file that can't be used is left
 * out, and stderr says so. True: there was one. To be called before anybody is let in, after
 * checkpoint_open(). */
bool checkpoint_restore(const struct mcct_params *tree);

/* From now on writes a checkpoint each `seconds` (> 0). False: no thread. */
bool checkpoint_start(unsigned seconds);

/* Writes the last one, when checkpoint_start() was called. Nothing is credited any more. */
void checkpoint_stop(void);

#endif

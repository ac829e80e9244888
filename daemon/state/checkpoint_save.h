/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * checkpoint_save.h - all processes of the registry to a file.
 */
#ifndef HCCT_CHECKPOINT_SAVE_H
#define HCCT_CHECKPOINT_SAVE_H

#include <stdbool.h>

/* Writes the file whole; each process is as it was at one moment, and its lock held no longer than
 * its tree takes to be copied. Any thread, without locks. False: errno says why. */
bool checkpoint_save(const char *path);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * module_open.h - opens the file behind a mapping of another process.
 *
 * The process may live in a container, its files may be deleted or replaced, and what it says may
 * be a lie: only regular files are opened, and only a file that agrees with the mapping is taken.
 */
#ifndef HCCT_MODULE_OPEN_H
#define HCCT_MODULE_OPEN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/code/module.h"

/* A descriptor of the file, read-only and close-on-exec, or -1. `path` (of PATH_MAX bytes) gets the
 * file's name as the process sees it, also when it can't be opened. */
int module_open_mapping(const struct module_mapping *mapping, char *path);

/* A regular file by its path as the daemon sees it, or -1. */
int module_open_path(const char *path);

/* A copy in memory of the daemon's own vdso, or -1. */
int module_open_vdso(void);

#endif

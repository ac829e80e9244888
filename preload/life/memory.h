/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * memory.h - mappings of the agent that do not count for the application: not locked where it locks
 * all of its memory (mlockall), as most of them is never touched.
 */
#ifndef HCCT_MEMORY_H
#define HCCT_MEMORY_H

#include <stddef.h>

/* Later mappings are locked unless they are made by memory_map. Any context. */
void memory_locked_from_now(void);

/* As mmap, with `protection` other than none; NULL: there is no room. Any context. */
void *memory_map(size_t bytes, int protection, int flags, int fd);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_debug.h - generated code that a program registers for its debugger (GDB's JIT interface): a
 * list of ELF objects in its memory, which begins at __jit_debug_descriptor.
 *
 * The list is read out of the process's memory, with a debugger's rights, and without the process's
 * knowledge: it may be in the middle of a change, or hostile. What is read at once is bounded, and
 * a list that leads nowhere is given up until the next time. What is registered no more keeps its
 * name until other code takes its place, as samples of it may still come.
 *
 * Owned by a process and used under its lock.
 */
#ifndef HCCT_JIT_DEBUG_H
#define HCCT_JIT_DEBUG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/code/perf_map.h"

struct jit_debug;

/* Opens nothing yet. `pid` and `uid` as the daemon sees them; the process lives. NULL: no memory.
 */
struct jit_debug *jit_debug_new(pid_t pid, uid_t uid);
void jit_debug_free(struct jit_debug *debug); /* NULL is allowed */

/* A module (module.h) that the process has mapped, which may have such a list. */
void jit_debug_module(struct jit_debug *debug, uint32_t module, uint64_t bias);

/* Adds functions that have been registered since the last time; to be called often, as it costs
 * a few system calls where there is nothing new. `missed`: there is code without a name, so that
 * the whole list is read, now and then. */
void jit_debug_read(struct jit_debug *debug, struct perf_map *map, bool missed);

/* A list may be another one than at the last reading, and may be read. One system call for each. */
bool jit_debug_has_changed(const struct jit_debug *debug);

/* All that is registered is to be added anew. */
void jit_debug_forget(struct jit_debug *debug);

/* There is a list, and the process's memory may not be read. */
bool jit_debug_is_refused(const struct jit_debug *debug);

#endif

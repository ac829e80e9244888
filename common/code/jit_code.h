/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_code.h - what one process's generated code is called: its perf map and its jitdump
 * (jit_file.h), read as they grow, and what it registers for its debugger (jit_debug.h). They are
 * looked for when the first address is asked for.
 *
 * A Java process that has -XX:+DumpPerfMapAtExit writes its map as it ends. What its addresses are
 * called is known when this is freed, which is after that (jit_names.h).
 *
 * Owned by a process and used under its lock.
 */
#ifndef HCCT_JIT_CODE_H
#define HCCT_JIT_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jit_code;

/* Opens nothing yet. `pid` and `uid` as the daemon sees them. NULL: no memory. */
struct jit_code *jit_code_new(pid_t pid, uid_t uid);
void jit_code_free(struct jit_code *jit); /* NULL is allowed */

/* A module (module.h) that the process has mapped. */
void jit_code_module(struct jit_code *jit, uint32_t module, uint64_t bias);

/* The number (code/jit_names.h) of the name of the function at `address`. An address that these
 * do not know makes them be read again, every few milliseconds at most. */
uint32_t jit_code_name(struct jit_code *jit, uint64_t address);

/* Reads what has come to the files, about ten times a second however often it is called, and
 * nothing before the first jit_code_name. True: what that has said of addresses may be different
 * now. */
bool jit_code_poll(struct jit_code *jit);

/* What it registers for its debugger could not be read, as its memory may not be. */
bool jit_code_is_refused(const struct jit_code *jit);

#endif

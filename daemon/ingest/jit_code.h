/*
 * jit_code.h - what one process's generated code is called: its perf map, read as it grows.
 *
 * The file is /tmp/perf-PID.map as the process itself sees it (its root directory, its PID there).
 * It is opened when the first address is asked for, and only if it is a regular file of the
 * process's user or of root, written since the process was started: nobody removes these files, and
 * PIDs come again.
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

/* The number (code/jit_names.h) of the name of the function at `address`. An address that the map
 * does not know makes it be read again, every few milliseconds at most. */
uint32_t jit_code_name(struct jit_code *jit, uint64_t address);

/* Reads what has come to the map, about ten times a second however often it is called, and nothing
 * before the first jit_code_name. True: what that has said of addresses may be different now. */
bool jit_code_look(struct jit_code *jit);

#endif

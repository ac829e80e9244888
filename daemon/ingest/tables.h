/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tables.h - tables of modules on demand: threads for each kind, which make what running programs
 * wait for, in turns of users. A file's call sites can take seconds, and nobody's stacks are to
 * wait for those.
 */
#ifndef HCCT_TABLES_H
#define HCCT_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/code/table_cache.h"
#include "daemon/ingest/process.h"

/* Starts the threads. `caches` keep tables on disk; NULL: not those of a kind. False: not all can
 * be had. */
bool tables_start(struct table_cache *const caches[TABLE_KINDS]);
/* Ends them. An unwind table under way is finished, call sites are given up. */
void tables_stop(void);

/* The tables of `module` are wanted at module log entry `index`, call sites only where it asks for
 * them: published at once when the process's arena has them, else after they were compiled. Any
 * thread; the process's lock is held. It fits process_module_seen. */
void tables_request(void *unused, struct process *process, uint32_t index, uint32_t module);

#endif

/*
 * tables.h - tables of modules on demand: a thread that compiles what running programs wait for.
 */
#ifndef HCCT_TABLES_H
#define HCCT_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/code/elf_worker.h"
#include "common/code/table_cache.h"
#include "daemon/ingest/process.h"

/* Starts the thread; `worker` and `cache` (NULL: none) are its own. False: no thread can be had. */
bool tables_start(struct elf_worker *worker, struct table_cache *cache);
/* Ends the thread, when the compilation under way is over. */
void tables_stop(void);

/* The tables of `module` are wanted at module log entry `index`, call sites only where it asks for
 * them: published at once when the process's arena has them, else after they were compiled. Any
 * thread; the process's lock is held. It fits process_module_seen. */
void tables_request(void *unused, struct process *process, uint32_t index, uint32_t module);

#endif

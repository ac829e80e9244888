/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * own_tables.h - what a walk of this very process needs: tables of its objects, and its memory.
 */
#ifndef HCCT_TESTS_OWN_TABLES_H
#define HCCT_TESTS_OWN_TABLES_H

#include "preload/sample/unwind.h"

/* For struct unwind_env's `find`: asks the loader, and compiles an object's table when it is met
 * for the first time (malloc, files). `arg` is not used. One thread. */
bool own_tables_find(void *arg, uint64_t pc, struct unwind_module *module);

/* Frees what own_tables_find has made. */
void own_tables_free(void);

/* For struct unwind_env's `read`: any memory of this process. `arg` is not used. Any context. */
bool own_read(void *arg, uint64_t address, uint64_t *word);

/* The bounds of the calling thread's stack, in bytes. */
void own_stack(uint64_t *low, uint64_t *high);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * symbol.h - making of struct symbol (elf_worker.h), for both sides of the worker's socket.
 */
#ifndef HCCT_SYMBOL_H
#define HCCT_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/code/elf_worker.h"

#define SYMBOL_LINES_MAX 64u

/* The name that code has when nothing better is known: "libx.so+0x1234". malloc'ed; NULL: no
 * memory. */
char *symbol_last_resort_name(const char *path, uint64_t address);

/* A symbol of one line with the name of last resort. False: no memory. */
bool symbol_last_resort(const char *path, uint64_t address, struct symbol *symbol);

#endif

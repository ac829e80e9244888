/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * symbolize.h - what the code at an address of one module is: function, inlined calls, source
 * lines.
 *
 * By libdwfl, which finds debug files by build-id, .gnu_debuglink and .gnu_debugaltlink, reads
 * .gnu_debugdata, and asks debuginfod when the user has set DEBUGINFOD_URLS.
 * Runs in the worker child; one thread.
 */
#ifndef HCCT_SYMBOLIZE_H
#define HCCT_SYMBOLIZE_H

#include <stdbool.h>

#include "common/code/elf_worker.h"

struct symbolizer;

/* A symbolizer for the file behind `fd`, which it takes over. `path` is the file's name: debug
 * files are searched beside it, and names of last resort begin with its last part. NULL: no memory.
 * A file that is no ELF object gets a symbolizer that knows names of last resort only. */
struct symbolizer *symbolizer_new(int fd, const char *path);

/* The same without debug information: names from symbol tables, of a separate debug file too when
 * it is on this machine. */
struct symbolizer *symbolizer_new_names(int fd, const char *path);
void symbolizer_free(struct symbolizer *symbolizer);

/* Fills `symbol`, to be given to symbol_clear. False: no memory. */
bool symbolizer_resolve(struct symbolizer *symbolizer, const struct symbol_query *query,
                        struct symbol *symbol);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * elf_worker.h - everything that parses ELF and DWARF runs in a child process with limits.
 *
 * A file may be hostile, or libdw may have a bug that it triggers: then the child dies or runs into
 * its limits (CPU time, memory, wall clock), the request fails, and the daemon goes on with a fresh
 * child. The child is this program started again (`hcctd --elf-worker`), with one socket.
 *
 * A child that dies in a request is replaced and asked once more; a module that it dies of again,
 * or over which it is late or gives an answer that is not consistent, is not asked for again. The
 * child writes no file and, when the daemon is root, becomes nobody who may read any file; where
 * the user has set DEBUGINFOD_URLS it keeps its user, as the downloads go into that user's cache.
 *
 * Requests are synchronous. Each worker has its own lock, so any thread may call; the daemon has
 * several, so that a long symbol query never delays a table that a running program waits for, nor
 * that one a stack, nor any of them a name.
 */
#ifndef HCCT_ELF_WORKER_H
#define HCCT_ELF_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/raw_stack.h"
#include "common/code/table_kind.h"

struct elf_worker;

/* A worker whose child is started on the first request. `program`: path of the executable to start
 * with "--elf-worker" (normally /proc/self/exe). NULL: no memory. */
struct elf_worker *elf_worker_new(const char *program);
void elf_worker_free(struct elf_worker *worker); /* ends the child */

/* Ends the child and all hope: a request that is being served fails, and so do all that follow. For
 * a daemon that ends; any thread may call. */
void elf_worker_interrupt(struct elf_worker *worker);

/* Ends the child until the next request: all that it has in memory is given back. */
void elf_worker_rest(struct elf_worker *worker);

/* Makes a table of the module's file. Returns a malloc'ed table of *bytes bytes, checked to be
 * consistent, or NULL: none (no .eh_frame, broken file, limits). */
void *elf_worker_compile(struct elf_worker *worker, uint32_t module, enum table_kind kind,
                         size_t *bytes);

/* One source position of an address; an address inside inlined code has several. */
struct symbol_line {
    char *name;        /* demangled, for people */
    char *system_name; /* as in the symbol table; may equal name */
    char *file;        /* NULL: not known */
    uint32_t line;     /* 0: not known */
    uint32_t start_line;
};

/* What the code at one address is. lines[0] is the innermost inlined function, the last the real
 * function. The last resort is "libx.so+0x1234"; n_lines is 0 only when memory has run out. Control
 * characters in strings have become '?', and no string is longer than 4096 bytes. */
struct symbol {
    uint32_t n_lines;
    struct symbol_line *lines;
};

/* An address to resolve, relative to the module (address in the file). */
struct symbol_query {
    uint64_t address;
    bool is_entry; /* a routine's entry: name only, no inline frames, line of its declaration */
};

/* Resolves n addresses of one module; fills symbols[0..n), each to be given to symbol_clear. When
 * the worker fails, they get their last-resort names. False then, else true. */
bool elf_worker_symbols(struct elf_worker *worker, uint32_t module,
                        const struct symbol_query *query, size_t n, struct symbol *symbols);
void symbol_clear(struct symbol *symbol);

/* The same by the module's symbol table alone: no inlined functions, no files and lines, and no
 * download. Takes a fraction of the time and the memory, as no debug information is opened. */
bool elf_worker_names(struct elf_worker *worker, uint32_t module, const struct symbol_query *query,
                      size_t n, struct symbol *symbols);

/* What linker's names are for people: as many of these n, from the first on, as one request has
 * room for, of which each symbol has one line, to be given to symbol_clear. A name has no newline
 * and less than 4096 bytes. Returns how many; 0: the child has failed over one of them. */
size_t elf_worker_demangle(struct elf_worker *worker, const char *const *name, size_t n,
                           struct symbol *symbols);

/* Walks a raw stack sample. Modules in its ranges whose files can't be had lose their number (0:
 * code without unwind data). True: walk->frames is malloc'ed, for the caller to free. False: the
 * child failed over it, and with the same stack it may fail again. */
bool elf_worker_unwind(struct elf_worker *worker, struct raw_stack *stack,
                       struct unwound_stack *walk);

/* The child's side: serve requests on `fd` until it is closed. Returns the exit status. */
int elf_worker_main(int fd);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_object.h - symbols of an ELF object by its section table: of one that a program has in memory
 * for its debugger, or of a file.
 *
 * The bytes may be anything, and may change while they are read: nothing is believed of them but
 * what was checked in a copy, and what is read is bounded. No library parses here, and nothing is
 * kept. Objects of 64 bits in this machine's byte order are read, others have no symbols.
 */
#ifndef HCCT_JIT_OBJECT_H
#define HCCT_JIT_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/code/perf_map.h"

#define JIT_OBJECT_BYTES_MAX (16u << 20) /* of sections, symbols and their names that are read */

/* Bytes behind a descriptor that can be read by position: a file, or a process's memory. */
struct jit_bytes {
    int fd;
    uint64_t at, size; /* the object is at [at, at + size) */
};

/* False: not all of these can be read. */
bool jit_bytes_read(const struct jit_bytes *bytes, uint64_t offset, void *into, uint64_t n);

/* A number for what the symbols of an object say: *print on return, 0 where it can't be read.
 * Where it is not what *print was before, the functions of the object are added to the map, each
 * where its section has been loaded (sh_addr), and true is returned. A symbol without a size is no
 * function. *budget falls by the bytes that were read; an object that would take more is not read.
 */
bool jit_object_functions(const struct jit_bytes *object, struct perf_map *map, uint64_t *print,
                          uint64_t *budget);

/* The value of the variable `name` of `bytes` bytes among the object's symbols, the dynamic ones,
 * too; 0: there is none. *budget as above, but is not asked. */
uint64_t jit_object_variable(const struct jit_bytes *object, const char *name, uint64_t bytes,
                             uint64_t *budget);

#endif

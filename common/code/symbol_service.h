/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * symbol_service.h - symbols for queries, soon: what is known at once, the rest within a time that
 * a person waits, and what takes longer (the debug information of a large program is hundreds of
 * megabytes, compressed) by its bare name for now, while a thread goes on finding it out.
 *
 * Some worker children open debug information, small files first; others name functions by symbol
 * tables alone, and are rarely busy for long. Users take turns (elf_pool.h). All end when nobody
 * has asked for a while, so that the memory they take is given back; what they have found out is
 * kept (symbol_cache.h).
 */
#ifndef HCCT_SYMBOL_SERVICE_H
#define HCCT_SYMBOL_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/elf_worker.h"

struct symbol_service;

/* `program` as elf_worker_new has it. NULL: no memory, or no thread. */
struct symbol_service *symbol_service_new(const char *program);

/* Nobody may be asking any more. Ends thread and children; NULL is allowed. */
void symbol_service_free(struct symbol_service *service);

/* An address to resolve, and what it is. */
struct symbol_request {
    uint32_t module;
    struct symbol_query query;
    struct symbol symbol; /* to be given to symbol_clear */
    bool is_for_now;      /* a bare name: more will be known later */
};

enum symbol_patience {
    SYMBOL_SOON,     /* until a person would wonder; SYMBOL_FIRST_NS at most, then is_for_now */
    SYMBOL_COMPLETE, /* until all is known or can't be */
};

/* How long an answer may wait for debug information of modules that are asked for the first time
 * (counted from then, whoever asked), when a good part of the addresses are theirs; and how long
 * for the rest. */
#define SYMBOL_FIRST_NS 1200000000ll
#define SYMBOL_LATER_NS 2000000ll

/* What n names of the linker's, of generated code, are for people: symbol[i] has one line, to be
 * given to symbol_clear, or none: the worker has failed over it. Any thread may call. */
void symbol_service_demangle(struct symbol_service *service, const char *const *name, size_t n,
                             struct symbol *symbol);

/* Serves n requests. Any thread may call. */
void symbol_service_resolve(struct symbol_service *service, struct symbol_request *requests,
                            size_t n, enum symbol_patience patience);

#endif

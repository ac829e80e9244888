/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_define.h - modules, names and frames of the daemon, each defined in the trace on first use.
 *
 * The writer's part, under its lock; `frames` alone is read without.
 */
#ifndef HCCT_TRACE_DEFINE_H
#define HCCT_TRACE_DEFINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/trace/trace_format.h"

/* Puts a record whose words are those of both arrays. */
typedef void trace_put_record(void *arg, enum trace_kind kind, const uint32_t *words, size_t n,
                              const uint32_t *more, size_t n_more);

struct trace_define {
    _Atomic uint32_t *frames; /* numbers in the file by frame id; 0: not defined yet */
    /* private */
    struct trace_module {
        uint32_t id, number;
    } * modules;     /* the same of modules, by place (code/module.h) */
    uint32_t *names; /* and of generated functions */
    uint32_t last_frame, last_module, last_name;
    trace_put_record *put;
    void *arg;
};

/* False: no memory, nothing was taken. */
bool trace_define_start(struct trace_define *define, trace_put_record *put, void *arg);
void trace_define_end(struct trace_define *define);

/* The number of a frame id, whose definition is put when it has none yet. */
uint32_t trace_define_number(struct trace_define *define, uint32_t frame);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * copy.h - parts of one profile into another.
 */
#ifndef HCCT_COPY_H
#define HCCT_COPY_H

#include "common/profile/profile.h"

/* A new profile with the meta data of `from`, its processes (same numbers) and no contexts. */
struct profile *copy_begin(const struct profile *from);

/* A new profile of those processes alone that are wanted, contexts and all. */
struct profile *copy_processes(const struct profile *from,
                               bool (*wanted)(const void *arg,
                                              const struct profile_process *process),
                               const void *arg);

/* The module of `from` in `to`. */
uint32_t copy_module(struct profile *to, const struct profile *from, uint32_t module);

/* The location of `from` in `to`, lines and all; one without lines gets its name of last resort. */
uint32_t copy_location(struct profile *to, const struct profile *from, uint32_t location);

/* The location of `to` gets the lines that `source` of `from` has. */
void copy_lines(struct profile *to, uint32_t location, const struct profile *from, uint32_t source);

/* Adds the weight of a context, with its errors. */
static inline void copy_weight(struct profile_node *sum, const struct profile_node *more) {
    sum->count += more->count;
    sum->error += more->error;
    sum->counter_error += more->counter_error;
}

#endif

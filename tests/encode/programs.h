/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * programs.h - random programs, and threads that execute them: what each has called, as it was.
 *
 * A program is a set of call sites; each leads from one function to one or more. A thread takes
 * random calls and returns, several returns at once (as longjmp does), and deep recursion now and
 * then. Its path is kept beside the encoded context, by nothing but pushing and popping.
 */
#ifndef HCCT_TEST_PROGRAMS_H
#define HCCT_TEST_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/encode/adaptive.h"

#define PROGRAM_FUNCTIONS_MAX 48u
#define PROGRAM_SITES_MAX     400u
#define PROGRAM_TARGETS_MAX   4u
#define PROGRAM_THREADS_MAX   4u

struct program_site {
    uint32_t caller, targets, target[PROGRAM_TARGETS_MAX];
};

struct program {
    uint64_t random;
    uint32_t functions;  /* from 1 on */
    uint32_t sites, hot; /* this one is taken more often than others */
    struct program_site site[PROGRAM_SITES_MAX];
};

struct program_thread {
    struct context context;
    struct context_path path; /* as it is */
};

uint64_t program_random(struct program *program, uint64_t n);
void program_make(struct program *program, uint64_t seed);

/* A call or some returns, sometimes many. */
void program_step(struct program *program, struct program_thread *thread,
                  struct adaptive *adaptive);
/* The decoded path is the thread's. */
bool program_is_right(const struct program_thread *thread, const struct adaptive *adaptive,
                      struct context_path *decoded);

#endif

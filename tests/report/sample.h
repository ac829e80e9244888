/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sample.h - profiles for the tests of the reporting side, the same at each run.
 */
#ifndef HCCT_TEST_SAMPLE_H
#define HCCT_TEST_SAMPLE_H

#include "common/profile/profile.h"

/* One process, threads, deep stacks with call sites, lines, inline frames, partial walks. */
struct profile *sample_shell(void);
/* A compiler driver, its passes, and an assembler: runs merged, long C++ names. */
struct profile *sample_build(void);
/* Names that formats could trip over: quotes, separators, UTF-8, Rust's generics, 200 columns. */
struct profile *sample_names(void);
/* More such names, each of a weight of its own; recursion, inline frames, two processes. */
struct profile *sample_hard(void);
/* Libraries without symbols; rows that lose just less, and just more, than 1 % on the way. */
struct profile *sample_stripped(void);
/* Every call counted: recursion, a pruned frame, waits, longjmp. */
struct profile *sample_calls(void);
/* The same program, calls counted in bursts only. */
struct profile *sample_call_bursts(void);
/* No process at all. */
struct profile *sample_none(void);
/* A process that was never seen at work. */
struct profile *sample_empty(void);
/* One stack of that many frames. */
struct profile *sample_deep(uint32_t depth);
/* Anything: small profiles of random shape and weight. */
struct profile *sample_random(uint64_t seed);

/* A context of that weight, its frames as sample.c explains them. */
void sample_add(struct profile *profile, uint32_t process, const char *frames, uint64_t count,
                uint64_t error);

/* All contexts with weight as text, a line each: what must survive a round trip. free() gives it
 * back. */
char *sample_dump(const struct profile *profile);

#endif

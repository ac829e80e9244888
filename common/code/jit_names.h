/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_names.h - names of generated functions: one small number for each name of a user.
 *
 * A frame of generated code is known by its name alone (frame.h): code of the same function lies at
 * other addresses in each process, and moves while it runs. Each user has names of their own, so
 * many and of so many bytes at most: who invents names gets JIT_UNNAMED, and takes nothing from
 * others. A name that is in no frame of its user any more is given back with these.
 *
 * Thread-safe.
 */
#ifndef HCCT_JIT_NAMES_H
#define HCCT_JIT_NAMES_H

#include <stdint.h>

#include "common/code/frame.h"

#define JIT_UNNAMED              0u         /* generated code of which no name is known */
#define JIT_NAMES_MAX            (1u << 20) /* no number is larger */
#define JIT_NAMES_USER_MAX       262144u
#define JIT_NAMES_USER_BYTES_MAX (32u << 20)

/* The number of a name, made on first sight. */
uint32_t jit_name_intern_for(struct frame_user *user, const char *name);
/* The same for this program's own user. */
uint32_t jit_name_intern(const char *name);

/* A number for code at an address that has no name yet: "[generated code]" until
 * jit_names_resolve() finds one. `who` tells apart those who ask. */
uint32_t jit_name_expect(struct frame_user *user, uint64_t who, uint64_t address);
/* Calls `find` for each address that was expected by `who`; what it returns is its name from then
 * on. NULL: it stays without. `find` may not call this file. */
void jit_names_resolve(struct frame_user *user, uint64_t who,
                       const char *find(void *arg, uint64_t address), void *arg);

/* The name of a number, valid as long as a frame of its user has it; "[generated code]" of
 * JIT_UNNAMED and of what is no number. */
const char *jit_name(uint32_t number);

/* Around the sweep of a user's frames (frame_sweep_begin): begin before it, mark what is in frames
 * that stay, end before its end. Names that are interned between are in use. */
void jit_names_sweep_begin(struct frame_user *user);
void jit_names_mark(const struct frame_key *key);
void jit_names_sweep_end(struct frame_user *user, bool whole);

/* How many the user has. */
uint32_t jit_names_count(struct frame_user *user);

#endif

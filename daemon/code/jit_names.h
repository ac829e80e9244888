/*
 * jit_names.h - names of generated functions: one small number for each, in the whole daemon.
 *
 * A frame of generated code is known by its name alone (frame.h): code of the same function lies at
 * other addresses in each process, and moves while it runs. Numbers live as long as the daemon;
 * their number and size are capped, so that a hostile program that invents names gets JIT_UNNAMED,
 * as everybody does then.
 *
 * Thread-safe.
 */
#ifndef HCCT_JIT_NAMES_H
#define HCCT_JIT_NAMES_H

#include <stdint.h>

#define JIT_UNNAMED         0u /* generated code of which no name is known */
#define JIT_NAMES_MAX       262144u
#define JIT_NAMES_BYTES_MAX (32u << 20)

/* The number of a name, made on first sight. */
uint32_t jit_name_intern(const char *name);

/* The name of a number, valid as long as the daemon; "[generated code]" of JIT_UNNAMED and of what
 * is no number. */
const char *jit_name(uint32_t number);

#endif

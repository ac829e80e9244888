/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwinder.h - who unwinds stacks in this process.
 *
 * libgcc's unwinder finds the unwind entries of slots by _dl_find_object, which the agent has. It
 * is not to be led through slots itself, as it looks at its own return address. Another unwinder
 * (libunwind, or one that is linked into a program) asks dl_iterate_phdr, which knows of no slot:
 * an exception would end the program.
 */
#ifndef HCCT_ENCODE_UNWINDER_H
#define HCCT_ENCODE_UNWINDER_H

#include <stdbool.h>
#include <stdint.h>

/* No object that is loaded has an unwinder that would not get on with slots. Process context. */
bool unwinder_knows_slots(void);

/* The object with that code may have one of its own. Any context. */
bool unwinder_is_in(uint64_t code);

#endif

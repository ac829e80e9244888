/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * code_copies.h - code of a file that a process has mapped a second time, elsewhere: node has its
 * builtins next to the code that it generates, where calls are shorter.
 *
 * No loader knows of such a mapping. What is executed there is what stands at the same place of the
 * file, where the loader has mapped it.
 */
#ifndef HCCT_CODE_COPIES_H
#define HCCT_CODE_COPIES_H

#include <stdint.h>
#include <sys/types.h>

struct code_copies;

/* Reads nothing yet. `pid` as the daemon sees it. NULL: no memory. */
struct code_copies *code_copies_new(pid_t pid);
void code_copies_free(struct code_copies *copies); /* NULL is allowed */

/* Where else the code at `address` is mapped; 0: nowhere, as far as is known. What is mapped is
 * read when an address is asked for that nothing is known of, more and more rarely. */
uint64_t code_copies_find(struct code_copies *copies, uint64_t address);

#endif

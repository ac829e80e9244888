/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * confine.h - what a child process takes from itself before it reads what others have made.
 *
 * Nothing here fails the child: where a step is refused, the others still protect. All but CPU time
 * is for the life of the process.
 */
#ifndef HCCT_CONFINE_H
#define HCCT_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/* How much address space the process has now; 0: /proc does not say. */
uint64_t confine_address_space(void);

/* So much address space, beside what a sanitizer reserves. */
void confine_memory(uint64_t bytes);

/* Files that it writes grow no further than this. */
void confine_files(uint64_t bytes);

/* It opens no descriptor any more; those that are open stay. */
void confine_descriptors(void);

/* From now on, so many seconds of CPU time; then the process ends by SIGXCPU. */
void confine_cpu(unsigned seconds);

/* Under root it becomes user nobody. */
void confine_user(void);

/* No core file, no privilege, and no way to one; `reads_files`: but that of reading any file, where
 * it has that. */
void confine_rights(bool reads_files);

#endif

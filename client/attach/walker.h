/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * walker.h - walk.h for a process of any user: where that is another one's, and we are root, the
 * files of the process are read and its stack is unwound by a helper that has that user's rights. A
 * process that has changed its user may not be read by that user: so the helper is given what
 * it needs open: the list of mappings, and code that it may not open itself, by the address that it
 * is mapped at.
 */
#ifndef HCCT_ATTACH_WALKER_H
#define HCCT_ATTACH_WALKER_H

#include "client/attach/walk.h"

struct walker;

/* NULL: it can't be walked. The others are as in walk.h; a helper that is late, or gone, says
 * WALKED_LOCKED. */
struct walker *walker_new(const struct target *target);
void walker_free(struct walker *walker);
void walker_prepare(struct walker *walker);
enum walked walker_stack(struct walker *walker, const struct code *code, size_t ranges,
                         const struct user_regs_struct *regs);
void walker_learn(struct walker *walker);

#endif

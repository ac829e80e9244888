/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * walk.h - the return addresses of a stopped thread, and no others: its stack is unwound.
 *
 * For threads of whose stack some word only seems to be one (point.h): a program begins on the
 * stack that the loader has used before it, and leaves much of that as it was. Files of the process
 * are read for it, so only processes of the own user are walked here (see walker.h).
 */
#ifndef HCCT_ATTACH_WALK_H
#define HCCT_ATTACH_WALK_H

#include <sys/user.h>

#include "client/attach/code.h"
#include "client/attach/target.h"

struct walk;

/* A descriptor of the file that is mapped there, which the walk closes; -1: it can't be opened. */
typedef int walk_open(void *context, const struct target *target, uint64_t start);
/* The same, by this process's own rights; `context` is not used. */
walk_open walk_open_here;

/* NULL: it can't be walked. */
struct walk *walk_new(const struct target *target, walk_open *opens, void *context);
void walk_free(struct walk *walk);
/* The mappings were read: while no thread is stopped. */
void walk_prepare(struct walk *walk);

enum walked {
    WALKED_CLEAR,   /* down to its first function, and it returns to none of these */
    WALKED_LOCKED,  /* it does, or could not be walked to the end */
    WALKED_MISSING, /* walk_learn must be called first, when the thread is not stopped any more */
};

/* `ranges`: the first so many of what may be locked. */
enum walked walk_stack(struct walk *walk, const struct code *code, size_t ranges,
                       const struct user_regs_struct *regs);
void walk_learn(struct walk *walk);

#endif

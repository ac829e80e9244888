/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * judge.h - whether a process that runs can be attached to: what is known before anything is tried.
 */
#ifndef HCCT_ATTACH_JUDGE_H
#define HCCT_ATTACH_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct judge_check {
    const char *name;
    /* `library`: the agent's path here, NULL: it is not known. `text`: a sentence without its full
     * stop; where it does not pass, why, and what helps. */
    bool (*passes)(pid_t pid, const char *library, char *text, size_t bytes);
};

/* In the order in which they should be asked, ended by an entry without a name. */
extern const struct judge_check judge_checks[];

/* False: it can't be attached to; `text` is what the first check says that does not pass. */
bool judge(pid_t pid, const char *library, char *text, size_t bytes);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * process_choice.h - which processes somebody asks for.
 */
#ifndef HCCT_PROCESS_CHOICE_H
#define HCCT_PROCESS_CHOICE_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/profile/profile.h"

struct process_choice {
    pid_t pid;       /* 0: any */
    const char *exe; /* path or name of an executable, or a command; NULL: any */
    const char *tag; /* NULL: any */
};

bool process_choice_has(const struct process_choice *choice, pid_t pid, const char *exe,
                        const char *command, const char *tags);

/* The same, for struct history_choice. */
bool process_choice_wants(const void *choice, const struct profile_process *process);

#endif

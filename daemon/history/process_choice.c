/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * process_choice.c - number, tag, name: all that are given must fit.
 */
#include "daemon/history/process_choice.h"

#include <string.h>

#include "common/wire/tags.h"

bool process_choice_has(const struct process_choice *choice, pid_t pid, const char *exe,
                        const char *command, const char *tags) {
    if (choice->pid != 0 && pid != choice->pid)
        return false;
    if (choice->tag != NULL && !tags_have(tags, choice->tag))
        return false;
    return choice->exe == NULL || strcmp(choice->exe, exe) == 0 ||
           strcmp(choice->exe, profile_basename(exe)) == 0 || strcmp(choice->exe, command) == 0;
}

bool process_choice_wants(const void *choice, const struct profile_process *process) {
    return process_choice_has(choice, (pid_t)process->pid, process->exe, process->command,
                              process->tags);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * no_agent.c - searches the program file for what makes the dynamic loader not load the agent.
 */
#include "client/commands/no_agent.h"

#include <stdio.h>
#include <string.h>

#include "client/program_file.h"

bool no_agent_prevented(const char *command, char *reason, size_t bytes) {
    struct program_file program;
    const char *path = program.path;
    if (!program_file_find(command, &program))
        snprintf(reason, bytes, "%s can't be found or read", path);
    else if (program.is_privileged)
        snprintf(reason, bytes,
                 "%s is setuid, setgid or has file capabilities, and such programs ignore "
                 "LD_PRELOAD; run a copy without these rights",
                 path);
    else if (program.is_elf && program.foreign_class)
        snprintf(reason, bytes, "%s is built for another machine or word size than hcct", path);
    else if (program.is_elf && program.loader[0] == '\0')
        snprintf(reason, bytes,
                 "%s is statically linked, and only the dynamic loader can load the agent; link it "
                 "dynamically",
                 path);
    else if (strstr(program.loader, "ld-musl") != NULL)
        snprintf(reason, bytes, "%s uses musl, and the agent needs glibc 2.35 or later", path);
    else
        return false;
    return true;
}

void no_agent_reason(const char *command, char *reason, size_t bytes) {
    struct program_file program;
    if (!no_agent_prevented(command, reason, bytes) && program_file_find(command, &program))
        snprintf(reason, bytes,
                 "%s ended, or cleared its environment, before the agent could reach hcctd "
                 "(HCCT_VERBOSE=1 says more)",
                 program.path);
}

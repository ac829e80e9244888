/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * no_agent.h - why a command ran without the agent.
 */
#ifndef HCCT_NO_AGENT_H
#define HCCT_NO_AGENT_H

#include <stdbool.h>
#include <stddef.h>

/* True: the program file that execvp() would find for the command can't load the agent; `reason` is
 * a clause that says why ("it is statically linked, ..."). */
bool no_agent_prevented(const char *command, char *reason, size_t bytes);

/* The likely reason, as a clause, for a command that has run without it. */
void no_agent_reason(const char *command, char *reason, size_t bytes);

#endif

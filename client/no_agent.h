/*
 * no_agent.h - why a command ran without the agent.
 */
#ifndef HCCT_NO_AGENT_H
#define HCCT_NO_AGENT_H

#include <stddef.h>

/* The likely reason, as a clause ("it is statically linked, ..."), for the command as it would be
 * found by execvp(). */
void no_agent_reason(const char *command, char *reason, size_t bytes);

#endif

/*
 * signal.h - which signal the agent uses, and its one handler.
 */
#ifndef HCCT_AGENT_SIGNAL_H
#define HCCT_AGENT_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* Takes the first candidate that nobody uses and installs the handler. False: none is free. Process
 * context. */
bool signal_start(int wish);

/* The signal in use, 0: none. Any context. */
int signal_number(void);

/* The application takes our signal for itself: the agent moves to another, or steps aside when none
 * is free. After this the old signal is as if the agent had never used it. Thread context. */
void signal_yield(void);

/* What the application would see as the disposition of our signal. */
void signal_hidden_action(struct sigaction *action);

/* The calling thread must be able to get our signal, whatever mask it has inherited. */
void signal_unblock(void);
/* Keeps our signal off while the process forks, so that a storm of them can't starve it. */
void signal_block_for_fork(void);

#endif

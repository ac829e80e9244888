/*
 * signal.h - which signal the agent uses, and its one handler.
 */
#ifndef HCCT_AGENT_SIGNAL_H
#define HCCT_AGENT_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

struct agent_thread;

/* Takes the first candidate that nobody uses and installs the handler. False: none is free. Process
 * context. */
bool signal_start(int preferred);

/* The signal in use, 0: none. Any context. */
int signal_number(void);

/* One of this number that is pending when the program calls exec does the next one no harm: it is
 * ignored by default. The kernel takes those of timers back then, but not those of events. Any
 * context. */
bool signal_may_wait(int number);

/* The application sets a disposition for our signal: the agent moves to another, or steps aside
 * when none is free. After this the old signal is as if the agent had never used it. Thread
 * context.
 */
void signal_yield(void);
/* The application blocks our signal by name, to wait for it or to read it from a descriptor. As
 * before, but threads that believe it to be blocked, where it is open, leave it pending when it
 * comes. Thread context. */
void signal_give_up(void);

/* The agent uses no signal from now on, its timers are deleted; and the same one again, if it is
 * still free. Thread context. */
void signal_stop(void);
void signal_resume(int number);

/* Our signal does not come: has somebody taken it past libc, by a system call? Then it is theirs,
 * and the agent moves away. Two system calls. Thread context. */
void signal_check_again(void);

/* A mask that has the signal and not most others: it means this one. Any context. */
bool signal_is_named(const sigset_t *set, int number);
/* The handler of `action` is the agent's. Any context. */
bool signal_is_agents(const struct sigaction *action);

/* What the application would see as the disposition of our signal. */
void signal_hidden_action(struct sigaction *action);

/* The calling thread must be able to get our signal, whatever mask it has inherited. */
void signal_unblock(void);
/* The same at the program's start: what it has inherited as blocked it believes to be blocked. */
void signal_unblock_first(void);
/* What the application believes to be blocked is blocked now; 0: nothing. */
void signal_block_hidden(int number);
/* Around the creation of a thread, which inherits the mask and has no context at first: what its
 * creator believes to be blocked is blocked in earnest meanwhile. Thread context. */
void signal_before_thread(const struct agent_thread *creator);
void signal_after_thread(struct agent_thread *creator);
/* The calling thread's timers are deleted: a signal of theirs that is pending is not to come any
 * more. What is pending of others stays. Any context. */
void signal_discard_pending(void);
/* Keeps our signal off while the process forks, so that a storm of them can't starve it. */
void signal_block_for_fork(void);

#endif

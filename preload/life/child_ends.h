/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * child_ends.h - what the kernel uses of the CPU time of a child of fork after the agent's last
 * reading.
 *
 * To give back the memory of a process takes 150 us, and 2 ms where it has 50 MB: in a child that
 * lives shortly that is much of its time, and nobody can look any more. A parent that waits for it
 * gets to know what it has used in all. So that is learned, and a child's end has its samples
 * beforehand. What children know of their beginnings they tell each other in the same place.
 */
#ifndef HCCT_CHILD_ENDS_H
#define HCCT_CHILD_ENDS_H

#include <stdint.h>
#include <sys/types.h>

/* The mean of what children of this process, in a child those of its parent, have used after
 * child_ends_note, as far as it is known. Any context. */
uint64_t child_ends_rest(void);

/* There will be children. Thread context, before the fork. */
void child_ends_expect(void);
/* This process is about to end. Thread context, inside confine_enter. */
void child_ends_note(void);

/* What a child that ends could report to no session, for whoever of its family has one: CPU time in
 * which it was to be sampled while the daemon had fallen silent, and how many children it has
 * forked itself. Any context. */
void child_ends_leave(uint64_t lost_ns, uint64_t forked);
/* So much of it is for the caller to report. */
uint64_t child_ends_lost(void);
uint64_t child_ends_forked(void);

/* What the first walk of a child takes, whose weight has gone before that is known: the mean of
 * what other children of the family have noted; 0: none has. Any context. */
uint64_t child_ends_first_walk(void);
void child_ends_note_first_walk(uint64_t ns);

/* CPU time of children that were waited for: before a call that waits for one, 0: it is not to be
 * learned from; and after one that has waited for `pid`. Thread context, inside confine_enter. */
uint64_t child_ends_waited(void);
void child_ends_learn(pid_t pid, uint64_t waited_before);

#endif

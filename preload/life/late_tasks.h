/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late_tasks.h - what the kernel says of the process's own threads (/proc/self/task).
 *
 * A thread's name there is its number in digits. One thread asks at a time, and holds a descriptor
 * of the list meanwhile: texts are in one place. Any context.
 */
#ifndef HCCT_LATE_TASKS_H
#define HCCT_LATE_TASKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LATE_TASKS_NAME 16 /* bytes of a name */

/* How many there are, roughly: the number changes when one comes or goes. 0: that is not known. */
uint64_t late_tasks_count(void);
/* A descriptor of the list, which the caller closes; negative: there is none. */
long late_tasks_open(void);

pid_t late_tasks_number(const char *name);
void late_tasks_name(pid_t tid, char name[LATE_TASKS_NAME]);

/* A file of a thread's, such as "/status", until the next question; "": it can't be read. */
const char *late_tasks_read(int tasks, const char *name, const char *file);
/* The process may read where its threads wait. One that has changed its user may not: such files
 * are root's then. */
bool late_tasks_tells_waits(int tasks);
/* Signals that a thread blocks; all, where it can't be known. */
uint64_t late_tasks_blocked(int tasks, const char *name);
/* The thread sleeps, and has gone to sleep so often in all. False: it is awake, or that can't be
 * known. */
bool late_tasks_sleeps(int tasks, const char *name, uint64_t *switches);

/* The number that a text begins with. */
uint64_t late_tasks_hexadecimal(const char *text);

#endif

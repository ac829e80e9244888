/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * named.h - a process that people name, by its number or by its command's.
 */
#ifndef HCCT_ATTACH_NAMED_H
#define HCCT_ATTACH_NAMED_H

#include <stdbool.h>
#include <sys/types.h>

/* PID, or the name of its command or of its program's file. False: there is no such process, or
 * more than one has that name; complained, with their numbers. */
bool named_process(const char *who, pid_t *pid);

#endif

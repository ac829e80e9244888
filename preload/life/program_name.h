/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * program_name.h - the name that the program was executed by.
 *
 * One file may go by several names: redis-server is a link to redis-check-rdb, gzip may be one to
 * busybox. The kernel's name of the process (comm) is that of the link, but it is cut at 15 bytes,
 * and threads change it. This one is read once and stays.
 */
#ifndef HCCT_PROGRAM_NAME_H
#define HCCT_PROGRAM_NAME_H

#include <stddef.h>

/* The last part of the path that was executed, of a script its own; where that path is a descriptor
 * or a link in /proc, the last part of argv[0]. A slash stands before the name of a file or link
 * that was executed, none before that of a script. Cut at room - 1 bytes, ended by a NUL, as it is
 * in all else: any byte but a slash may be in it. Empty: neither says anything. Process context, at
 * the start, before the program can write to its arguments. */
void program_name_read(char *name, size_t room);

#endif

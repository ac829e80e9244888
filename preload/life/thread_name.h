/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thread_name.h - what the kernel calls a thread of this process.
 */
#ifndef HCCT_THREAD_NAME_H
#define HCCT_THREAD_NAME_H

#include <sys/types.h>

#define KERNEL_NAME_ROOM 16 /* of the kernel's names, with the end */

/* Zeros where it can't be known. Another thread than the caller costs three system calls and a file
 * that is opened for a moment. Any context. */
void thread_ask_name(pid_t tid, char name[KERNEL_NAME_ROOM]);

#endif

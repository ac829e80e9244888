/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * file_time.h - the time that a call has which waits for a descriptor, where it is an option of the
 * descriptor and no argument.
 *
 * By system calls; any context.
 */
#ifndef HCCT_FILE_TIME_H
#define HCCT_FILE_TIME_H

#include <stdint.h>

/* A socket's SO_RCVTIMEO or SO_SNDTIMEO in ns; 0: none, or it is not a socket. */
uint64_t file_time_socket(int fd, int option) __attribute__((visibility("hidden")));

/* After which time a read of `fd` returns without a byte; 0: never, or it is no terminal. A master
 * of pseudoterminals answers with the settings of the other end, but has no timeout. Where the
 * first byte is waited for without end, and the next ones are not, the kernel makes a read again
 * only before the first. */
uint64_t file_time_terminal(int fd) __attribute__((visibility("hidden")));

#endif

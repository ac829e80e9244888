/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session_blocks.h - the session's blocks of the heap, mapped once more where they stay.
 *
 * A block can be freed at any moment, in a handler too, and a session goes when another thread
 * finds a new one. So that no free has to enter the session, which takes system calls, these pages
 * have an address of their own for as long as the process lives: those of the session that there
 * is, or some that nobody reads. Numbers of blocks are never used twice in a process, so what is
 * said of a block of the last session changes nothing.
 */
#ifndef HCCT_SESSION_BLOCKS_H
#define HCCT_SESSION_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* They are those of the session whose memory this is, where the heap is profiled. False: there is
 * no room. While nobody else changes the session. Any context. */
bool session_blocks_follow(int session_fd);
/* They are nobody's. The same. */
void session_blocks_leave(void);

/* That block is gone. Takes no system call, keeps errno. Any context. */
void session_block_gone(uint64_t number);

#endif

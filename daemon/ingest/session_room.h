/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session_room.h - how much shared memory sessions may take.
 *
 * An agent asks for slots by a word in its session, which may be a lie. So no process gets more
 * than the kernel says it has threads for, and all of them no more than a part of the machine's
 * memory: what is given is allocated at once, as agents would die of SIGBUS where none is left.
 */
#ifndef HCCT_SESSION_ROOM_H
#define HCCT_SESSION_ROOM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SESSION_ROOM_SPARE (16u << 20) /* bytes of slots that any process may have */

/* Counts bytes as taken. False: that would be too much, nothing was taken. Any thread. */
bool session_room_take(uint64_t bytes);
void session_room_give(uint64_t bytes);

/* Bytes that all sessions have taken, and may take. Any thread. */
uint64_t session_room_taken(void);
uint64_t session_room_limit(void);

/* Slots that the process may have now: for its threads, as many more for threads that have ended
 * since the last sweep, `places` for each, and SESSION_ROOM_SPARE for those that come and go in
 * between. WIRE_SLOTS_MAX at most. Any thread. */
uint32_t session_room_slots(pid_t pid, uint64_t slot_bytes, uint32_t places);

#endif

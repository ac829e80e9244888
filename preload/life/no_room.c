/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * no_room.c - each count is reported once, by whoever comes first.
 */
#include "preload/life/no_room.h"

void no_room_report(struct wire_session *session) {
    struct agent_no_room *no_room = &agent.process->no_room;
    atomic_fetch_add(&session->no_room, atomic_exchange(&no_room->threads, 0));
    atomic_fetch_add(&session->no_room_ns, atomic_exchange(&no_room->ns, 0));
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * followed.h - the modules of a process whose calls are to be followed: what hcctd has found in
 * their files, beside what the agent says that it did. Under the process's lock.
 */
#ifndef HCCT_FOLLOWED_H
#define HCCT_FOLLOWED_H

#include <stdint.h>

#include "common/profile/call_modules.h"
#include "daemon/ingest/session_memory.h"

struct followed {
    struct call_modules past; /* of sessions that are over */
    struct followed_entry {
        uint32_t index; /* in the module log */
        struct call_module module;
    } * entries; /* of the session that lives */
    size_t n, room;
};

/* A module's call sites were looked for: the table, or NULL where its file can't be read. */
void followed_note(struct followed *followed, uint32_t index, uint32_t module,
                   const struct call_sites *sites);

/* All modules, as a text (call_modules.h), malloc'ed; NULL: there are none, or no memory. `memory`:
 * of the session that lives, else NULL. */
char *followed_text(const struct followed *followed, const struct session_memory *memory);

/* The session ends: what was said in it becomes the past. */
void followed_end(struct followed *followed, const struct session_memory *memory);

void followed_add(struct followed *followed, const struct followed *others_past);
void followed_clear(struct followed *followed);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * numbered.h - contexts of a process that its program has asked the numbers of (common/wire/wire.h,
 * struct wire_context): copied from the session's memory, addresses as frames. They stay when the
 * process has ended, and when it is folded into its executable's. Under the process's lock.
 */
#ifndef HCCT_NUMBERED_H
#define HCCT_NUMBERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/ingest/addresses.h"
#include "daemon/ingest/session_memory.h"

/* Kept of one process, or of all of an executable that ended: nodes, and tables, as one of a few
 * nodes takes memory beside these. */
#define NUMBERED_MOST        (1u << 20)
#define NUMBERED_TABLES_MOST (1u << 16)

enum numbered_kind { NUMBERED_UNUSED, NUMBERED_ROOT, NUMBERED_THREAD, NUMBERED_PLACE };

struct numbered_node {
    uint32_t parent; /* of the same table, lower; of a root 0 */
    uint32_t frame;  /* of a place: the one of its pc (code/frame.h) */
    uint8_t kind;    /* enum numbered_kind */
};

/* Of one session. Node i is the one with that number in its lower half. */
struct numbered_table {
    struct numbered_table *next;
    uint32_t tag, first, n; /* nodes first .. first + n - 1 */
    size_t room;
    struct numbered_node *node;
};

struct numbered {
    struct numbered_table *tables; /* the newest session's first */
    struct numbered_table *own; /* of these, the one of the session that goes on; NULL: none yet */
    uint32_t n_tables, nodes;   /* of all of them */
};

/* How many entries the session's memory says it has. Before the rings are read: the modules of all
 * of these are in the log then. */
uint32_t numbered_sent(const struct session_memory *memory);
/* Takes those up to there that are new. A session has one table: of an agent that changes its mind
 * about where that begins nothing more is taken. */
void numbered_take(struct numbered *numbered, const struct session_memory *memory,
                   struct addresses *addresses, uint32_t upto);

/* The table that has the number; NULL: none. */
const struct numbered_table *numbered_find(const struct numbered *numbered, uint64_t number);
/* The node of that table, NULL: it has none such. */
const struct numbered_node *numbered_node(const struct numbered_table *table, uint32_t i);

/* Moves all of `from`, a process or a session that has ended; what is too much for one is dropped,
 * of the oldest tables. */
void numbered_fold(struct numbered *into, struct numbered *from);
/* Calls `mark` for each frame. */
void numbered_each_frame(const struct numbered *numbered, void (*mark)(uint32_t frame));
void numbered_clear(struct numbered *numbered);

#endif

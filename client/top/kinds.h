/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * kinds.h - what contexts weigh, of the processes that are asked for: each kind that is there, by
 * the word that hcctd has for it. Kinds are not added up: one is shown.
 *
 * Pure.
 */
#ifndef HCCT_TOP_KINDS_H
#define HCCT_TOP_KINDS_H

#include "client/processes.h"

#define TOP_KINDS_MAX 16u

struct top_kinds {
    char name[TOP_KINDS_MAX][PROCESSES_KIND_ROOM];
    unsigned n;
};

/* In an order that does not depend on that of the list. */
void top_kinds_of(struct top_kinds *kinds, const struct process_list *list);

/* Its place; kinds->n: it is not there. */
unsigned top_kinds_find(const struct top_kinds *kinds, const char *name);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sent_stacks.h - the contexts that the server was sent the frames of, so that they are not sent
 * with each push. One server in a run of this program.
 *
 * After a day those that gain are sent once more, as they have a time of life in the table. Where
 * the table has lost some, which is seen by asking for a few of them before pushes, all are.
 */
#ifndef HCCT_SENT_STACKS_H
#define HCCT_SENT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "client/remote/target.h"

/* True: it was not there, and is now, until it is said whether the server has taken it. */
bool sent_stacks_add(const char *service, uint64_t hash);
/* False: those that were added since the last time are not there. `all`: those were all. */
void sent_stacks_taken(bool taken, bool all);

/* Those of a day ago are to be sent again. */
void sent_stacks_forget_old(void);

/* Has the server lost some that it was sent? Then all are to be sent: until that is done they are
 * lost. A server that is not asked, or does not answer, has what it was sent. */
bool sent_stacks_lost(struct transfer *transfer, const struct push_settings *settings);

#endif

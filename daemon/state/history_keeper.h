/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_keeper.h - writes the hour that is over to the history (history/history.h), and what
 * there is of the last one when hcctd ends.
 */
#ifndef HCCT_HISTORY_KEEPER_H
#define HCCT_HISTORY_KEEPER_H

#include <stdbool.h>

/* Does nothing where there is no history. False: no thread. */
bool history_keeper_start(void);
/* Nothing is credited any more; symbols can still be asked for. */
void history_keeper_stop(void);

#endif

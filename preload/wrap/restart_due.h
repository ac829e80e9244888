/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * restart_due.h - a call that the kernel makes again for our handler, and a handler of the
 * application that would have ended it (restart.h).
 */
#ifndef HCCT_RESTART_DUE_H
#define HCCT_RESTART_DUE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "preload/life/sys.h"

/* The signal of the application whose handler runs when ours, of signal `own`, returns to `uc`, and
 * what is done then; 0: none. One without a handler (a stop) would not end a call. Signal context.
 */
int restart_due(const ucontext_t *uc, int own, uintptr_t action[SYS_ACTION_WORDS]);

/* Whether a handler without SA_RESTART ends the call with EINTR. `operation`: its second argument.
 * A futex only where it waits: what locks is made again whatever comes. Pure. */
bool restart_ends_by_signal(long number, long operation);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleeper_later.h - something that happens while a call sleeps.
 */
#ifndef HCCT_SLEEPER_LATER_H
#define HCCT_SLEEPER_LATER_H

#include <stdbool.h>

/* Another thread calls `act` after SLEEPER_EVENT ms; `again`: and so on, until it is stopped. */
void begin_later(void (*act)(void), bool again);
/* Waits for that thread, `stop`: after telling it not to act any more. Keeps errno. */
void end_later(bool stop);

#endif

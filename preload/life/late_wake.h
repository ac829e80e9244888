/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late_wake.h - which threads that slept when somebody attached are woken.
 *
 * They have no tick, and make no call, by which they could begin. A thread is woken once, and only
 * from a call in which it sleeps again unseen (waits.h). While nobody else asks for the kernel's
 * list (late_tasks.h).
 */
#ifndef HCCT_LATE_WAKE_H
#define HCCT_LATE_WAKE_H

#include <stdint.h>

#include "common/wire/attach.h"
#include "preload/life/thread.h"

#define LATE_WAKE_NS 200000 /* between two questions where a thread waits */

/* A thread of the list (late_tasks.h), where such are to be woken: it is at the second question
 * that finds it in the same call. Any context. */
void late_wake_waiting(int tasks, const char *name, struct agent_thread *thread);

/* All, where such are to be woken: by two questions for each, but for the calling thread, whose
 * call the request tells. Where the process may not ask, the request says so from then on. No
 * signal comes to the calling thread. */
void late_wake_all(struct wire_attach *request);
/* Those that the request names, who may ask: as long as they sleep where it has found them; and the
 * calling thread. The same. */
void late_wake_named(const struct wire_attach *request);

#endif

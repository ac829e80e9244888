/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late.h - the agent in a process that ran before it came.
 *
 * Its library is loaded by a call of dlopen, and does nothing by itself. hcct_attach() begins and
 * ends sampling, as often as is asked for; between two times the library stays, as a signal that
 * was on its way may still come.
 *
 * Nothing is intercepted. Threads are found by the kernel's list of them: those that are there, by
 * who asks to attach; later ones, and those that have ended, at ticks of others. Each is sampled
 * from its first tick on, by its CPU timer alone; what is sampled otherwise needs wrappers before
 * what can sleep. Children are not followed.
 */
#ifndef HCCT_LATE_H
#define HCCT_LATE_H

#include "common/wire/attach.h"
#include "preload/life/thread.h"

/* Called on any thread, between any two of its instructions, with all signals blocked, and where
 * it holds no lock of the loader's or malloc's. */
void hcct_attach(struct wire_attach *request);

#endif

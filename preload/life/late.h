/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late.h - the agent in a process that ran before it came.
 *
 * Its library is loaded by a call of dlopen, and does nothing by itself. hcct_attach() begins and
 * ends sampling, as often as is asked for; between two times the library stays, as a signal that
 * was on its way may still come.
 *
 * Up to the kernel's own clock rate CPU timers sample, and nothing is intercepted. What is sampled
 * otherwise (more often, or where threads sleep) needs wrappers before what can sleep: they are
 * bound (late_bind.h) before there is a timer, and until there is none any more. The handler of our
 * signal is there before both, and stays: a signal that comes later finds it.
 *
 * Threads are found by the kernel's list of them: those that are there, by who asks to attach;
 * later ones, and those that have ended, at ticks of others, or by wrappers. Each is sampled from
 * its first tick on, which is one of its CPU timer: it comes where the thread returns from the
 * kernel, never while it sleeps there; or from its next call of a wrapper of what can sleep. Where
 * sleep is sampled, those that sleep already are woken once, as far as nobody can tell
 * (common/wire/waits.h). Children are not followed.
 *
 * Sampling ends in two steps: each thread that a timer may just have woken has a last tick, which
 * makes its call again; when all have had it the words are put back.
 */
#ifndef HCCT_LATE_H
#define HCCT_LATE_H

#include "common/wire/attach.h"
#include "preload/life/thread.h"

/* Called on any thread, between any two of its instructions, with all signals blocked, and where
 * it holds no lock of the loader's or malloc's. */
void hcct_attach(struct wire_attach *request);

#endif

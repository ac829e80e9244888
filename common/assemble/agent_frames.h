/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * agent_frames.h - the agent's own frames, for people.
 *
 * Where the agent stands between an application and a function of libc, what its wrapper takes is
 * CPU time of the call: it is credited to the caller, in a frame [hcct]. The agent's frames are not
 * shown, nor what they call for themselves; what they call on behalf of the application is shown as
 * a callee of the caller:
 *
 *   f > sleep_call_masked > sleep_enter > clock_gettime      f > [hcct]
 *   f > dlclose (the agent's) > dlclose (libc's) > ...       f > dlclose > ...
 */
#ifndef HCCT_AGENT_FRAMES_H
#define HCCT_AGENT_FRAMES_H

#include "common/profile/profile.h"

/* Takes the profile over; where the agent has no frame in it, that is what is returned. Weights,
 * bounds and processes stay. */
struct profile *agent_frames_hide(struct profile *profile);

#endif

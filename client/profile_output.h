/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * profile_output.h - a profile to where people asked for it: a file, the terminal, a pager.
 */
#ifndef HCCT_PROFILE_OUTPUT_H
#define HCCT_PROFILE_OUTPUT_H

#include "client/view.h"

/* Returns an exit status; complained unless HCCT_EXIT_OK. */
int profile_output(const struct profile *profile, const struct view *view,
                   const struct view_options *given);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * whole.h - what must hold of a profile, whatever it was made of: or the target ends.
 */
#ifndef HCCT_FUZZ_WHOLE_H
#define HCCT_FUZZ_WHOLE_H

#include <stddef.h>

#include "common/profile/profile.h"

/* What its tables say is in its tables. */
void must_be_whole(const struct profile *profile);

/* In a format that formats[] has; text steers no terminal. */
void must_be_written(const struct profile *profile, const char *format);

/* Text without characters that steer a terminal. */
void must_be_quiet(const char *text, size_t bytes);

#endif

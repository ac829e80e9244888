/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * profile_image.h - a profile as bytes, for another process of the same program: its tables as they
 * lie in memory, with strings as numbers. Writing and reading one takes a fraction of the time that
 * a pprof takes, and hardly any memory beside the profile. It is no format for files: another build
 * may have other tables.
 */
#ifndef HCCT_PROFILE_IMAGE_H
#define HCCT_PROFILE_IMAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "common/profile/profile.h"

/* False with errno set when writing failed. The profile stays what it is. */
bool profile_image_write(FILE *out, struct profile *profile);

/* All that was written comes back, in the same order and numbers. NULL: what is there is no whole
 * image. Contexts may be added; all else is complete: no string, location or process may be. */
struct profile *profile_image_read(FILE *in);

#endif

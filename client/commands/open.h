/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * open.h - shows a page that was written to the person at the screen.
 */
#ifndef HCCT_OPEN_H
#define HCCT_OPEN_H

#include <stdbool.h>

#include "common/render/format.h"

/* Opens a file with the desktop's browser where there is a display and xdg-open, else says on
 * stderr where it is. Does not wait for the browser. */
void open_page(const char *path);

/* Writes the profile as a page and opens it: beside the file `name` that the profile is in, with
 * its name but .html for the suffix of `format`; as a temporary file when `name` is none
 * (is_file false). A page that is in the file already is just opened. False: it could not be
 * written, and that was complained about. */
bool open_profile(const struct profile *profile, const struct format *format,
                  const struct format_options *options, const char *name, bool is_file);

#endif

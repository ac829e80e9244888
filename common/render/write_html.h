/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_html.h - one HTML file that shows a profile: page/ with the data in it.
 *
 * It needs nothing but itself. Names in it may be hostile: they reach the page as data only, and
 * the page forbids all scripts but its own, by their hash, and all network but, live, its server.
 * write_html_live() as the writers of format.h: false with errno set when writing failed.
 */
#ifndef HCCT_WRITE_HTML_H
#define HCCT_WRITE_HTML_H

#include <stdbool.h>
#include <stdio.h>

#include "common/render/format.h"

/* The page without data: it asks the server that it came from, for /v1/processes and for
 * /v1/hot?format=page-data. */
bool write_html_live(FILE *out);

#endif

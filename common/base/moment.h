/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * moment.h - moments of the past as people write them.
 */
#ifndef HCCT_MOMENT_H
#define HCCT_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#define MOMENT_FORMS                                                                               \
    "a moment such as 03:10, 03:10:30, 2026-11-27T03:10, 15m (ago), now, or seconds since 1970"

/* In ns since 1970, at `now_ns`. A time of day is the last one that was, in local time; "15m" is
 * fifteen minutes ago (s, m, h, d). False: it is none of MOMENT_FORMS. */
bool moment_parse(const char *text, uint64_t now_ns, uint64_t *ns);

/* Whether it stands for a moment that a program has marked by this name (hcct.h): it begins as none
 * of MOMENT_FORMS but "now" does. */
bool moment_is_mark(const char *text);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * span.h - times as people write them: 90, 15s, 5m, 24h, 7d.
 */
#ifndef HCCT_SPAN_H
#define HCCT_SPAN_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds; false: it is no span, or longer than a hundred years. */
bool span_parse(const char *text, uint64_t *seconds);

#endif

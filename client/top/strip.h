/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * strip.h - the time line in one line of the screen: a column for each of the last hours, minutes
 * and pairs of seconds, as far as there is room, and the range that is chosen among them.
 */
#ifndef HCCT_TOP_STRIP_H
#define HCCT_TOP_STRIP_H

#include <stdbool.h>
#include <stddef.h>

#include "client/top/text.h"

/* In seconds since 1970. */
struct top_range {
    double since, until; /* until 0: none is chosen */
};

struct top_cell_of_time {
    double since, until, load;
};

#define TOP_STRIP_MAX 512u

struct top_strip {
    double now; /* 0: hcctd has no time line */
    struct top_cell_of_time cell[TOP_STRIP_MAX];
    unsigned n;
};

/* Reads hcctd's answer to /v1/timeline, for a line of so many columns. False: it is none. */
bool top_strip_parse(const char *text, size_t bytes, unsigned columns, struct top_strip *strip);

/* The line; [*from, *to) are the columns of the chosen range. */
void top_strip_line(struct top_line *line, const struct top_strip *strip,
                    const struct top_range *chosen, unsigned *from, unsigned *to);

/* Moves the range by a cell, the last one where there was none; or, with `extend`, its end. */
void top_strip_move(const struct top_strip *strip, struct top_range *chosen, int step, bool extend);

#define TOP_RANGE_ROOM 64
/* "27 Nov 03:10:00 - 03:15:00", in local time. */
void top_range_text(const struct top_range *range, char text[TOP_RANGE_ROOM]);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * strip.c - cells of hcctd, without gaps, and levels of load as glyphs.
 */
#include "client/top/strip.h"

#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/json_in.h"
#include "common/wire/compiler.h"

#define LABEL        "time  "
#define LABEL_LENGTH 6u
#define LEVELS       9u

static const char *const blocks[LEVELS] = {"\u00b7", "\u2581", "\u2582", "\u2583", "\u2584",
                                           "\u2585", "\u2586", "\u2587", "\u2588"};
static const char *const marks[LEVELS] = {".", "_", "-", "~", "=", "+", "*", "%", "#"};

/* What has the columns: seconds first, then minutes, then hours. */
static const struct lane {
    double seconds;
    unsigned part, most; /* one part in so many of what is left, and at most so many columns */
} lanes[] = {{3600, 1, 168}, {60, 2, 60}, {2, 4, 30}};

/* The level's cells by their beginnings, up to now; `n` of them. */
static void add_lane(struct top_strip *strip, const struct lane *lane, struct json_object *cells,
                     unsigned n) {
    bool hours = lane->seconds >= 3600;
    double last = floor(strip->now / lane->seconds) - (hours ? 1 : 0);
    struct top_cell_of_time *first = &strip->cell[strip->n];
    for (unsigned i = 0; i < n; i++) {
        double since = (last - (n - 1) + i) * lane->seconds;
        first[i] = (struct top_cell_of_time){since, fmin(since + lane->seconds, strip->now), 0};
    }
    for (size_t i = 0; cells != NULL && i < json_object_array_length(cells); i++) {
        const struct json_object *cell = json_object_array_get_idx(cells, i);
        double at = floor(json_in_real(cell, "since") / lane->seconds) - (last - (n - 1));
        if (at >= 0 && at < n)
            first[(unsigned)at].load = json_in_real(cell, "load");
    }
    strip->n += n;
}

static struct json_object *find_cells(const struct json_object *root, double seconds) {
    struct json_object *levels = json_in_array(root, "levels");
    for (size_t i = 0; levels != NULL && i < json_object_array_length(levels); i++) {
        const struct json_object *level = json_object_array_get_idx(levels, i);
        if (json_in_real(level, "seconds") == seconds)
            return json_in_array(level, "cells");
    }
    return NULL;
}

bool top_strip_parse(const char *text, size_t bytes, unsigned columns, struct top_strip *strip) {
    struct json_object *root = json_in(text, bytes);
    unsigned n[HCCT_ARRAY_LEN(lanes)],
        left = columns > LABEL_LENGTH + 2 ? columns - LABEL_LENGTH - 2 : 0;
    *strip = (struct top_strip){.now = json_in_moment(root, "now")};
    for (size_t i = HCCT_ARRAY_LEN(lanes); i-- > 0;) {
        n[i] = left / lanes[i].part < lanes[i].most ? left / lanes[i].part : lanes[i].most;
        left -= n[i];
    }
    for (size_t i = 0; i < HCCT_ARRAY_LEN(lanes) && strip->now > 0; i++)
        add_lane(strip, &lanes[i], find_cells(root, lanes[i].seconds), n[i]);
    json_object_put(root);
    return strip->now > 0;
}

static bool is_chosen(const struct top_cell_of_time *cell, const struct top_range *chosen) {
    return cell->since < chosen->until && cell->until > chosen->since;
}

/* Cells are of the lane that the range was chosen in: those that lie in it whole. */
static bool lies_in(const struct top_cell_of_time *cell, const struct top_range *chosen) {
    return is_chosen(cell, chosen) && cell->since >= chosen->since - 1;
}

void top_strip_line(struct top_line *line, const struct top_strip *strip,
                    const struct top_range *chosen, unsigned *from, unsigned *to) {
    const char *const *glyphs = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? blocks : marks;
    double most = 0;
    *from = *to = 0;
    if (strip->now <= 0)
        return;
    for (unsigned i = 0; i < strip->n; i++)
        most = fmax(most, strip->cell[i].load);
    top_line_add(line, LABEL);
    for (unsigned i = 0; i < strip->n; i++) {
        const struct top_cell_of_time *cell = &strip->cell[i];
        if (i > 0 && cell->since < strip->cell[i - 1].since)
            top_line_add(line, " ");
        if (lies_in(cell, chosen)) {
            *from = *to == 0 ? line->columns : *from;
            *to = line->columns + 1;
        }
        unsigned level =
            most > 0 && cell->load > 0 ? 1 + (unsigned)(cell->load / most * (LEVELS - 2)) : 0;
        top_line_add(line, glyphs[level]);
    }
}

/* The cell at which the range ends; the last one where there is none. */
static unsigned cell_of(const struct top_strip *strip, const struct top_range *chosen) {
    unsigned at = strip->n - 1;
    for (unsigned i = 0; chosen->until > 0 && i < strip->n; i++)
        if (lies_in(&strip->cell[i], chosen) && fabs(strip->cell[i].until - chosen->until) < 1.5)
            at = i;
    return at;
}

void top_strip_move(const struct top_strip *strip, struct top_range *chosen, int step,
                    bool extend) {
    if (strip->n == 0)
        return;
    unsigned at = cell_of(strip, chosen);
    if (chosen->until > 0)
        at = step < 0 ? (at > 0 ? at - 1 : 0) : at + 1 < strip->n ? at + 1 : at;
    const struct top_cell_of_time *cell = &strip->cell[at];
    double since = extend && chosen->until > 0 ? chosen->since : cell->since;
    if (since <= cell->since)
        *chosen = (struct top_range){since, cell->until};
}

void top_range_text(const struct top_range *range, char text[TOP_RANGE_ROOM]) {
    const time_t since = (time_t)range->since, until = (time_t)range->until;
    struct tm from, to;
    char begin[24] = "", end[16] = "";
    if (localtime_r(&since, &from) != NULL && localtime_r(&until, &to) != NULL) {
        strftime(begin, sizeof begin, "%d %b %H:%M:%S", &from);
        strftime(end, sizeof end, "%H:%M:%S", &to);
    }
    snprintf(text, TOP_RANGE_ROOM, "%s - %s", begin, end);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * chance_row.c - members of a process by name, in the order in which they stand in the arrays.
 */
#include "client/remote/chance_row.h"

#include <math.h>
#include <string.h>

#include "client/json_in.h"
#include "common/profile/process_fields.h"
#include "common/wire/compiler.h"

/* As hcct-fleet(1) has them: others go to the end. */
static const char *const summed[CHANCE_SUMS - 1] = {
    "drawn",         "drawn_squares",   "varied_total",  "varied_1", "independent_1", "varied_2",
    "independent_2", "varied_3",        "independent_3", "varied_4", "independent_4", "unasked_ns",
    "no_room_ns",    "gap_children_ns", "forked",        "children", "attached_ns",   "bursts",
};
/* The last one is 1 where credit is "new". */
static const char *const greatest[CHANCE_MOST - 1] = {"lone_ns", "attach_ns", "burst_length_ns",
                                                      "burst_period_ns", "every"};

/* By name: the sums of squares, and the one whose square they go with. */
static bool is_square(const char *name) {
    return strcmp(name, "drawn_squares") == 0 || strncmp(name, "varied", 6) == 0 ||
           strncmp(name, "independent", 11) == 0;
}

static bool is_drawn(const char *name) {
    return strcmp(name, "drawn") == 0;
}

void chance_row_make(const struct profile_process *process, uint64_t sums[CHANCE_SUMS],
                     uint64_t most[CHANCE_MOST]) {
    sums[0] = 1;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(summed); i++)
        sums[1 + i] = process_field_number(process, process_field_find(summed[i]));
    for (size_t i = 0; i < HCCT_ARRAY_LEN(greatest); i++)
        most[i] = process_field_number(process, process_field_find(greatest[i]));
    most[CHANCE_MOST - 1] = strcmp(process->credit, "new") == 0;
}

/* ---- reading ---- */

static double real_at(struct json_object *array, size_t i) {
    double number = json_object_get_double(json_object_array_get_idx(array, i));
    return number > 0 && isfinite(number) ? number : 0;
}

/* Sums of squares may be more than a count holds: all are in a unit that is so much larger. */
static double unit_of(struct json_object *sums) {
    double most = 0, unit = 1;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(summed); i++)
        if (is_square(summed[i]))
            most = fmax(most, real_at(sums, 1 + i));
    while (most / (unit * unit) >= 0x1p63)
        unit *= 2;
    return unit;
}

static uint64_t whole(double number) {
    return number < 0x1p63 ? (uint64_t)(number + 0.5) : UINT64_MAX;
}

static void read_sums(struct json_object *sums, struct profile_process *process) {
    double unit = unit_of(sums);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(summed); i++) {
        double number = real_at(sums, 1 + i);
        if (is_square(summed[i]))
            number /= unit * unit;
        else if (is_drawn(summed[i]))
            number /= unit;
        process_field_set_number(process, process_field_find(summed[i]), whole(number));
    }
}

void chance_row_read(const struct json_object *row, uint64_t pushes,
                     struct profile_process *process) {
    struct json_object *sums = json_in_array(row, "chance"),
                       *most = json_in_array(row, "chance_most");
    if (sums == NULL || most == NULL || pushes == 0 || real_at(sums, 0) < (double)pushes)
        return;
    read_sums(sums, process);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(greatest); i++)
        process_field_set_number(process, process_field_find(greatest[i]),
                                 json_object_get_uint64(json_object_array_get_idx(most, i)));
    if (json_object_get_uint64(json_object_array_get_idx(most, CHANCE_MOST - 1)) > 0)
        process->credit = "new";
    /* rows have it in what was lost, too */
    process->lost_ns -=
        process->gap_children_ns < process->lost_ns ? process->gap_children_ns : process->lost_ns;
}

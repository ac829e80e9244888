/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * span.c - a number and a unit.
 */
#include "client/remote/span.h"

#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX (100.0 * 366 * 86400)

static double unit_of(const char *unit) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].seconds;
    return 0;
}

bool span_parse(const char *text, uint64_t *seconds) {
    char *end;
    double number = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : 0;
    if (number <= 0 || number * unit_of(end) < 1 || number * unit_of(end) > SECONDS_MAX)
        return false;
    *seconds = (uint64_t)(number * unit_of(end));
    return true;
}

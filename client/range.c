/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * range.c - moments are read here, in the local time of who asks.
 */
#include "client/range.h"

#include <inttypes.h>
#include <stdio.h>

#include "client/command.h"
#include "common/base/clock.h"

static bool add(struct query *query, const char *name, const char *text, const char *operand,
                uint64_t now) {
    char seconds[40];
    uint64_t ns;
    if (text == NULL)
        return true;
    if (moment_is_mark(text)) {
        query_add(query, name, text);
        return true;
    }
    if (!moment_parse(text, now, &ns)) {
        if (operand != NULL)
            complain("%s: '%s' is no moment: give " MOMENT_FORMS, operand, text);
        else
            complain("--%s '%s': give " MOMENT_FORMS, name, text);
        return false;
    }
    snprintf(seconds, sizeof seconds, "%" PRIu64 ".%09" PRIu64, ns / CLOCK_SECOND,
             ns % CLOCK_SECOND);
    query_add(query, name, seconds);
    return true;
}

bool range_add(struct query *query, const struct range_options *given, bool rest,
               const char *operand) {
    const uint64_t now = clock_ns(CLOCK_REALTIME);
    if (rest)
        query_add(query, "rest", "1");
    return add(query, "since", given->since, operand, now) &&
           add(query, "until", given->until, operand, now);
}

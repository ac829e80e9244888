/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * moments_test.c - moments as people write them, in a local time, and what is none.
 */
#include <stdlib.h>
#include <time.h>

#include "common/base/moment.h"
#include "tests/check.h"

#define S   1000000000ull
#define DAY (86400 * S)
#define NOW (1795750800ull * S) /* 2026-11-27T03:40:00Z, 04:40 in Berlin */

static void expect(const char *text, uint64_t want) {
    uint64_t got = 0;
    CHECK(moment_parse(text, NOW, &got));
    if (got != want)
        fprintf(stderr, "%s\n", text);
    CHECK_UINT(got, want);
}

static void expect_none(const char *text) {
    uint64_t got;
    if (moment_parse(text, NOW, &got))
        fprintf(stderr, "'%s' is taken for a moment\n", text);
    CHECK(!moment_parse(text, NOW, &got));
}

int main(void) {
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    expect("now", NOW);
    expect("04:40", NOW);
    expect("4:10", NOW - 1800 * S);
    expect("04:10:30", NOW - 1770 * S);
    expect("04:41", NOW - DAY + 60 * S); /* yesterday's */
    expect("23:00", NOW - (5 * 3600 + 40 * 60) * S);
    expect("2026-11-27T04:40", NOW);
    expect("2026-11-27 04:40:01", NOW + S);
    expect("2026-07-01T12:00", 1782900000ull * S); /* in summer time */
    expect("15m", NOW - 900 * S);
    expect("90s", NOW - 90 * S);
    expect("1.5h", NOW - 5400 * S);
    expect("14d", NOW - 14 * DAY);
    expect("0s", NOW);
    expect("1795750000", NOW - 800 * S);
    expect("1795750000.5", NOW - 800 * S + S / 2);
    static const char *const none[] = {"",     "yesterday", "25:00",  "03:60",  "-5m",
                                       "5",    "5m x",      "03:10x", "03:10:", "5y",
                                       "1e99", "nan",       "inf",    "99999d", "12345m7"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        expect_none(none[i]);
    return check_report();
}

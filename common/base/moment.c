/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * moment.c - one form after the other.
 */
#include "common/base/moment.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"

#define EPOCH_LEAST 1e8 /* fewer seconds are no seconds since 1970 that somebody means */
#define AGO_MOST    (400.0 * 86400)

/* ":SS" and the end, or the end. */
static bool read_rest(const char *rest, struct tm *when) {
    if (rest != NULL && *rest == ':')
        rest = strptime(rest, ":%S", when);
    return rest != NULL && *rest == '\0';
}

static bool to_ns(struct tm *when, uint64_t *ns) {
    when->tm_isdst = -1;
    time_t seconds = mktime(when);
    *ns = seconds > 0 ? (uint64_t)seconds * CLOCK_SECOND : 0;
    return seconds > 0;
}

static bool read_day(const char *text, uint64_t *ns) {
    struct tm when = {0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M", &when);
    if (rest == NULL) {
        when = (struct tm){0};
        rest = strptime(text, "%Y-%m-%d %H:%M", &when);
    }
    return read_rest(rest, &when) && to_ns(&when, ns);
}

static bool read_time(const char *text, uint64_t now_ns, uint64_t *ns) {
    time_t now = (time_t)(now_ns / CLOCK_SECOND);
    struct tm when;
    if (localtime_r(&now, &when) == NULL)
        return false;
    when.tm_sec = 0;
    if (!read_rest(strptime(text, "%H:%M", &when), &when) || !to_ns(&when, ns))
        return false;
    if (*ns > now_ns) {
        when.tm_mday--;
        return to_ns(&when, ns);
    }
    return true;
}

static double unit_of(char unit) {
    switch (unit) {
    case 's':
        return 1;
    case 'm':
        return 60;
    case 'h':
        return 3600;
    case 'd':
        return 86400;
    default:
        return 0;
    }
}

static bool read_number(const char *text, uint64_t now_ns, uint64_t *ns) {
    char *end;
    double n = strtod(text, &end), now = (double)now_ns;
    if (end == text || !(n >= 0))
        return false;
    if (*end == '\0' && n >= EPOCH_LEAST && n < 1e10) {
        *ns = (uint64_t)(n * 1e9);
        return true;
    }
    double ago = n * unit_of(*end);
    if (*end == '\0' || end[1] != '\0' || unit_of(*end) == 0 || ago > AGO_MOST || ago * 1e9 > now)
        return false;
    *ns = now_ns - (uint64_t)(ago * 1e9);
    return true;
}

bool moment_parse(const char *text, uint64_t now_ns, uint64_t *ns) {
    if (strcmp(text, "now") == 0) {
        *ns = now_ns;
        return true;
    }
    return read_day(text, ns) || read_time(text, now_ns, ns) || read_number(text, now_ns, ns);
}

bool moment_is_mark(const char *text) {
    unsigned char first = (unsigned char)text[0];
    return first > ' ' && strchr("0123456789.+-:", first) == NULL && strcmp(text, "now") != 0;
}

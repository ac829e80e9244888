/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * burst.c - digits and units by hand: the agent has no use for libc's locale.
 */
#include "common/wire/burst.h"

#include <stddef.h>
#include <string.h>

#include "common/wire/compiler.h"
#include "common/wire/percent.h"

static const char *duration(const char *p, uint64_t *ns) {
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    const char *first = p;
    uint64_t n = 0;
    for (; *p >= '0' && *p <= '9' && n < 1000000000; p++)
        n = n * 10 + (uint64_t)(*p - '0');
    for (size_t i = 0; p > first && i < HCCT_ARRAY_LEN(units); i++) {
        size_t length = strlen(units[i].name);
        if (strncmp(p, units[i].name, length) == 0) {
            *ns = n * units[i].ns;
            return p + length;
        }
    }
    return NULL;
}

/* What follows; NULL: there is none. */
static const char *lengths(const char *text, uint64_t *length_ns, uint64_t *period_ns) {
    const char *p = duration(text, length_ns);
    if (p == NULL || *p != '/')
        return NULL;
    p = duration(p + 1, period_ns);
    return p == NULL || *length_ns < BURST_LENGTH_MIN_NS || *length_ns > *period_ns ||
                   *period_ns > BURST_PERIOD_MAX_NS
               ? NULL
               : p;
}

static bool adaptive(const char *text, uint32_t *error_ppm) {
    static const char word[] = ",adaptive";
    *error_ppm = 0;
    if (*text == '\0')
        return true;
    *error_ppm = BURST_ERROR_PPM;
    if (strncmp(text, word, sizeof word - 1) != 0)
        return false;
    text += sizeof word - 1;
    return *text == '\0' || (*text == '=' && percent_parse(text + 1, error_ppm));
}

bool burst_parse_adaptive(const char *text, uint64_t *length_ns, uint64_t *period_ns,
                          uint32_t *error_ppm) {
    uint64_t length, period;
    uint32_t ppm;
    const char *rest = lengths(text, &length, &period);
    if (rest == NULL || !adaptive(rest, &ppm))
        return false;
    *length_ns = length;
    *period_ns = period;
    *error_ppm = ppm;
    return true;
}

bool burst_parse(const char *text, uint64_t *length_ns, uint64_t *period_ns) {
    uint64_t length, period;
    const char *rest = lengths(text, &length, &period);
    if (rest == NULL || *rest != '\0')
        return false;
    *length_ns = length;
    *period_ns = period;
    return true;
}

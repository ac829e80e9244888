/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * burst.c - digits and units by hand: the agent has no use for libc's locale.
 */
#include "common/wire/burst.h"

#include <stddef.h>
#include <string.h>

#include "common/wire/compiler.h"

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

bool burst_parse(const char *text, uint64_t *length_ns, uint64_t *period_ns) {
    uint64_t length, period;
    const char *p = duration(text, &length);
    if (p == NULL || *p != '/')
        return false;
    p = duration(p + 1, &period);
    if (p == NULL || *p != '\0' || length < BURST_LENGTH_MIN_NS || length > period ||
        period > BURST_PERIOD_MAX_NS)
        return false;
    *length_ns = length;
    *period_ns = period;
    return true;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * percent.c - digits by hand: the agent has no use for libc's locale.
 */
#include "common/wire/percent.h"

bool percent_parse(const char *text, uint32_t *ppm) {
    const char *first = text;
    uint32_t value = 0, unit = PERCENT_PPM;
    for (; *text >= '0' && *text <= '9' && value <= 100 * PERCENT_PPM; text++)
        value = value * 10 + (uint32_t)(*text - '0') * PERCENT_PPM;
    if (text == first)
        return false;
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9' && unit > 1; text++)
            value += (uint32_t)(*text - '0') * (unit /= 10);
    if (*text == '%')
        text++;
    if (*text != '\0' || value < PERCENT_MIN_PPM || value > PERCENT_MAX_PPM)
        return false;
    *ppm = value;
    return true;
}

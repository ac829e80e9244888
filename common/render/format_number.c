/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * format_number.c - numbers as text for people.
 */
#include "common/render/format_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/wire/compiler.h"

struct formatted format_count(uint64_t n) {
    struct formatted formatted;
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n), used = 0;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            formatted.text[used++] = ',';
        formatted.text[used++] = digits[i];
    }
    formatted.text[used] = '\0';
    return formatted;
}

struct formatted format_time(uint64_t ns) {
    double seconds = (double)ns / 1e9;
    struct formatted formatted;
    char *text = formatted.text;

    if (seconds >= 7200)
        snprintf(text, sizeof formatted.text, "%" PRIu64 " h %02u min", ns / 3600000000000u,
                 (unsigned)(ns / 60000000000u % 60));
    else if (seconds >= 600)
        snprintf(text, sizeof formatted.text, "%" PRIu64 " min %02u s", ns / 60000000000u,
                 (unsigned)(ns / 1000000000u % 60));
    else if (seconds >= 100)
        snprintf(text, sizeof formatted.text, "%.1f s", seconds);
    else if (seconds >= 1)
        snprintf(text, sizeof formatted.text, "%.2f s", seconds);
    else if (seconds >= 1e-3)
        snprintf(text, sizeof formatted.text, "%.1f ms", seconds * 1e3);
    else if (seconds >= 1e-6)
        snprintf(text, sizeof formatted.text, "%.1f us", seconds * 1e6);
    else
        snprintf(text, sizeof formatted.text, "%" PRIu64 " ns", ns);
    return formatted;
}

struct formatted format_bytes(uint64_t bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    struct formatted formatted;
    size_t unit = 0;

    if (bytes < 1024) {
        snprintf(formatted.text, sizeof formatted.text, "%" PRIu64 " bytes", bytes);
        return formatted;
    }
    for (; value >= 1024 && unit + 1 < HCCT_ARRAY_LEN(units); unit++)
        value /= 1024;
    snprintf(formatted.text, sizeof formatted.text, value < 10 ? "%.2f %s" : "%.1f %s", value,
             units[unit]);
    return formatted;
}

static const struct unit {
    const char *name;
    uint64_t ns; /* 0: not a time */
} units_known[] = {
    {"nanoseconds", 1},
    {"microseconds", 1000},
    {"milliseconds", 1000000},
    {"seconds", 1000000000},
};

static uint64_t unit_ns(const char *name) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(units_known); i++)
        if (strcmp(units_known[i].name, name) == 0)
            return units_known[i].ns;
    return 0;
}

struct formatted format_weight(const struct profile *profile, uint64_t weight) {
    uint64_t ns = unit_ns(profile->unit), scaled;

    if (ns > 0 && !__builtin_mul_overflow(weight, ns, &scaled))
        return format_time(scaled);
    if (strcmp(profile->unit, "bytes") == 0)
        return format_bytes(weight);
    return format_count(weight);
}

/* Of events, as other tools call them, too. */
static const struct {
    const char *type, *words;
} types_known[] = {
    {"alloc_space", "allocated"},
    {"alloc_objects", "blocks allocated"},
    {"inuse_space", "allocated and not freed"},
    {"inuse_objects", "blocks allocated and not freed"},
    {"delay", "waited for locks"},
    {"contentions", "waits for locks"},
    {"held_delay", "of others' waiting for locks"},
    {"faults", "page faults"},
};

const char *format_type(const struct profile *profile, uint64_t weight) {
    if (strcmp(profile->type, "cpu") == 0 && unit_ns(profile->unit) > 0)
        return "of CPU time";
    if (strcmp(profile->type, "wall") == 0 && unit_ns(profile->unit) > 0)
        return "of wall-clock time";
    if (strcmp(profile->type, "wait") == 0 && unit_ns(profile->unit) > 0)
        return "off the processor";
    if (weight == 1 && profile_of_calls(profile))
        return "call";
    for (size_t i = 0; i < HCCT_ARRAY_LEN(types_known); i++)
        if (strcmp(profile->type, types_known[i].type) == 0)
            return types_known[i].words;
    return *profile->type != '\0' ? profile->type : profile->unit;
}

struct formatted format_estimate(double n) {
    struct formatted formatted, count;
    double step = n >= 1000 ? pow(10, floor(log10(n)) - 2) : 1;
    double rounded = round(n / step) * step;

    if (!(rounded < 1e18)) {
        snprintf(formatted.text, sizeof formatted.text, "about %.2e", n);
        return formatted;
    }
    count = format_count((uint64_t)(rounded > 0 ? rounded : 0));
    snprintf(formatted.text, sizeof formatted.text, "about %.32s", count.text);
    return formatted;
}

struct formatted format_share(double share) {
    double percent = share * 100;
    struct formatted formatted;
    int decimals = 1;

    if (percent > 0 && percent < 1)
        decimals = 1 - (int)floor(log10(percent));
    if (decimals > 6)
        snprintf(formatted.text, sizeof formatted.text, "%.1e %%", percent);
    else
        snprintf(formatted.text, sizeof formatted.text, "%.*f %%", decimals, percent);
    return formatted;
}

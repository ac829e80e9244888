/*
 * checkpoint_fields.c - members by name; the agent's counters by their place in wire.h, where they
 * are only ever appended.
 */
#include "daemon/state/checkpoint_fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/compiler.h"
#include "common/wire/tags.h"

static const struct field {
    const char *name;
    size_t offset, bytes; /* of an unsigned number, or a bool */
} fields[] = {
#define FIELD(member)                                                                              \
    {                                                                                              \
#member, offsetof(struct checkpoint_about, member),                                        \
            sizeof(((struct checkpoint_about *)NULL)->member)                                      \
    }
/* A member that files know by another name than the code does. */
#define NAMED(text, member)                                                                        \
    {                                                                                              \
        text, offsetof(struct checkpoint_about, member),                                           \
            sizeof(((struct checkpoint_about *)NULL)->member)                                      \
    }
    FIELD(pid),
    FIELD(uid),
    FIELD(runs),
    FIELD(threads_open),
    FIELD(live),
    FIELD(linked),
    FIELD(identity.start_ticks),
    FIELD(identity.exe_device),
    FIELD(identity.exe_inode),
    FIELD(since_ns),
    FIELD(duration_ns),
    FIELD(sampling.rate),
    FIELD(sampling.clock),
    FIELD(sampling.burst_length_ns),
    FIELD(sampling.burst_period_ns),
    FIELD(sampling.collector),
    FIELD(sampling.every),
    FIELD(sampling.every_each),
    FIELD(sampling.credit),
    FIELD(stats.cpu_ns),
    FIELD(stats.threads),
    FIELD(stats.slots_missing),
    FIELD(stats.slots_refused),
    FIELD(stats.rate_changes),
    FIELD(stats.modules_missing),
    FIELD(stats.timers_missing),
    FIELD(stats.broken),
    FIELD(stats.rate),
    FIELD(stats.burst_length_ns),
    FIELD(stats.burst_period_ns),
    FIELD(stats.off),
    FIELD(stats.perf_refused),
    FIELD(stats.fine_refused),
    FIELD(stats.confined),
    NAMED("stats.ships.credited", stats.deferred.credited),
    NAMED("stats.ships.complete", stats.deferred.complete),
    NAMED("stats.ships.truncated", stats.deferred.truncated),
    NAMED("stats.ships.no_module", stats.deferred.no_module),
    NAMED("stats.ships.no_rule", stats.deferred.no_rule),
    NAMED("stats.ships.bad_stack", stats.deferred.bad_stack),
    NAMED("stats.ships.short_copy", stats.deferred.short_copy),
    NAMED("stats.ships.refused", stats.deferred.refused),
    FIELD(stats.draws.weight),
    FIELD(stats.draws.squares),
    FIELD(stats.scatter.varied[0]),
    FIELD(stats.scatter.independent[0]),
    FIELD(stats.scatter.varied[1]),
    FIELD(stats.scatter.independent[1]),
    FIELD(stats.scatter.varied[2]),
    FIELD(stats.scatter.independent[2]),
    FIELD(stats.scatter.varied[3]),
    FIELD(stats.scatter.independent[3]),
    FIELD(stats.scatter.total),
    FIELD(stats.restarts),
    FIELD(stats.unfinished),
    FIELD(stats.gap_ns),
    FIELD(tree.total),
    FIELD(tree.updates),
    FIELD(tree.unseen),
    FIELD(tree.capped),
};

static const char counter_name[] = "counter.";

/* ---- writing ---- */

static uint64_t get(const struct checkpoint_about *about, const struct field *field) {
    uint64_t number = 0; /* machines are little-endian here (checkpoint_format.h) */
    memcpy(&number, (const char *)about + field->offset, field->bytes);
    return number;
}

static void put(FILE *out, const char *name, uint64_t number) {
    if (number != 0)
        fprintf(out, "%s%c%" PRIu64 "%c", name, '\0', number, '\0');
}

static void put_all(FILE *out, const struct checkpoint_about *about) {
    char name[32];
    fprintf(out, "exe%c%s%c", '\0', about->exe, '\0');
    if (about->command != NULL)
        fprintf(out, "command%c%s%c", '\0', about->command, '\0');
    if (about->tags != NULL)
        fprintf(out, "tags%c%s%c", '\0', about->tags, '\0');
    if (about->call_modules != NULL)
        fprintf(out, "call_modules%c%s%c", '\0', about->call_modules, '\0');
    for (size_t i = 0; i < HCCT_ARRAY_LEN(fields); i++)
        put(out, fields[i].name, get(about, &fields[i]));
    for (unsigned i = 0; i < WIRE_COUNTERS; i++) {
        snprintf(name, sizeof name, "%s%u", counter_name, i);
        put(out, name, about->stats.counter[i]);
    }
}

uint32_t *checkpoint_fields_write(const struct checkpoint_about *about, size_t *words) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL)
        return NULL;
    put_all(out, about);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    *words = (bytes + 3) / 4;
    uint32_t *filled = calloc(*words, 4);
    if (filled != NULL)
        memcpy(filled, text, bytes);
    free(text);
    return filled;
}

/* ---- reading ---- */

static bool read_number(const char *text, uint64_t *number) {
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

static bool set(struct checkpoint_about *about, const struct field *field, uint64_t number) {
    if (field->bytes < 8 && number >> 8 * field->bytes != 0)
        return false;
    if (field->bytes == sizeof(bool) && number > 1)
        return false;
    memcpy((char *)about + field->offset, &number, field->bytes);
    return true;
}

static bool set_counter(struct checkpoint_about *about, const char *name, uint64_t number) {
    uint64_t i;
    if (!read_number(name + strlen(counter_name), &i))
        return false;
    if (i < WIRE_COUNTERS) /* else a later version's */
        about->stats.counter[i] = number;
    return true;
}

static bool take(struct checkpoint_about *about, const char *name, const char *value) {
    uint64_t number;
    if (strcmp(name, "exe") == 0) {
        about->exe = value;
        return true;
    }
    if (strcmp(name, "command") == 0) {
        about->command = value;
        return true;
    }
    if (strcmp(name, "tags") == 0) {
        about->tags = value;
        return tags_check(value);
    }
    if (strcmp(name, "call_modules") == 0) {
        about->call_modules = value;
        return true;
    }
    if (!read_number(value, &number))
        return false;
    if (strncmp(name, counter_name, strlen(counter_name)) == 0)
        return set_counter(about, name, number);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(fields); i++)
        if (strcmp(name, fields[i].name) == 0)
            return set(about, &fields[i], number);
    return true;
}

bool checkpoint_fields_read(struct checkpoint_about *about, const char *text, size_t bytes) {
    const char *end = text + bytes;
    *about = (struct checkpoint_about){0};
    while (text < end && *text != '\0') {
        const char *name_end = memchr(text, '\0', (size_t)(end - text));
        const char *value = name_end != NULL ? name_end + 1 : end;
        const char *value_end = value < end ? memchr(value, '\0', (size_t)(end - value)) : NULL;
        if (value_end == NULL || !take(about, text, value))
            return false;
        text = value_end + 1;
    }
    return about->exe != NULL;
}

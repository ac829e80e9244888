/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * checkpoint_fields.c - members by name; the agent's counters by their place in wire.h, where they
 * are only ever appended.
 */
#include "daemon/state/checkpoint_fields.h"

#include <stdio.h>
#include <string.h>

#include "common/trace/field_text.h"
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
#define COUNTER(member, ...) FIELD(stats.member),
#define DEFERRED(member)     NAMED("stats.ships." #member, stats.deferred.member),
    FIELD(pid),
    FIELD(uid),
    FIELD(runs),
    FIELD(threads_open),
    FIELD(live),
    FIELD(linked),
    FIELD(identity.start_ticks),
    FIELD(identity.exe_device),
    FIELD(identity.exe_inode),
    FIELD(family.parent),
    FIELD(family.own_ns),
    FIELD(family.children_ns),
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
    FIELD(sampling.budget_ppm),
    FIELD(sampling.place),
    FIELD(sampling.places),
    FIELD(sampling.alone),
    FIELD(stats.cpu_ns),
    FIELD(stats.threads),
    FIRST_PROCESS_COUNTERS(COUNTER) /* common/wire/counters.h */
    FIELD(stats.broken),
    FIELD(stats.rate),
    FIELD(stats.burst_length_ns),
    FIELD(stats.burst_period_ns),
    FIELD(stats.off),
    LATER_PROCESS_COUNTERS(COUNTER) /* the same */
    NAMED("stats.ships.credited", stats.deferred.credited),
    DEFERRED_COUNTERS(DEFERRED) /* process_stats.h */
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
    FIELD(stats.scatter.attached),
    FIELD(stats.scatter.lone),
    FIELD(stats.reading_ns),
    FIELD(stats.bursts.weight),
    FIELD(stats.bursts.squares),
    FIELD(stats.bursts.spread),
    FIELD(stats.bursts.crossed),
    FIELD(stats.restarts),
    FIELD(stats.unfinished),
    FIELD(stats.gap_ns),
    FIELD(stats.gap_children_ns),
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

static void put_all(FILE *out, const void *arg) {
    const struct checkpoint_about *about = arg;
    char name[32];
    field_text_put(out, "exe", about->exe);
    if (about->command != NULL)
        field_text_put(out, "command", about->command);
    if (about->tags != NULL)
        field_text_put(out, "tags", about->tags);
    if (about->call_modules != NULL)
        field_text_put(out, "call_modules", about->call_modules);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(fields); i++)
        field_text_put_number(out, fields[i].name, get(about, &fields[i]));
    for (unsigned i = 0; i < WIRE_COUNTERS; i++) {
        snprintf(name, sizeof name, "%s%u", counter_name, i);
        field_text_put_number(out, name, about->stats.counter[i]);
    }
}

uint32_t *checkpoint_fields_write(const struct checkpoint_about *about, size_t *words) {
    return field_text_write(put_all, about, words);
}

/* ---- reading ---- */

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
    if (!field_text_number(name + strlen(counter_name), &i))
        return false;
    if (i < WIRE_COUNTERS) /* else a later version's */
        about->stats.counter[i] = number;
    return true;
}

static bool take(void *arg, const char *name, const char *value) {
    struct checkpoint_about *about = arg;
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
    if (!field_text_number(value, &number))
        return false;
    if (strncmp(name, counter_name, strlen(counter_name)) == 0)
        return set_counter(about, name, number);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(fields); i++)
        if (strcmp(name, fields[i].name) == 0)
            return set(about, &fields[i], number);
    return true;
}

bool checkpoint_fields_read(struct checkpoint_about *about, const char *text, size_t bytes) {
    *about = (struct checkpoint_about){0};
    return field_text_read(text, bytes, take, about) && about->exe != NULL;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * process_fields.c - the members of struct profile_process by name.
 */
#include "common/profile/process_fields.h"

#include <string.h>

#define NAMED(name, member, kind, over)                                                            \
    { name, FIELD_##kind, FIELD_##over, offsetof(struct profile_process, member) }

#define FIELD(member, kind, over) NAMED(#member, member, kind, over)

#define OF_CLASS(name, member, of)                                                                 \
    { #name, FIELD_U64, FIELD_SUM, offsetof(struct profile_process, member[of]) }

/* The lists of counters.h. */
#define OF_AGENT(NAME, place, member, over) FIELD(member, U64, over),
#define OF_DAEMON(member, name, over)       NAMED(name, member, U64, over),
#define OF_SHOWN(member)                    FIELD(member, U64, SUM),
#define OF_GROWN(member)                    FIELD(member, U64, GROWS),
#define OF_HIDDEN(member)
#define OF_PROCESS(member, by, shown, ...) OF_##shown(member)
#define OF_RESTART(member, type)           FIELD(member, U64, GROWS),

const struct process_field process_fields[] = {
    FIELD(command, STRING, SAME),
    FIELD(exe, STRING, SAME),
    FIELD(tags, STRING, SAME),
    FIELD(pid, U32, SUM),
    FIELD(runs, U32, SUM),
    FIELD(live, BOOL, SUM),
    FIELD(threads, U32, SUM),
    FIELD(total, U64, SUM),
    FIELD(cpu_ns, U64, GROWS),
    FIELD(clock, STRING, SAME),
    FIELD(burst_length_ns, U64, SAME),
    FIELD(burst_period_ns, U64, SAME),
    FIELD(collector, STRING, SAME),
    FIELD(lines, BOOL, SUM),
    FIELD(every, U64, SAME),
    FIELD(every_each, BOOL, SAME),
    FIELD(credit, STRING, SAME),
    FIELD(budget_ppm, U64, SAME),
    FIELD(call_modules, STRING, SUM),
    THREAD_COUNTERS(OF_AGENT, NO_COUNTER, OF_DAEMON) /* seen_ns and so on */
    FIELD(drawn, U64, SUM),
    FIELD(drawn_squares, U64, SUM),
    FIELD(varied_total, U64, SUM),
    OF_CLASS(varied_1, varied, 0),
    OF_CLASS(independent_1, independent, 0),
    OF_CLASS(varied_2, varied, 1),
    OF_CLASS(independent_2, independent, 1),
    OF_CLASS(varied_3, varied, 2),
    OF_CLASS(independent_3, independent, 2),
    OF_CLASS(varied_4, varied, 3),
    OF_CLASS(independent_4, independent, 3),
    PROCESS_COUNTERS(OF_PROCESS) /* rate_changes and so on */
    FIELD(attached_ns, U64, GROWS),
    FIELD(attach_ns, U64, MOST),
    FIELD(lone_ns, U64, MOST),
    RESTART_COUNTERS(OF_RESTART) /* restarts and so on */
    FIELD(contexts, U64, SUM),
    FIELD(monitored, U64, SUM),
    FIELD(unseen, U64, SUM),
    FIELD(bytes, U64, SUM),
    FIELD(capped, U64, SUM),
    {NULL, 0, 0, 0},
};

const struct process_field *process_field_find(const char *name) {
    for (const struct process_field *field = process_fields; field->name != NULL; field++)
        if (strcmp(field->name, name) == 0)
            return field;
    return NULL;
}

static const void *member(const struct profile_process *process,
                          const struct process_field *field) {
    return (const char *)process + field->offset;
}

const char *process_field_string(const struct profile_process *process,
                                 const struct process_field *field) {
    const char *string;
    memcpy(&string, member(process, field), sizeof string);
    return string;
}

uint64_t process_field_number(const struct profile_process *process,
                              const struct process_field *field) {
    const void *at = member(process, field);
    switch (field->kind) {
    case FIELD_BOOL:
        return *(const bool *)at;
    case FIELD_U32:
        return *(const uint32_t *)at;
    case FIELD_U64:
        return *(const uint64_t *)at;
    case FIELD_STRING:
        break;
    }
    return 0;
}

void process_field_set_number(struct profile_process *process, const struct process_field *field,
                              uint64_t number) {
    void *at = (char *)process + field->offset;
    if (field->kind == FIELD_BOOL)
        *(bool *)at = number != 0;
    else if (field->kind == FIELD_U32)
        *(uint32_t *)at = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
    else if (field->kind == FIELD_U64)
        *(uint64_t *)at = number;
}

void process_field_set_string(struct profile_process *process, const struct process_field *field,
                              const char *string) {
    if (field->kind == FIELD_STRING)
        memcpy((char *)process + field->offset, &string, sizeof string);
}

static void add_number(struct profile_process *sum, const struct process_field *field,
                       uint64_t more) {
    uint64_t so_far = process_field_number(sum, field), total;
    if (field->over == FIELD_MOST)
        total = so_far > more ? so_far : more;
    else if (__builtin_add_overflow(so_far, more, &total))
        total = UINT64_MAX;
    process_field_set_number(sum, field, total);
}

void process_fields_add(struct profile_process *sum, const struct profile_process *process) {
    for (const struct process_field *field = process_fields; field->name != NULL; field++)
        if (field->over != FIELD_SAME)
            add_number(sum, field, process_field_number(process, field));
}

struct profile_process process_fields_sum(const struct profile *profile) {
    struct profile_process sum = {0};

    for (uint32_t i = 1; i < profile->n_processes; i++)
        process_fields_add(&sum, &profile->processes[i]);
    sum.unseen = 0;
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (profile->processes[i].unseen > sum.unseen)
            sum.unseen = profile->processes[i].unseen;
    return sum;
}

void process_fields_subtract(struct profile_process *end, const struct profile_process *start) {
    for (const struct process_field *field = process_fields; field->name != NULL; field++) {
        uint64_t then = process_field_number(start, field), now = process_field_number(end, field);
        if (field->over == FIELD_GROWS)
            process_field_set_number(end, field, now > then ? now - then : 0);
    }
}

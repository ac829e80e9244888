/*
 * process_fields.c - the members of struct profile_process by name.
 */
#include "common/profile/process_fields.h"

#include <string.h>

#define FIELD(member, field_kind)                                                                  \
    { #member, field_kind, offsetof(struct profile_process, member) }

#define OF_CLASS(name, member, of)                                                                 \
    { #name, FIELD_U64, offsetof(struct profile_process, member[of]) }

const struct process_field process_fields[] = {
    FIELD(command, FIELD_STRING),
    FIELD(exe, FIELD_STRING),
    FIELD(tags, FIELD_STRING),
    FIELD(pid, FIELD_U32),
    FIELD(runs, FIELD_U32),
    FIELD(live, FIELD_BOOL),
    FIELD(threads, FIELD_U32),
    FIELD(total, FIELD_U64),
    FIELD(cpu_ns, FIELD_U64),
    FIELD(clock, FIELD_STRING),
    FIELD(burst_length_ns, FIELD_U64),
    FIELD(burst_period_ns, FIELD_U64),
    FIELD(collector, FIELD_STRING),
    FIELD(lines, FIELD_BOOL),
    FIELD(every, FIELD_U64),
    FIELD(every_each, FIELD_BOOL),
    FIELD(credit, FIELD_STRING),
    FIELD(call_modules, FIELD_STRING),
    FIELD(seen_ns, FIELD_U64),
    FIELD(cpu_burst_ns, FIELD_U64),
    FIELD(waits, FIELD_U64),
    FIELD(jumped, FIELD_U64),
    FIELD(stray, FIELD_U64),
    FIELD(walks, FIELD_U64),
    FIELD(complete, FIELD_U64),
    FIELD(truncated, FIELD_U64),
    FIELD(no_module, FIELD_U64),
    FIELD(no_rule, FIELD_U64),
    FIELD(bad_stack, FIELD_U64),
    FIELD(short_copy, FIELD_U64),
    FIELD(shipped, FIELD_U64),
    FIELD(refused, FIELD_U64),
    FIELD(lost, FIELD_U64),
    FIELD(lost_ns, FIELD_U64),
    FIELD(skipped, FIELD_U64),
    FIELD(handler_ns, FIELD_U64),
    FIELD(frames, FIELD_U64),
    FIELD(stepped, FIELD_U64),
    FIELD(cached, FIELD_U64),
    FIELD(by_fp, FIELD_U64),
    FIELD(searched, FIELD_U64),
    FIELD(bursts, FIELD_U64),
    FIELD(asleep, FIELD_U64),
    FIELD(restarted, FIELD_U64),
    FIELD(checked, FIELD_U64),
    FIELD(different, FIELD_U64),
    FIELD(identifiers, FIELD_U64),
    FIELD(ambiguous, FIELD_U64),
    FIELD(recurred, FIELD_U64),
    FIELD(identified, FIELD_U64),
    FIELD(drawn, FIELD_U64),
    FIELD(drawn_squares, FIELD_U64),
    FIELD(varied_total, FIELD_U64),
    OF_CLASS(varied_1, varied, 0),
    OF_CLASS(independent_1, independent, 0),
    OF_CLASS(varied_2, varied, 1),
    OF_CLASS(independent_2, independent, 1),
    OF_CLASS(varied_3, varied, 2),
    OF_CLASS(independent_3, independent, 2),
    OF_CLASS(varied_4, varied, 3),
    OF_CLASS(independent_4, independent, 3),
    FIELD(rate_changes, FIELD_U64),
    FIELD(perf_refused, FIELD_U64),
    FIELD(fine_refused, FIELD_U64),
    FIELD(confined, FIELD_U64),
    FIELD(restarts, FIELD_U64),
    FIELD(gap_ns, FIELD_U64),
    FIELD(unfinished, FIELD_U64),
    FIELD(contexts, FIELD_U64),
    FIELD(monitored, FIELD_U64),
    FIELD(unseen, FIELD_U64),
    FIELD(bytes, FIELD_U64),
    FIELD(capped, FIELD_U64),
    {NULL, 0, 0},
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

    memcpy(&string, member(process, field), sizeof(string));
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
        memcpy((char *)process + field->offset, &string, sizeof(string));
}

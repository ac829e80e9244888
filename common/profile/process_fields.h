/*
 * process_fields.h - the members of struct profile_process as a table, for the writers and readers
 * that name them.
 */
#ifndef HCCT_PROCESS_FIELDS_H
#define HCCT_PROCESS_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

enum field_kind { FIELD_STRING, FIELD_BOOL, FIELD_U32, FIELD_U64 };

struct process_field {
    const char *name;
    enum field_kind kind;
    size_t offset;
};

extern const struct process_field process_fields[]; /* ended by an entry without a name */

/* NULL: no field has that name. */
const struct process_field *process_field_find(const char *name);

const char *process_field_string(const struct profile_process *process,
                                 const struct process_field *field);
/* For all kinds but strings. */
uint64_t process_field_number(const struct profile_process *process,
                              const struct process_field *field);
void process_field_set_number(struct profile_process *process, const struct process_field *field,
                              uint64_t number);
void process_field_set_string(struct profile_process *process, const struct process_field *field,
                              const char *string);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
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

/* What becomes of a field where several processes, or several moments of one, come together. */
enum field_over {
    FIELD_SAME,  /* it must be equal in processes that are added up */
    FIELD_SUM,   /* it is added up */
    FIELD_MOST,  /* the greatest is that of all */
    FIELD_GROWS, /* it is added up, and a difference of two moments has what came between them */
};

struct process_field {
    const char *name;
    enum field_kind kind;
    enum field_over over;
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

/* Adds the numbers of `process` to those of `sum`, but for those that must be the same; none goes
 * beyond the largest there is. */
void process_fields_add(struct profile_process *sum, const struct profile_process *process);
/* The numbers of all processes of a profile; `unseen`, a bound for each of its own, is the largest,
 * which holds for all. */
struct profile_process process_fields_sum(const struct profile *profile);
/* Of what grows, `end` has what came since `start`. */
void process_fields_subtract(struct profile_process *end, const struct profile_process *start);

#endif

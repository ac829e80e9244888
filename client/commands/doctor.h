/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * doctor.h - what works here, and where it does not, why and what helps: findings in groups.
 */
#ifndef HCCT_DOCTOR_H
#define HCCT_DOCTOR_H

#include <stddef.h>

enum finding_kind {
    FINDING_OK,
    FINDING_NOTE,    /* all works, something could be better */
    FINDING_PROBLEM, /* programs can't be profiled */
    FINDING_KINDS
};

struct finding {
    enum finding_kind kind;
    char text[1024]; /* a sentence without its full stop; where it is not ok, with the cure */
};

/* Sets a finding. */
void finding_set(struct finding *finding, enum finding_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints its line. */
void finding_print(const char *name, const struct finding *finding);

struct check {
    const char *name;
    void (*run)(struct finding *finding, const char *program);
};

/* Each ended by an entry without a name. */
extern const struct check doctor_machine[]; /* kernel, libc, limits; `program` is not examined */
extern const struct check doctor_parts[];   /* agent, daemon, a trial of both together */
extern const struct check
    doctor_program[]; /* of a command: will it load the agent, what is known */

/* Of a process that runs: can it be attached to. */
enum finding_kind doctor_process(int pid);

/* Prints what calls there are in the modules of a command, a line each. */
void doctor_calls(const char *program);

#endif

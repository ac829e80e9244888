/*
 * freeze.h - from live trees to a neutral profile: the (phi, eps)-HCCT of one or more processes.
 *
 * A tree's node is a (routine, call site in its caller); a profile's node is a place in the code.
 * So the call site that a child names becomes its parent's place, and a routine's own weight stands
 * at its entry: see freeze.c.
 */
#ifndef HCCT_FREEZE_H
#define HCCT_FREEZE_H

#include <stddef.h>

#include "daemon/ingest/process.h"
#include "daemon/report/profile.h"

struct freeze_params {
    double phi;     /* contexts with less than floor(phi * N) are summed up in "[~]" frames */
    double epsilon; /* as the daemon runs with, for the record */
    const char *summary;
};

/* The profile of these processes, symbols not resolved. N in `phi` is that of all of them together.
 * *module_of, malloc'ed, maps the profile's module indices to module ids (code/module.h). */
struct profile *freeze(struct process *const *processes, size_t n,
                       const struct freeze_params *params, uint32_t **module_of);

#endif

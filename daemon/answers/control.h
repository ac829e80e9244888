/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * control.h - POST /v1/control: on, off, another rate, other bursts, while the program runs.
 */
#ifndef HCCT_CONTROL_H
#define HCCT_CONTROL_H

#include "daemon/answers/query.h"

/* What is to change. */
struct control {
    bool has_state, on;
    bool has_rate;
    uint32_t rate; /* samples per second of CPU time */
    bool has_burst;
    uint64_t burst_length_ns, burst_period_ns; /* 0, 0: none */
};

/* Sets one parameter by its name in the URL. False: it is none of control's. *status is QUERY_BAD
 * when its value can't be. */
bool control_set(struct control *control, const char *name, const char *value,
                 enum query_status *status, struct query_error *error);

/* Changes the live process query->pid as wanted, and writes what is set now, as JSON. Its threads
 * follow at their next tick. QUERY_BAD: something can't be changed, and nothing was. */
enum query_status control_apply(const struct query *query, const struct control *control, FILE *out,
                                struct query_error *error);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * record_options.h - the command line of `hcct record`.
 */
#ifndef HCCT_RECORD_OPTIONS_H
#define HCCT_RECORD_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "client/view.h"
#include "common/wire/metric.h"

/* Strings are NULL and numbers 0 when not given, but for what record_options_parse() says. */
struct record_options {
    const char *socket, *burst, *clock;     /* burst: short ones where there is a budget */
    const char *budget;                     /* percent.h */
    const char *collector, *every, *credit; /* collector: HCCT_COLLECTOR counts, too */
    const char *metric;                     /* a list (metric.h); HCCT_METRICS counts, too */
    const char *modules;                    /* call_choice.h; HCCT_MODULES counts, too */
    uint64_t memory_limit;                  /* bytes, 0: the daemon's default */
    const char *summary, *trace, *tags;
    const char *process;  /* one that runs already, NULL: a command is run */
    pid_t pid;            /* its number */
    const char *duration; /* with pid */
    double seconds;       /* what it comes to; 0: until its end */
    unsigned rate;        /* 1000 when not given, 0 where the agent decides */
    double epsilon;
    bool no_report, no_follow, check, open;
    bool python;
    bool no_runtime_names; /* runtime_names.h */
    bool threads;          /* --by thread asks for them, too */
    bool lines;            /* --by line asks for them, too */
    struct view_options view;
};

/* As options_parse(). */
void record_options_parse(int argc, char **argv, struct record_options *options, int *rest);

/* False: a value can't be, or two contradict each other; complained. */
bool record_options_agree(const struct record_options *options);

/* What --metric asks for, in its order; without it the one metric of time. Options that agree. */
void record_metrics(const struct record_options *options, struct metric_list *list);
/* The collector of the one that is sampled by time, else of the first one (metric.h). */
unsigned record_metric(const struct record_options *options);
/* Some of them is of that kind (wire.h). */
bool record_has(const struct record_options *options, bool (*kind)(uint32_t collector));
/* Time off the processor is sampled. */
bool record_samples_waits(const struct record_options *options);
/* Stacks are sampled, and contexts found by the calls that are open (encode). */
bool record_keeps_calls(const struct record_options *options);
/* Calls are counted, stacks are not walked. */
bool record_counts_calls(const struct record_options *options);

#endif

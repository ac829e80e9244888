/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * settings.h - what the user can say to the agent, by environment variables.
 *
 *   HCCT_SOCKET   where the daemon listens                     see common/wire/paths.h
 *   HCCT_RATE     samples per second of CPU time, 1 to 10000   100; in a burst 5000
 *   HCCT_BURST    LENGTH/PERIOD of CPU time, such as           no bursts
 *                 2ms/20ms (us, ms or s); calls: with
 *                 ,adaptive=5% fewer, up to that error
 *   HCCT_CLOCK    cpu; wall: sleeping threads too              cpu
 *   HCCT_COLLECTOR walks; encode: walks, but for what the       walks
 *                 thread's own record of open calls tells;
 *                 calls: of programs built with
 *                 -finstrument-functions
 *   HCCT_METRICS  what is sampled (common/wire/metric.h),      as HCCT_COLLECTOR says
 *                 with commas in between: cpu,heap,lock
 *   HCCT_BUDGET   calls: PERCENT of the CPU time that          none
 *                 profiling may cost: bursts are so far
 *                 apart (HCCT_BURST: at least its period)
 *   HCCT_EVERY    calls: N counts one of N, N/routine one of   1
 *                 N of each routine
 *   HCCT_MODULES  calls: of which modules calls are            the program, unless it reports its
 *                 redirected: file names or paths, * and ?     calls, and its own libraries
 *                 as in the shell, commas in between
 *   HCCT_CREDIT   calls: last, or new: all edges since the     last
 *                 last counted call gain
 *   HCCT_SIGNAL   signal number to use                         first free one, SIGPROF first
 *   HCCT_FOLLOW   yes, no: profile child processes too         yes
 *   HCCT_ATTACH   tick, start: when a program that begins      tick
 *                 makes itself known to the daemon
 *   HCCT_ENABLE   0 switches the agent off                     1
 *   HCCT_LINES    walks: 1: the line of the innermost frame,   0
 *                 too, and what is inlined there
 *   HCCT_THREADS  1: contexts begin with their thread's name   0
 *   HCCT_PYTHON   walks: 1: functions of Python, in place of   0
 *                 those of its interpreter's loop
 *   HCCT_TAGS     KEY=VALUE,KEY=VALUE: what the profile is     none
 *                 to say of this run
 *   HCCT_CHECK    1: make each walk twice and compare          0
 *   HCCT_VERBOSE  1: say on stderr what the agent does         0
 */
#ifndef HCCT_SETTINGS_H
#define HCCT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/call_choice.h"
#include "common/wire/paths.h"
#include "common/wire/tags.h"
#include "common/wire/wire.h"

struct agent_settings {
    char socket[PATHS_SOCKET_MAX]; /* empty: the path is too long to be one */
    unsigned rate;
    unsigned clock;                            /* enum wire_clock */
    uint64_t burst_length_ns, burst_period_ns; /* 0, 0: no bursts */
    uint32_t burst_error_ppm; /* calls: bursts are left out up to that error; 0: none are */
    unsigned
        collector; /* enum wire_collector: how ticks are used; of events alone, the first metric */
    bool encode;   /* walks: contexts from the open calls, which slots keep */
    unsigned metrics;                 /* that are counted, at least one ... */
    uint8_t metric[WIRE_METRICS_MAX]; /* ... enum wire_collector, as they were asked for */
    unsigned faults;     /* the one of page faults; WIRE_METRICS_MAX: they are not counted */
    unsigned ticks_to;   /* the one that samples by ticks are of; 0: none is */
    uint32_t budget_ppm; /* calls: what profiling may cost; 0: no matter */
    unsigned every;      /* calls: one of so many is counted */
    bool every_each;     /* of each routine, not of all together */
    unsigned credit;     /* enum wire_credit */
    char modules[CALL_CHOICE_ROOM]; /* empty: the default */
    int signal;                     /* 0: choose */
    bool follow;
    bool attach_at_start;
    bool enable;
    bool verbose;
    bool check;
    bool lines; /* walks only */
    bool threads;
    bool labels;
    bool python;
    bool ticks_only;      /* walks by the CPU timer alone: nothing stands before what can sleep */
    bool leaves;          /* when its daemon has gone it detaches itself */
    char tags[TAGS_ROOM]; /* empty: none */
};

/* Some of the metrics is of that kind (wire.h). Any context. */
static inline bool settings_have(const struct agent_settings *settings, bool (*kind)(uint32_t)) {
    for (unsigned i = 0; i < settings->metrics; i++)
        if (kind(settings->metric[i]))
            return true;
    return false;
}

/* Leaves those metrics out that `keep` does not want, which are events; at least one must stay.
 * Process context. */
void settings_keep_metrics(struct agent_settings *settings, bool (*keep)(uint32_t collector));

/* The agent is switched off. Makes no system call. Process context. */
bool settings_are_off(void);

/* Reads the environment; a bad value is named once on stderr, with what is used instead. Process
 * context. */
void settings_read(struct agent_settings *settings);

/* One line on stderr, "hcct: ..." in one write, when verbose or `always`. Any context but signal.
 */
void settings_say(const struct agent_settings *settings, bool always, const char *what,
                  const char *detail);

#endif

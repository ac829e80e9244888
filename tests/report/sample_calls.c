/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sample_calls.c - profiles of counted calls for the tests: every call, and calls in bursts.
 */
#include "tests/report/sample.h"

#include <stddef.h>

#include "common/wire/compiler.h"

#define MS 1000000ull

#define MAIN "_start@game/__libc_start_main@libc.so.6/main@game:120/"

static const struct stack {
    const char *frames;
    uint64_t count, error;
} stacks[] = {
    {MAIN "think:40", 1, 0},
    {MAIN "think:40/search", 262144, 0},
    {MAIN "think:40/search:71/search:71/search", 9100210, 6},
    {MAIN "think:40/search:71/search:71/search:73/evaluate", 71220044, 22},
    {MAIN "think:40/search:71/search:71/search:73/evaluate:12/liberties", 181301220, 41},
    {MAIN "think:40/search:71/search:74/undo", 120311, 9},
    {MAIN "think:40/[~]", 139178, 3},
    {MAIN "load/parse_line@libsgf.so", 4, 0},
};

static struct profile *begin(void) {
    struct profile *profile = profile_new();
    profile->type = "calls";
    profile->unit = "count";
    profile->summary = profile_string(profile, "space-saving");
    profile->phi = 1e-4;
    profile->epsilon = 2e-5;
    profile->time_ns = 1700000000000000000ull;
    profile->duration_ns = 13100 * MS;
    return profile;
}

static struct profile *finish(struct profile *profile, const struct profile_process *process,
                              uint64_t part) {
    uint32_t number = profile_add_process(profile, process);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(stacks); i++)
        if (stacks[i].count / part > 0)
            sample_add(profile, number, stacks[i].frames, stacks[i].count / part, stacks[i].error);
    return profile;
}

struct profile *sample_calls(void) {
    const struct profile_process process = {.exe = "/usr/games/game",
                                            .command = "game",
                                            .pid = 911,
                                            .runs = 1,
                                            .cpu_ns = 12900 * MS,
                                            .collector = "calls",
                                            .every = 1,
                                            .credit = "last",
                                            .waits = 3211,
                                            .jumped = 12,
                                            .stray = 1,
                                            .contexts = 51022,
                                            .monitored = 50000,
                                            .unseen = 41,
                                            .bytes = 2099200,
                                            .threads = 2};

    return finish(begin(), &process, 1);
}

struct profile *sample_call_bursts(void) {
    const struct profile_process process = {.exe = "/usr/games/game",
                                            .command = "game",
                                            .pid = 912,
                                            .runs = 1,
                                            .cpu_ns = 4012 * MS,
                                            .burst_length_ns = 2 * MS,
                                            .burst_period_ns = 20 * MS,
                                            .collector = "calls",
                                            .every = 1,
                                            .credit = "last",
                                            .seen_ns = 225 * MS,
                                            .cpu_burst_ns = 4000 * MS,
                                            .walks = 200,
                                            .complete = 199,
                                            .bad_stack = 1,
                                            .handler_ns = 4 * MS,
                                            .bursts = 200,
                                            .contexts = 1204,
                                            .monitored = 871,
                                            .unseen = 17,
                                            .bytes = 46182,
                                            .threads = 1};

    return finish(begin(), &process, 200);
}

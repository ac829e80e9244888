/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_missing.c - of the text report, what is said of CPU time that is in no context: beside N, by
 * the kernel's count or by the clocks of the processes.
 */
#include <math.h>
#include <string.h>

#include "common/profile/chance.h"
#include "common/render/format_number.h"
#include "common/render/text.h"

#define LEAST_REPORTED 0.001 /* of the total: what chance makes of it is not worth a word */
#define LEAST_PART     0.005 /* of the kernel's count: less of what is missing is not shown */
#define NEAR_KERNEL    0.03  /* of the kernel's count: so little is not worth a word */
#define MUCH_LOST      0.01  /* of what there was: less has its place beside the cost only */

#define PARTS 5

/* What is known of the time that no context has, in the order in which it is said. */
struct known_part {
    bool there;
    const char *what;
    uint64_t ns; /* 0: it is not known how much */
};

static void put_part(const struct text *text, const struct known_part *part, bool first) {
    fprintf(text->out, "%s%s", first ? "" : ", ", part->what);
    if (part->ns > 0)
        fprintf(text->out, " (%s)", format_time(part->ns).text);
}

/* Where the time is that no context has. What is known of it comes first. */
static void put_rest(const struct text *text, const struct profile_process *sum, double rest,
                     bool is_chance) {
    const struct chance chance = chance_of(text->profile);
    uint64_t left_out = (uint64_t)chance_left_out(&chance), known = 0;
    const struct known_part part[PARTS] = {
        {sum->no_room > 0, "threads that were not sampled", sum->no_room_ns},
        {sum->lost_ns > 0, "what was lost", sum->lost_ns},
        {left_out > 0, "what was left out", left_out},
        {sum->unasked_ns > 0, "what was not to be sampled", sum->unasked_ns},
        {sum->start_ns > 0, "exec and the dynamic loader", sum->start_ns},
    };
    bool first = true;

    fputs("; the rest is in no context: ", text->out);
    for (int i = 0; i < PARTS; i++) {
        known += part[i].ns;
        if (part[i].there && (part[i].ns == 0 ||
                              (double)part[i].ns > LEAST_PART * (double)text->profile->kernel_ns)) {
            put_part(text, &part[i], first);
            first = false;
        }
    }
    if (!first && rest - (double)known / (double)text->profile->kernel_ns <= NEAR_KERNEL)
        return;
    fprintf(text->out,
            "%s%sthe kernel's end of each process, and programs that can't load the agent or "
            "reach hcctd%s",
            first ? "" : ", ", sum->start_ns > 0 ? "" : "exec, the dynamic loader and ",
            is_chance ? "; or chance has left it out" : "");
}

static bool some_still_run(const struct profile *profile) {
    bool some = false;
    for (uint32_t i = 1; i < profile->n_processes; i++)
        some |= profile->processes[i].live;
    return some;
}

/* Why N is not what the kernel has counted: it may have less and more at once. */
static void put_difference(const struct text *text, const struct profile_process *sum,
                           double share) {
    const struct chance chance = chance_of(text->profile);
    double more = (double)text->total - (double)text->profile->kernel_ns;
    double half = CHANCE_Z * sqrt(chance_total_variance(&chance));
    if (share < 1 - NEAR_KERNEL)
        put_rest(text, sum, 1 - share, half > LEAST_REPORTED * (double)text->total);
    else if (share > 1 + NEAR_KERNEL && some_still_run(text->profile))
        fputs("; N has what still runs, too, which nobody has waited for", text->out);
    else if (share > 1 + NEAR_KERNEL && more <= half)
        fputs("; chance alone may make that difference", text->out);
    else if (share > 1 + NEAR_KERNEL)
        fputs("; that is more than chance makes of it: N has children that nobody waited for, too",
              text->out);
}

/* Beside N what the kernel has counted. */
static void put_kernel(const struct text *text, const struct profile_process *sum) {
    const struct profile *profile = text->profile;
    double share = (double)text->total / (double)profile->kernel_ns;
    if (profile->kernel_ns == 0 || strcmp(profile->type, "cpu") != 0 ||
        strcmp(profile->unit, "nanoseconds") != 0)
        return;
    text_label(text, "kernel");
    fprintf(text->out, "counted %s of CPU time for the command and its children: N is %s of it",
            format_time(profile->kernel_ns).text, format_share(share).text);
    put_difference(text, sum, share);
    fputc('\n', text->out);
}

/* Of allocations and locks, and of calls, it is said elsewhere. */
static bool is_of_time(const struct profile *profile) {
    return strcmp(profile->type, "cpu") == 0 || strcmp(profile->type, "wall") == 0 ||
           strcmp(profile->type, "wait") == 0;
}

bool text_much_was_lost(const struct text *text, const struct profile_process *sum) {
    return is_of_time(text->profile) &&
           (double)sum->lost_ns > MUCH_LOST * ((double)sum->lost_ns + (double)text->total);
}

/* A line of its own for time that no context has, as a share of that and of what contexts have. */
static void put_line(const struct text *text, const char *label, double ns, const char *why) {
    text_label(text, label);
    fprintf(text->out, "%s %s, %s of what there was, is in no context: %s\n",
            format_time((uint64_t)ns).text, format_type(text->profile, (uint64_t)ns),
            format_share(ns / (ns + (double)text->total)).text, why);
}

/* Samples that did not reach hcctd; beside the cost is said how many. */
static void put_much_lost(const struct text *text, const struct profile_process *sum) {
    bool awake = strcmp(text->profile->type, "cpu") == 0;
    if (text_much_was_lost(text, sum))
        put_line(text, "lost", (double)sum->lost_ns,
                 awake ? "hcctd stood still, or had no room for the samples"
                       : "threads slept before they were met, or hcctd stood still, or had no room "
                         "for the samples");
}

/* Beside N, which is of samples, what the kernel knows to be missing. */
static void put_left_out(const struct text *text) {
    const struct chance chance = chance_of(text->profile);
    double ns = chance_left_out(&chance);
    if (ns > 0)
        put_line(text, "left out", ns,
                 "samples were left out while stacks went to hcctd as copies and it got too little "
                 "of a processor to read them, or threads could not be sampled");
}

const char *text_not_seen(const struct text *text, const struct profile_process *sum) {
    const struct chance chance = chance_of(text->profile);
    bool left_out = chance_left_out(&chance) > 0;
    if (text_much_was_lost(text, sum))
        return left_out ? " and what was lost or left out" : " and what was lost";
    return left_out ? " and what was left out" : "";
}

/* Where the kernel's count does not say it. */
static void put_start(const struct text *text, const struct profile_process *sum) {
    double start = (double)sum->start_ns;
    if (text->profile->kernel_ns == 0 && strcmp(text->profile->type, "cpu") == 0 &&
        start >= NEAR_KERNEL * (start + (double)text->total))
        put_line(text, "start", start, "exec and the dynamic loader, before the first constructor");
}

void text_missing(const struct text *text, const struct profile_process *sum) {
    put_kernel(text, sum);
    put_much_lost(text, sum);
    put_left_out(text);
    put_start(text, sum);
}

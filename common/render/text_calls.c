/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_calls.c - the end of the text report of counted calls: which calls are counted, what share
 * of the run was seen, and where calls and returns did not match.
 *
 * "Every call" is said only where it is so: where calls are followed without the program's help, of
 * those that are followed, and not where some were lost.
 */
#include <string.h>

#include "common/render/format_number.h"
#include "common/render/text.h"

static bool same_calls(const struct profile_process *a, const struct profile_process *b) {
    return a->every == b->every && a->every_each == b->every_each &&
           strcmp(a->credit, b->credit) == 0;
}

/* Of how many calls one is counted, and what gains by it. */
static void put_counted(const struct text *text, const struct profile_process *process,
                        bool some_lost) {
    const char *where = process->burst_period_ns > 0 ? " within a burst" : "";
    const char *which = text_calls_are_followed(text->profile) ? " that is followed" : "";
    if (process->every <= 1 && some_lost) {
        fprintf(text->out, "calls%s are counted",
                process->burst_period_ns > 0 ? " within bursts" : "");
        return;
    }
    if (process->every <= 1) {
        fprintf(text->out, "every call%s%s is counted", which, where);
        return;
    }
    fprintf(text->out, "one call in %s%s%s is counted, as %s", format_count(process->every).text,
            process->every_each ? " of each function" : "", where,
            format_count(process->every).text);
    if (strcmp(process->credit, "new") == 0)
        fputs(", and with it those on its stack that began since the last one: N is more than the "
              "calls",
              text->out);
}

static void put_collector(const struct text *text, bool some_lost) {
    const struct profile *profile = text->profile;
    bool same = true;
    for (uint32_t i = 2; i < profile->n_processes; i++)
        same &= same_calls(&profile->processes[i], &profile->processes[1]);
    if (same)
        put_counted(text, &profile->processes[1], some_lost);
    else
        fputs("counted in more than one way: see each process by itself", text->out);
}

static void put_odd(const struct text *text, const struct profile_process *sum) {
    if (sum->lost == 0)
        fputs("; nothing lost", text->out);
    else
        fprintf(text->out, "; %s lost (calls, or beginnings of bursts)",
                format_count(sum->lost).text);
    if (sum->jumped > 0)
        fprintf(text->out, "; %s frame%s left without a return, such as by longjmp",
                format_count(sum->jumped).text, sum->jumped == 1 ? "" : "s");
    if (sum->stray > 0)
        fprintf(text->out, "; %s return%s of calls that were not seen",
                format_count(sum->stray).text, sum->stray == 1 ? "" : "s");
}

static bool was_collected(const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (strcmp(profile->processes[i].collector, "calls") != 0)
            return false;
    return profile->n_processes > 1;
}

void text_calls(const struct text *text, const struct profile_process *sum) {
    if (!text->calls || !was_collected(text->profile))
        return; /* or another tool's calls, of which nothing is known */
    text_label(text, "calls");
    text_calls_of_program(text);
    put_collector(text, sum->lost > 0);
    put_odd(text, sum);
    fputc('\n', text->out);
    if (sum->waits == 0)
        return;
    text_label(text, "");
    fprintf(text->out, "the program waited %s time%s until hcctd had room for more\n",
            format_count(sum->waits).text, sum->waits == 1 ? "" : "s");
}

void text_calls_seen(const struct text *text, const struct profile_process *sum) {
    const struct profile *profile = text->profile;
    double in_all = 0;
    if (!text->calls || sum->seen_ns == 0 || sum->cpu_burst_ns == 0)
        return;
    for (uint32_t i = 1; i < profile->n_processes; i++)
        in_all += (double)profile->processes[i].total * profile_scale(&profile->processes[i]);
    text_label(text, "");
    fprintf(text->out, "%s of the program's own CPU time was seen",
            format_share((double)sum->seen_ns / (double)sum->cpu_burst_ns).text);
    if (sum->stands_ns > 0)
        fprintf(text->out, ", in bursts that stand for %s of it; scaled to all of it",
                format_share((double)sum->stands_ns / (double)sum->cpu_burst_ns).text);
    else
        fputs("; scaled by it", text->out);
    fprintf(text->out, ", N is %s calls\n", format_estimate(in_all).text);
}

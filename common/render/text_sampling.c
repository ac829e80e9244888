/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_sampling.c - the lines of the summary about how the program was profiled: at which rate, by
 * which clock, in which bursts, and what of it could not be.
 */
#include <string.h>

#include "common/render/format_number.h"
#include "common/render/text.h"

#define ENOUGH_SAMPLES 0.9 /* of those asked for: so few less is not worth a word */

/* Why there are fewer samples than were asked for. All are per second; `skipped`: those that the
 * agent left out, as each takes long. */
static const char *why_fewer(double asked, double got, double skipped) {
    if (got + skipped >= ENOUGH_SAMPLES * asked)
        return "the others were skipped, as each takes long here";
    return "points that are reached together are one sample, and a thread that sleeps in a "
           "call within libc (fgets, malloc) or of its own (after hcct attach: in a lock, too) is "
           "sampled at the kernel's ticks";
}

static void put_rate(const struct text *text, const struct profile_process *sum) {
    const struct profile *profile = text->profile;
    double seconds = (double)text->total / 1e9, asked, got;
    if (strcmp(profile->type, "cpu") != 0 || strcmp(profile->unit, "nanoseconds") != 0 ||
        profile->period == 0 || sum->walks == 0 || sum->burst_period_ns > 0)
        return;
    asked = 1e9 / (double)profile->period;
    got = (double)sum->walks / seconds;
    if (sum->rate_changes == 0 &&
        (got >= ENOUGH_SAMPLES * asked || text->total < 100 * profile->period))
        return;
    text_label(text, "rate");
    fprintf(text->out, "%s samples per second of CPU time",
            format_count((uint64_t)(got + 0.5)).text);
    if (sum->rate_changes > 0)
        fputs(
            " on the whole: it was changed while this ran; each sample weighs what its rate says\n",
            text->out);
    else
        fprintf(text->out, ", %s were asked for: %s; those that were taken weigh more\n",
                format_count((uint64_t)(asked + 0.5)).text,
                why_fewer(asked, got, (double)sum->skipped / seconds));
}

static void put_clock(const struct text *text, const struct profile_process *sum) {
    if (sum->fine_refused > 0) {
        text_label(text, "clock");
        fprintf(text->out,
                "%s thread%s got no second timer (ulimit -i): the kernel's tick was used\n",
                format_count(sum->fine_refused).text, sum->fine_refused == 1 ? "" : "s");
    }
}

static void put_confined(const struct text *text, const struct profile_process *sum) {
    if (sum->confined == 0)
        return;
    text_label(text, "confined");
    fprintf(text->out,
            "%s thread%s forbade %s system calls (seccomp, or their dispatch to it), or needed the "
            "agent's key of thread-local values, or its timers, and %s not sampled since\n",
            format_count(sum->confined).text, sum->confined == 1 ? "" : "s",
            sum->confined == 1 ? "itself" : "themselves", sum->confined == 1 ? "was" : "were");
}

static void put_interrupted(const struct text *text, const struct profile_process *sum) {
    if (sum->interrupted == 0)
        return;
    text_label(text, "EINTR");
    fprintf(text->out,
            "%s system call%s that %s not made by libc's functions ended with EINTR when %s "
            "sampled, as it is not known how to make %s again\n",
            format_count(sum->interrupted).text, sum->interrupted == 1 ? "" : "s",
            sum->interrupted == 1 ? "was" : "were", sum->interrupted == 1 ? "it was" : "they were",
            sum->interrupted == 1 ? "it" : "them");
}

static void put_invalid_labels(const struct text *text, const struct profile_process *sum) {
    if (sum->labels_invalid == 0)
        return;
    text_label(text, "labels");
    fprintf(text->out,
            "%s time%s a label was set by a key that can be none, and is not shown: a key is a "
            "letter, and up to 30 letters, digits, '_', '.' or '-' behind it\n",
            format_count(sum->labels_invalid).text, sum->labels_invalid == 1 ? "" : "s");
}

static void put_labels(const struct text *text, const struct profile_process *sum) {
    put_invalid_labels(text, sum);
    if (sum->labels_other == 0)
        return;
    text_label(text, "labels");
    fprintf(text->out,
            "%s time%s a label was set for which there was no room: a process has 1,000 values, "
            "16 keys and 4 labels in a thread; other values are [other]\n",
            format_count(sum->labels_other).text, sum->labels_other == 1 ? "" : "s");
}

static void put_marks(const struct text *text, const struct profile_process *sum) {
    if (sum->marks_lost == 0)
        return;
    text_label(text, "marks");
    fprintf(text->out, "%s mark%s of hcct_mark() found no place, and %s not in lists of them\n",
            format_count(sum->marks_lost).text, sum->marks_lost == 1 ? "" : "s",
            sum->marks_lost == 1 ? "is" : "are");
}

static void put_generated(const struct text *text, const struct profile_process *sum) {
    if (sum->generated_refused == 0)
        return;
    text_label(text, "names");
    fputs(
        "generated code is registered for debuggers, but hcctd may not read its names: that takes "
        "a debugger's rights (ptrace; kernel.yama.ptrace_scope=0, or hcctd as root)\n",
        text->out);
}

static void put_numbers(const struct text *text, const struct profile_process *sum) {
    if (sum->numbers_unsure == 0 && sum->numbers_full == 0)
        return;
    text_label(text, "numbers");
    fprintf(text->out,
            "%s of %s walks for hcct_context() gave none, as a frame was not sure; %s time%s there "
            "was no room for another path\n",
            format_count(sum->numbers_unsure).text, format_count(sum->numbers_walked).text,
            format_count(sum->numbers_full).text, sum->numbers_full == 1 ? "" : "s");
}

static void put_no_room(const struct text *text, const struct profile_process *sum) {
    if (sum->no_room == 0)
        return;
    text_label(text, "no room");
    fprintf(text->out,
            "%s thread%s had too small a stack for the agent's signal, and %s not sampled",
            format_count(sum->no_room).text, sum->no_room == 1 ? "" : "s",
            sum->no_room == 1 ? "was" : "were");
    if (sum->no_room_ns > 0)
        fprintf(text->out, ": %s of CPU time, in no context", format_time(sum->no_room_ns).text);
    fputc('\n', text->out);
}

/* What the bursts of all processes were, when they were the same. */
static void put_bursts(const struct text *text, const struct profile_process *sum) {
    const struct profile *profile = text->profile;
    const struct profile_process *first = &profile->processes[1];
    bool same = true;
    if (sum->burst_period_ns == 0)
        return;
    for (uint32_t i = 2; i < profile->n_processes; i++)
        same &= profile->processes[i].burst_length_ns == first->burst_length_ns &&
                profile->processes[i].burst_period_ns == first->burst_period_ns;
    text_label(text, "bursts");
    fputs(format_count(sum->bursts).text, text->out);
    if (same && first->budget_ppm > 0 && sum->bursts > 0)
        fprintf(text->out, ", each %s long, one in %s on average",
                format_time(first->burst_length_ns).text,
                format_time(sum->cpu_burst_ns / sum->bursts).text);
    else if (same)
        fprintf(text->out, ", each %s long, one in %s", format_time(first->burst_length_ns).text,
                format_time(first->burst_period_ns).text);
    fputc('\n', text->out);
}

/* What profiling was to cost, and what it did; where all processes had the same budget. */
static void put_budget(const struct text *text, const struct profile_process *sum) {
    uint64_t ppm = text->profile->n_processes > 1 ? text->profile->processes[1].budget_ppm : 0;
    double program = (double)sum->cpu_burst_ns, used = (double)(sum->cost_ns + sum->reading_ns);
    for (uint32_t i = 2; i < text->profile->n_processes; i++)
        if (text->profile->processes[i].budget_ppm != ppm)
            return;
    if (ppm == 0 || sum->cpu_burst_ns == 0)
        return;
    text_label(text, "budget");
    fprintf(text->out,
            "%.4g %% of the program's own CPU time; profiling took %.3g %%: ", (double)ppm / 1e4,
            100 * used / program);
    fprintf(text->out, "%s in its threads, %s in hcctd\n", format_time(sum->cost_ns).text,
            format_time(sum->reading_ns).text);
}

/* The collector encode. */
static void put_encode(const struct text *text, const struct profile_process *sum) {
    uint64_t walked = sum->encode_unkept + sum->encode_foreign + sum->encode_rule;
    if (sum->encoded == 0)
        return;
    text_label(text, "encode");
    fprintf(text->out, "%s of the contexts by the calls that were open, and %s of all frames",
            format_share((double)sum->encoded / (double)(sum->encoded + walked)).text,
            format_share((double)sum->encoded_frames / (double)sum->frames).text);
    if (walked > 0)
        fprintf(
            text->out,
            "\n          by walks: %s where no calls were kept, %s on another stack, %s where no "
            "simple rule led to one",
            format_count(sum->encode_unkept).text, format_count(sum->encode_foreign).text,
            format_count(sum->encode_rule).text);
    fputc('\n', text->out);
}

static void put_check(const struct text *text, const struct profile_process *sum) {
    if (sum->checked == 0)
        return;
    text_label(text, "check");
    fprintf(text->out, "%s stacks walked twice, %s differ\n", format_count(sum->checked).text,
            format_count(sum->different).text);
    if (sum->recurred == 0 || sum->identifiers == 0)
        return;
    text_label(text, "");
    fprintf(
        text->out,
        "(pc, stack height) named the right context in %s of the samples that met a pair again;\n"
        "          %s of %s pairs stood for more than one\n",
        format_share((double)sum->identified / (double)sum->recurred).text,
        format_count(sum->ambiguous).text, format_count(sum->identifiers).text);
}

void text_sampling(const struct text *text, const struct profile_process *sum) {
    put_rate(text, sum);
    put_clock(text, sum);
    put_confined(text, sum);
    put_interrupted(text, sum);
    put_labels(text, sum);
    put_marks(text, sum);
    put_generated(text, sum);
    put_numbers(text, sum);
    put_no_room(text, sum);
    put_bursts(text, sum);
    put_budget(text, sum);
    text_calls_seen(text, sum);
    put_encode(text, sum);
    put_check(text, sum);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_summary.c - the words of the text report: in its head, what chance and bounds do to the
 * numbers; at its end, N, what was kept, the bounds, the cost.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/chance.h"
#include "common/profile/process_fields.h"
#include "common/render/format_number.h"
#include "common/render/text.h"
#include "common/render/title.h"
#include "common/wire/compiler.h"

#define FEW_SAMPLES 10
#define NEARLY_ALL  0.95 /* of the samples: so few less is not worth a word */

/* The numbers of all processes; bursts are those of processes that are sampled in bursts. */
static struct profile_process add_up(const struct profile *profile) {
    struct profile_process sum = process_fields_sum(profile);
    sum.bursts = 0;
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        const struct profile_process *it = &profile->processes[i];
        if (it->burst_period_ns > 0) {
            sum.bursts += it->bursts;
            sum.burst_period_ns = it->burst_period_ns;
        }
    }
    return sum;
}

void text_label(const struct text *text, const char *word) {
    fprintf(text->out, "%s%-*s%s", text->paint->bold, TEXT_LABEL, word, text->paint->off);
}

static void put_chance_of_total(const struct text *text) {
    const struct chance chance = chance_of(text->profile);
    double half = chance_total_shown(&chance);
    if (half > 0)
        fprintf(text->out, " %s%s", text->glyphs->plus_minus,
                format_weight(text->profile, (uint64_t)half).text);
}

static void put_total(const struct text *text, const struct profile_process *sum) {
    text_label(text, "N");
    fputs(format_weight(text->profile, text->total).text, text->out);
    put_chance_of_total(text);
    fprintf(text->out, " %s", format_type(text->profile, text->total));
    if (sum->walks > 0 && !text->calls && strncmp(text->profile->type, "inuse", 5) != 0)
        fprintf(text->out, " in %s sample%s", format_count(sum->walks).text,
                sum->walks == 1 ? "" : "s");
    if (text->profile->window_ns > 0)
        fputc(',', text->out);
    title_put_window(text->out, text->profile);
    if (text->profile->window_ns == 0 && text->profile->duration_ns > 0)
        fprintf(text->out, ", %s elapsed", format_time(text->profile->duration_ns).text);
    fputc('\n', text->out);
}

/* Children of fork that hcctd has not heard of, most of which called exec, or ended, soon; and what
 * stands for them. */
static void put_children(const struct text *text, const struct profile_process *sum) {
    uint64_t unseen = sum->forked > sum->children ? sum->forked - sum->children : 0;
    if (unseen == 0 || sum->attach_ns == 0 || text->calls)
        return;
    text_label(text, "children");
    fprintf(text->out,
            "%s forked, of which %s had no sample of their own: ", format_count(sum->forked).text,
            format_count(unseen).text);
    if (sum->attached_ns == 0) {
        fputs("by chance nothing in N stands for their CPU time\n", text->out);
        return;
    }
    fprintf(text->out, "for their CPU time stand%s ", sum->attached_ns > sum->attach_ns ? "" : "s");
    fprintf(text->out, "%s sample%s of %s, by chance\n",
            format_count(sum->attached_ns / sum->attach_ns).text,
            sum->attached_ns > sum->attach_ns ? "s" : "", format_time(sum->attach_ns).text);
}

static void put_walks(const struct text *text, const struct profile_process *sum) {
    const struct cause {
        uint64_t walks;
        const char *words;
    } causes[] = {
        {sum->no_rule, "where no unwind rule is known"},
        {sum->no_module, "in code of no known module"},
        {sum->bad_stack, "at a stack that makes no sense"},
        {sum->truncated, "at the depth limit"},
        {sum->short_copy, "where a copy of the stack ends"},
    };
    const char *separator = "; ended early: ";
    uint64_t partial = 0;
    double share;

    for (size_t i = 0; i < HCCT_ARRAY_LEN(causes); i++)
        partial += causes[i].walks;
    if (sum->walks == 0 || sum->complete + partial == 0)
        return;
    /* never rounded up to all of them */
    share = floor((double)sum->complete / (double)sum->walks * 1000) / 10;
    text_label(text, "stacks");
    fprintf(text->out, "%.*f %% complete", share >= 100 ? 0 : 1, share);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(causes); i++) {
        if (causes[i].walks == 0)
            continue;
        fprintf(text->out, "%s%s %s", separator, format_count(causes[i].walks).text,
                causes[i].words);
        separator = ", ";
    }
    fputc('\n', text->out);
}

/* Contexts that weigh phi * N or more. */
static uint64_t count_hot(const struct text *text) {
    double least = text->profile->phi * (double)text->total;
    uint64_t hot = 0;
    for (uint32_t i = 1; i < text->profile->n_nodes; i++)
        hot += text->profile->nodes[i].count > 0 &&
               (double)text->profile->nodes[i].count >= least &&
               !profile_is_pruned(text->profile, text->profile->nodes[i].location);
    return hot;
}

static void put_contexts(const struct text *text, const struct profile_process *sum) {
    const struct profile *profile = text->profile;
    uint64_t kept = sum->contexts;
    for (uint32_t i = 1; i < profile->n_processes && sum->contexts == 0; i++)
        kept += text->below[profile_root(profile, i)];
    text_label(text, "contexts");
    fprintf(text->out, "%s kept", format_count(kept).text);
    if (sum->bytes > 0)
        fprintf(text->out, " in %s", format_bytes(sum->bytes).text);
    if (profile->phi > 0)
        fprintf(text->out, ", %s hot (self weight of phi N = %.4g %% or more)",
                format_count(count_hot(text)).text, profile->phi * 100);
    if (sum->capped > 0)
        fprintf(text->out, "; memory was short: %s went to callers",
                format_weight(profile, sum->capped).text);
    fputc('\n', text->out);
}

static void put_more(const struct text *text, const char *whose, uint64_t more) {
    struct formatted formatted =
        text->calls ? format_count(more) : format_share(text_share(text, more));
    if (more == 0)
        fprintf(text->out, "%s are exact", whose);
    else
        fprintf(text->out, "%s can be +%s more", whose, formatted.text);
}

static bool is_sample(const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (profile_is_sample(&profile->processes[i]))
            return true;
    return false;
}

static void put_error(const struct text *text, const struct profile_process *sum) {
    const struct profile *profile = text->profile;
    uint64_t self = text->largest.self_error, inclusive = text->largest.inclusive_error;
    if (profile->epsilon == 0 && inclusive == 0 && self == 0)
        return;
    text_label(text, "error");
    if (inclusive == 0 && self == 0 && profile_of_faults(profile)) {
        fputs(
            "not known: contexts are an estimate, and what threads did after their last sample is "
            "in none",
            text->out);
    } else if (inclusive == 0 && self == 0) {
        fprintf(text->out, "none%s%s: %s", is_sample(profile) ? " but chance" : "",
                text_not_seen(text, sum), title_of_no_error(is_sample(profile)));
    } else {
        put_more(text, text->calls ? "self counts" : "self shares", self);
        fputs(", ", text->out);
        put_more(text, "inclusive ones", inclusive);
    }
    fputc('\n', text->out);
    if (profile->epsilon == 0 && sum->unseen == 0)
        return;
    text_label(text, "");
    if (profile->epsilon > 0)
        fprintf(text->out, "epsilon N = %s (%.4g %%)%s",
                format_weight(profile, (uint64_t)(profile->epsilon * (double)text->total)).text,
                profile->epsilon * 100, sum->unseen > 0 ? "; " : "");
    if (sum->unseen > 0 && text->calls)
        fprintf(text->out, "a context that was not kept has at most %s %s",
                format_count(sum->unseen).text, format_type(profile, sum->unseen));
    else if (sum->unseen > 0)
        fprintf(text->out, "a context that was not kept weighs at most %s",
                format_share(text_share(text, sum->unseen)).text);
    fputc('\n', text->out);
}

/* Weights are of time asleep, too. */
static bool measures_sleep(const struct profile *profile) {
    return strcmp(profile->type, "wall") == 0 || strcmp(profile->type, "wait") == 0;
}

/* What the interval rests on, where that is not the number of samples. */
static void put_sample_size(const struct text *text, const struct profile_process *sum,
                            const struct chance *chance) {
    double worth = chance_samples(chance, CHANCE_TYPICAL), walks = (double)sum->walks;
    if (sum->burst_period_ns > 0 && (text->calls || !chance->total_known))
        fputs("; what one burst sees counts as one sample", text->out);
    else if (measures_sleep(text->profile) && worth * NEARLY_ALL > walks)
        fputs("; time asleep is measured, not sampled", text->out);
    else if (!text->calls && walks > 0 &&
             (worth < NEARLY_ALL * walks || worth * NEARLY_ALL > walks))
        fprintf(text->out, "; worth %s independent samples",
                format_count((uint64_t)(worth + 0.5)).text);
}

/* In points: the half of the 95 % interval of a share. */
static double half_width(const struct chance *chance, double share) {
    return 100 * chance_half_width(chance, share, 0);
}

#define SHOWN 3

/* Sampled events of W bytes, or so much time, have a variance of W times the mean distance of
 * samples, at most, by the largest there was. */
static void put_interval_of_events(const struct text *text, const struct chance *chance) {
    static const uint64_t bytes[SHOWN] = {1u << 20, 16u << 20, 256u << 20};
    static const uint64_t times[SHOWN] = {10000000, 100000000, 1000000000};
    bool blocks = profile_of_blocks(text->profile), locks = profile_of_locks(text->profile);
    const uint64_t *shown = locks ? times : bytes;
    double mean = chance->lone;
    const char *separator = "";
    if (!(blocks || locks) || strcmp(text->profile->unit, "count") == 0)
        return;
    text_label(text, "");
    for (size_t i = 0; i < SHOWN && (i == 0 || shown[i] < text->total); i++) {
        double half = CHANCE_Z * sqrt(mean * (double)shown[i]);
        fprintf(text->out, "%s%s %s%s at most", separator,
                format_weight(text->profile, shown[i]).text, text->glyphs->plus_minus,
                format_weight(text->profile, (uint64_t)half).text);
        separator = ", ";
    }
    fprintf(text->out, "; at least one of %s is sampled\n",
            format_weight(text->profile, (uint64_t)mean).text);
}

#define LEAST_UNSEEN 0.0005 /* half of what points are rounded to */

/* What no sample stands for is no matter of chance. */
static void put_unseen(const struct text *text, const struct chance *chance) {
    double share = chance_unseen_share(chance);
    if (share >= LEAST_UNSEEN)
        fprintf(text->out, "; they have room for the %s that %s%s%s, which may be any context's",
                format_share(share).text, chance->lost > 0 ? "was lost" : "",
                chance->lost > 0 && chance_left_out(chance) > 0 ? " or " : "",
                chance_left_out(chance) > 0 ? "was left out" : "");
}

static void put_chance(const struct text *text, const struct profile_process *sum) {
    const char *plus_minus = text->glyphs->plus_minus;
    struct chance chance = chance_of(text->profile);
    double samples = chance_samples(&chance, CHANCE_TYPICAL);
    if (samples == 0)
        return;
    text_label(text, "sampling");
    if (samples < FEW_SAMPLES) {
        fprintf(text->out, "fewer than %d samples: shares are a matter of chance\n", FEW_SAMPLES);
        return;
    }
    fprintf(text->out, "95 %% intervals: 50 %% %s%.1f points, 10 %% %s%.1f, 1 %% %s%.1f",
            plus_minus, half_width(&chance, 0.5), plus_minus, half_width(&chance, 0.1), plus_minus,
            half_width(&chance, 0.01));
    put_sample_size(text, sum, &chance);
    put_unseen(text, &chance);
    fputc('\n', text->out);
    put_interval_of_events(text, &chance);
}

static void put_meaning_of_bounds(const struct text *text) {
    const char *what = "the true share is up to x.x points larger";
    if (!text->inclusive_bounds && !text->self_bounds)
        return;
    if (text->calls && text->inclusive_bounds)
        what = "the true share is up to x.x points larger, the true number of calls by so many";
    else if (text->calls)
        what = "the true number of calls is larger by up to so many";
    text_label(text, text->calls && !text->inclusive_bounds ? "+n" : "+x.x");
    fprintf(text->out, "%s: contexts that were not kept may belong to it\n", what);
}

void text_head(const struct text *text) {
    struct profile_process sum = add_up(text->profile);
    put_chance(text, &sum);
    put_meaning_of_bounds(text);
}

/* What stands in PROFILE_AGENT frames. */
static uint64_t weight_of_wrappers(const struct profile *profile) {
    uint64_t weight = 0;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (profile_is_agent(profile, profile->nodes[i].location))
            weight += profile->nodes[i].count;
    return weight;
}

static void put_wrappers(const struct text *text) {
    uint64_t weight = weight_of_wrappers(text->profile);
    if (text_share(text, weight) >= TEXT_LEAST)
        fprintf(text->out,
                "%s in its wrappers of calls that can sleep, and labels (" PROFILE_AGENT "); ",
                format_share(text_share(text, weight)).text);
}

static bool is_of_events(const struct profile *profile) {
    return profile_of_blocks(profile) || profile_of_locks(profile);
}

static void put_lost(const struct text *text, const struct profile_process *sum) {
    if (is_of_events(text->profile)) {
        fprintf(text->out, "%s sample%s lost", format_count(sum->lost).text,
                sum->lost == 1 ? "" : "s");
        if (sum->lost_ns > 0)
            fprintf(text->out, " (%s, in no context)",
                    format_weight(text->profile, sum->lost_ns).text);
        return;
    }
    fprintf(text->out, "%s timer expirations without a sample", format_count(sum->lost).text);
    if (sum->lost_ns > 0)
        fprintf(text->out, " (%s %s, in no context)", format_time(sum->lost_ns).text,
                measures_sleep(text->profile) ? "of time" : "of CPU time");
}

/* Of calls only the signal handler's share is known, not that of the reports; text_calls() tells
 * what was lost. */
static void put_cost(const struct text *text, const struct profile_process *sum) {
    bool handler = sum->cpu_ns > 0 && sum->handler_ns > 0;
    if (text->calls ? !handler : sum->cpu_ns == 0 && sum->lost == 0 && sum->deferred == 0)
        return;
    text_label(text, "cost");
    if (handler)
        fprintf(text->out, "%s of the CPU time was spent %s%s",
                format_share((double)sum->handler_ns / (double)sum->cpu_ns).text,
                is_of_events(text->profile) ? "on these samples"
                                            : "in the agent's handler, and on the way there",
                text->calls ? ", reports of calls not included" : "; ");
    if (!text->calls)
        put_wrappers(text);
    if (!text->calls)
        put_lost(text, sum);
    if (sum->skipped > 0 && !text->calls)
        fprintf(text->out, ", %s skipped as each takes long (the others weigh more)",
                format_count(sum->skipped).text);
    if (sum->deferred > 0)
        fprintf(text->out, ", %s stack%s sent as copies and unwound by the daemon",
                format_count(sum->deferred).text, sum->deferred == 1 ? "" : "s");
    if (sum->refused > 0)
        fprintf(text->out, " (%s in vain)", format_count(sum->refused).text);
    fputc('\n', text->out);
}

/* hcctd was killed, and went on from what it had written down. */
static void put_gap(const struct text *text, const struct profile_process *sum) {
    uint64_t gap_ns = sum->gap_ns + sum->gap_children_ns;
    if (sum->restarts == 0 && gap_ns == 0)
        return;
    text_label(text, "gap");
    fprintf(text->out, "hcctd was started anew%s: %s%s of CPU time after its checkpoint ",
            sum->restarts > 1 ? ", more than once" : "", sum->unfinished > 0 ? "more than " : "",
            format_time(gap_ns).text);
    fputs("is in no context", text->out);
    if (sum->gap_children_ns > 0)
        fprintf(text->out, ", %s of it of children that began and ended meanwhile",
                format_time(sum->gap_children_ns).text);
    fputc('\n', text->out);
}

static void put_unresolved(const struct text *text) {
    if (text->profile->unresolved == 0)
        return;
    text_label(text, "symbols");
    fprintf(text->out,
            "%s place%s by the bare name for now: inlined calls and lines are still being read\n",
            format_count(text->profile->unresolved).text,
            text->profile->unresolved == 1 ? " is named" : "s are named");
}

static void put_estimate(const struct text *text) {
    if (!profile_of_faults(text->profile))
        return;
    text_label(text, "estimate");
    fputs("faults are counted at samples of CPU time (getrusage), and given to the context of the "
          "sample:\n          they were in it, or in what ran since the sample before; N is what "
          "was counted\n",
          text->out);
}

/* Where they are: --metric chooses. */
static void put_others(const struct text *text) {
    if (*text->profile->others == '\0')
        return;
    text_label(text, "others");
    fprintf(text->out, "%s of the same run: see --metric\n", text->profile->others);
}

void text_summary(const struct text *text) {
    struct profile_process sum = add_up(text->profile);
    put_total(text, &sum);
    put_others(text);
    put_estimate(text);
    text_missing(text, &sum);
    put_children(text, &sum);
    text_calls(text, &sum);
    text_call_modules(text);
    put_walks(text, &sum);
    put_contexts(text, &sum);
    put_error(text, &sum);
    text_sampling(text, &sum);
    put_cost(text, &sum);
    put_gap(text, &sum);
    put_unresolved(text);
}

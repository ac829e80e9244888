/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * head.c - sentences from the numbers of a profile.
 */
#include "client/top/head.h"

#include <inttypes.h>
#include <math.h>

#include "common/profile/chance.h"
#include "common/render/format_number.h"

static void put_one(struct top_line *line, const struct top_model *model,
                    const struct profile_process *process) {
    top_line_name(line, process->command, 40);
    if (process->pid != 0)
        top_line_print(line, " (pid %" PRIu32, process->pid);
    else
        top_line_print(line, " (%" PRIu32 " runs", process->runs);
    if (process->threads > 0)
        top_line_print(line, ", %" PRIu32 " thread%s", process->threads,
                       process->threads == 1 ? "" : "s");
    top_line_print(line, ")%s", model->live == 0 ? ", finished" : "");
}

void top_head_who(struct top_line *line, const struct top_model *model) {
    const struct profile *profile = model->total;
    uint32_t n = profile->n_processes - 1;
    if (profile->title[0] != '\0') /* of many hosts: services stand for processes */
        top_line_print(line, "%" PRIu32 " service%s on %s", n, n == 1 ? "" : "s", profile->title);
    else if (n == 1)
        put_one(line, model, &profile->processes[1]);
    else
        top_line_print(line, "%" PRIu32 " processes, %" PRIu32 " of them running", n, model->live);
    if (profile->duration_ns > 0)
        top_line_print(line, ", profiled for %s", format_time(profile->duration_ns).text);
}

static void put_walks(struct top_line *line, const struct top_model *model, double per_second) {
    const struct profile_process *sum = &model->sum;
    double seconds = (double)model->total->duration_ns / 1e9;
    if (sum->walks == 0)
        return;
    if (per_second < 0 && seconds > 0)
        per_second = (double)sum->walks / seconds;
    top_line_print(line, " in %s samples", format_count(sum->walks).text);
    if (per_second >= 0)
        top_line_print(line, " (%.0f/s)", per_second);
    if (sum->complete > 0) { /* never rounded up to all of them */
        double share = floor((double)sum->complete / (double)sum->walks * 1000) / 10;
        top_line_print(line, ", %.*f %% complete", share >= 100 ? 0 : 1, share);
    }
}

void top_head_total(struct top_line *line, const struct top_model *model, double per_second,
                    const struct top_kinds *kinds, const char *kind) {
    const struct profile *profile = model->total;
    const struct profile_process *sum = &model->sum;
    uint64_t total = top_model_weight(model, TOP_TOTAL);
    const struct chance chance = chance_of(profile);
    double half = chance_total_shown(&chance);
    top_line_print(line, "N     %s", format_weight(profile, total).text);
    if (half > 0)
        top_line_print(line, " %s%s", top_glyphs()->plus_minus,
                       format_weight(profile, (uint64_t)half).text);
    top_line_print(line, " %s", format_type(profile, total));
    if (kinds != NULL && kinds->n > 1)
        top_line_print(line, " (metric %u of %u: M)", top_kinds_find(kinds, kind) + 1, kinds->n);
    if (!profile_of_calls(profile))
        put_walks(line, model, per_second);
    top_line_print(line, ", %s lost", format_count(sum->lost).text);
    if (sum->cpu_ns > 0 && sum->handler_ns > 0)
        top_line_print(line, "; agent's cost %s",
                       format_share((double)sum->handler_ns / (double)sum->cpu_ns).text);
}

/* Of a profile whose trees are somewhere else: those that it has. */
static uint64_t count_contexts(const struct profile *profile) {
    uint64_t n = 0;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        n += profile->nodes[i].parent != 0;
    return n;
}

/* Of some shares: what lies between them has an interval between theirs. */
static void put_chance(struct top_line *line, const struct profile *profile) {
    static const double shares[] = {0.5, 0.1, 0.01};
    const struct chance chance = chance_of(profile);
    if (!(chance_samples(&chance, CHANCE_TYPICAL) > 0))
        return;
    top_line_add(line, "95 %: ");
    for (size_t i = 0; i < HCCT_ARRAY_LEN(shares); i++)
        top_line_print(line, "%s%g %% %s%.1f%s", i > 0 ? ", " : "", shares[i] * 100,
                       top_glyphs()->plus_minus, chance_half_width(&chance, shares[i], 0) * 100,
                       i == 0 ? " points" : "");
    top_line_add(line, "; ");
}

void top_head_error(struct top_line *line, const struct top_model *model) {
    const struct profile *profile = model->total;
    const struct profile_process *sum = &model->sum;
    uint64_t total = top_model_weight(model, TOP_TOTAL);
    top_line_add(line, "error ");
    put_chance(line, profile);
    if (profile->epsilon > 0)
        top_line_print(line, "epsilon N = %s (%.4g %%), ",
                       format_weight(profile, (uint64_t)(profile->epsilon * (double)total)).text,
                       profile->epsilon * 100);
    if (sum->unseen > 0 && total > 0)
        top_line_print(line, "what is not kept has at most %s; ",
                       format_share((double)sum->unseen / (double)total).text);
    else
        top_line_add(line, "all is kept; ");
    if (profile->summary[0] != '\0')
        top_line_print(line, "%s, ", profile->summary);
    top_line_print(line, "%s contexts",
                   format_count(sum->contexts > 0 ? sum->contexts : count_contexts(profile)).text);
    if (sum->bytes > 0)
        top_line_print(line, " in %s", format_bytes(sum->bytes).text);
}

void top_head_recent(struct top_line *line, const struct top_model *model, const char *what) {
    uint64_t weight = top_model_weight(model, TOP_RECENT);
    top_line_print(line, "%s: %s %s, over %s", what, format_weight(model->total, weight).text,
                   format_type(model->total, weight), format_time(model->span_ns).text);
    if (model->recent != NULL && weight >= top_model_weight(model, TOP_TOTAL))
        top_line_add(line, ": all so far");
}

void top_head_steps(struct top_line *line, const struct top_steps *steps) {
    top_line_add(line, "(u undoes) ");
    top_steps_text(line, steps);
}

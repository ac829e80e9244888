/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eval_text.c - the measures for people.
 *
 * Shares that say how good it is are never rounded up, so that 100 % is all of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/shorten.h"
#include "common/base/utf8.h"
#include "common/render/format_number.h"
#include "common/render/results.h"

#define PATH_COLUMNS 80 /* longer paths lose their beginning */
#define PATH_FRAMES  30
#define NAME_COLUMNS 60

static void label(FILE *out, const char *word) {
    fprintf(out, "%-13s", word);
}

static struct formatted held(double share) {
    struct formatted formatted;
    snprintf(formatted.text, sizeof formatted.text, "%.2f %%", floor(share * 1e4 + 1e-6) / 100);
    return formatted;
}

static const char *plural(uint64_t n) {
    return n == 1 ? "" : "s";
}

/* A line of its own with the path of a context, its innermost functions when it is long. */
static void put_path(FILE *out, const struct eval *eval, const char *what, uint32_t context) {
    const struct eval_join *join = &eval->join;
    char *name[PATH_FRAMES];
    size_t columns = 0, n = 0;
    uint32_t at = context;
    if (context == 0)
        return;
    for (; n < PATH_FRAMES && join->contexts[at].parent != 0; at = join->contexts[at].parent) {
        name[n] = shorten(join->places[join->contexts[at].routine].name, NAME_COLUMNS, "..");
        columns += utf8_columns(name[n]) + 3;
        if (columns > PATH_COLUMNS && n > 0) {
            free(name[n]);
            break;
        }
        n++;
    }
    label(out, "");
    fprintf(out, "  %s: %s", what, join->contexts[at].parent != 0 ? "... > " : "");
    while (n-- > 0) {
        fprintf(out, "%s%s", name[n], n > 0 ? " > " : "\n");
        free(name[n]);
    }
}

static void put_side(FILE *out, const struct eval *eval, int side, const char *word) {
    const struct eval_side *it = &eval->join.side[side];
    const struct profile *profile = eval->profile[side];
    const char *collector = eval_collector(profile);
    char *exe = shorten(it->exe, NAME_COLUMNS, "..");
    label(out, word);
    fputs(exe, out);
    free(exe);
    if (it->n_exes > 1)
        fprintf(out, " and %u more", (unsigned)(it->n_exes - 1));
    fprintf(out, ": %s %s", format_weight(profile, it->total).text,
            format_type(profile, it->total));
    if (*collector == '\0')
        fputs(", by another tool", out);
    else if (strcmp(collector, profile->type) != 0) {
        fputs(" by ", out);
        utf8_put(out, collector);
    }
    if (*profile->summary != '\0')
        fprintf(out, ", kept by %s", profile->summary);
    fputc('\n', out);
    if (it->pruned > 0) {
        label(out, "");
        fprintf(out, "%s of it in contexts that the profile does not keep apart%s\n",
                format_share((double)it->pruned / (double)it->total).text,
                side == EVAL_EXACT ? ": none of these are in the averages below" : "");
    }
}

static void put_how(FILE *out, const struct eval *eval) {
    label(out, "compared");
    fprintf(out, "by %s%s; hot is what has phi = %.4g %% of the total",
            profile_by_word(eval->join.by),
            eval->by_is_given                  ? ""
            : eval->join.by == PROFILE_BY_SITE ? " (the same collector found both)"
                                               : " (they were found in different ways)",
            eval->phi * 100);
    if (eval->epsilon > 0)
        fprintf(out, ", epsilon = %.4g %%", eval->epsilon * 100);
    fputc('\n', out);
    label(out, "");
    if (eval->scaled)
        fprintf(out, "approximate counts were multiplied by %.6g, to the exact total\n",
                eval->scale);
    else
        fputs("counts are compared as they are\n", out);
    if (eval->join.outer_skipped) {
        label(out, "");
        fputs("frames of samples outside the first instrumented function were left out\n", out);
        label(out, "");
        fputs("functions that only one of the profiles has were passed over\n", out);
    }
    if (eval->exact_is_sample) {
        label(out, "");
        fputs("the exact profile is a sample itself: what differs may be by its chance, too\n",
              out);
    }
    if (eval->exact_error > 0) {
        label(out, "");
        fprintf(out, "the exact profile isn't exact: its counts are up to %s too high\n",
                format_share(eval->exact_error).text);
    }
}

static void put_overlap(FILE *out, const struct eval *eval) {
    label(out, "overlap");
    fprintf(out, "%9s  of the weight is in contexts of the hot tree\n", held(eval->overlap).text);
    label(out, "");
    fprintf(out, "%9s  is the sum of the smaller of both shares of each context\n",
            held(eval->overlap_shares).text);
}

static void put_coverage(FILE *out, const struct eval *eval) {
    label(out, "coverage");
    fprintf(out, "%9s %11s %11s %11s   (of contexts with tau of the hottest one's weight)\n", "tau",
            "hot", "covered", "coverage");
    for (unsigned k = 0; k < eval->n_coverage; k++) {
        const struct eval_coverage *it = &eval->coverage[k];
        label(out, "");
        fprintf(out, "%9g %11s %11s %11s\n", it->tau, format_count(it->hot).text,
                format_count(it->covered).text, held(eval_share(it->covered, it->hot)).text);
    }
}

static void put_uncovered(FILE *out, const struct eval *eval) {
    label(out, "uncovered");
    fprintf(out, "%s context%s", format_count(eval->uncovered).text, plural(eval->uncovered));
    if (eval->uncovered > 0)
        fprintf(out, ", with at most %s of the hottest one's weight, %s on average",
                format_share(eval->uncovered_max).text, format_share(eval->uncovered_average).text);
    fputc('\n', out);
    put_path(out, eval, "hottest", eval->uncovered_hottest);
}

static void put_hot(FILE *out, const struct eval *eval) {
    label(out, "hot");
    fprintf(out, "%s context%s; %s reported\n", format_count(eval->hot).text, plural(eval->hot),
            format_count(eval->reported).text);
    label(out, "");
    fprintf(out, "%s false positive%s", format_count(eval->false_positives).text,
            plural(eval->false_positives));
    if (eval->reported > 0)
        fprintf(out, " (%s of those reported)",
                format_share(eval_share(eval->false_positives, eval->reported)).text);
    fprintf(out, ", %s false negative%s", format_count(eval->false_negatives).text,
            plural(eval->false_negatives));
    if (eval->hot > 0)
        fprintf(out, " (%s of the hot ones)",
                format_share(eval_share(eval->false_negatives, eval->hot)).text);
    fputc('\n', out);
    put_path(out, eval, "hottest that is missed", eval->missed_hottest);
}

static void put_error_of(FILE *out, const struct eval *eval, const char *whose,
                         const struct eval_counter_error *error) {
    fprintf(out, "%-12s", whose);
    if (error->contexts > 0)
        fprintf(out, "%s on average, %s at most", format_share(error->average).text,
                format_share(error->max).text);
    fprintf(out, "%s%s counter%s", error->contexts > 0 ? ", of " : "",
            format_count(error->contexts).text, plural(error->contexts));
    if (error->unknown > 0)
        fprintf(out, "; %s of contexts that the exact profile does not have",
                format_count(error->unknown).text);
    fputc('\n', out);
    if (error->max > 0)
        put_path(out, eval, "worst", error->worst);
}

static void put_error(FILE *out, const struct eval *eval) {
    label(out, "error");
    put_error_of(out, eval, "hot", &eval->hot_error);
    label(out, "");
    put_error_of(out, eval, "monitored", &eval->error);
    if (eval->scaled)
        return;
    label(out, "");
    if (eval->out_of_bounds == 0)
        fputs("every counter keeps its bounds: count - error <= exact <= count\n", out);
    else
        fprintf(out, "%s counter%s outside of count - error <= exact <= count\n",
                format_count(eval->out_of_bounds).text, eval->out_of_bounds == 1 ? " is" : "s are");
}

static void put_tree(FILE *out, const struct eval *eval) {
    label(out, "hot tree");
    fprintf(out, "%s node%s", format_count(eval->tree).text, plural(eval->tree));
    if (eval->tree > 0)
        fprintf(out, ": %s cold, %s hot, %s false positives",
                format_share(eval_share(eval->tree_cold, eval->tree)).text,
                format_share(eval_share(eval->tree_hot, eval->tree)).text,
                format_share(eval_share(eval->tree_false, eval->tree)).text);
    fprintf(out, "; the exact one has %s\n", format_count(eval->hcct).text);
}

static void put_kept(FILE *out, const struct eval *eval, int side, const char *word) {
    const struct eval_side *it = &eval->join.side[side];
    if (it->contexts == 0)
        return;
    label(out, word);
    fprintf(out, "%-12s%s nodes", side == EVAL_EXACT ? "exact" : "approximate",
            format_count(it->contexts).text);
    if (it->bytes > 0)
        fprintf(out, " in %s", format_bytes(it->bytes).text);
    if (it->monitored > 0)
        fprintf(out, ", %s monitored", format_count(it->monitored).text);
    fputc('\n', out);
}

static void put_sizes(FILE *out, const struct eval *eval) {
    const struct eval_side *exact = &eval->join.side[EVAL_EXACT];
    const struct eval_side *approx = &eval->join.side[EVAL_APPROX];
    put_kept(out, eval, EVAL_EXACT, "kept");
    put_kept(out, eval, EVAL_APPROX, exact->contexts > 0 ? "" : "kept");
    if (exact->contexts == 0 || approx->contexts == 0)
        return;
    label(out, "");
    fprintf(out, "%s of the exact tree's nodes",
            format_share(eval_share(approx->contexts, exact->contexts)).text);
    if (exact->bytes > 0 && approx->bytes > 0)
        fprintf(out, ", %s of its memory",
                format_share(eval_share(approx->bytes, exact->bytes)).text);
    fputc('\n', out);
}

bool eval_write_text(FILE *out, const struct eval *eval) {
    put_side(out, eval, EVAL_EXACT, "exact");
    put_side(out, eval, EVAL_APPROX, "approximate");
    put_how(out, eval);
    fputc('\n', out);
    put_overlap(out, eval);
    put_coverage(out, eval);
    put_uncovered(out, eval);
    put_hot(out, eval);
    put_error(out, eval);
    put_tree(out, eval);
    put_sizes(out, eval);
    return fflush(out) == 0 && !ferror(out);
}

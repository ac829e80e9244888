/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_text.c - a comparison for people: what was compared, functions, contexts, and what of it may
 * be chance.
 */
#include <inttypes.h>
#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/shorten.h"
#include "common/base/utf8.h"
#include "common/profile/diff_judge.h"
#include "common/profile/tree_view.h"
#include "common/render/format.h"
#include "common/render/format_number.h"

#define CELL 11 /* columns of a number */
#define PATH_COLUMNS                                                                               \
    100 /* of a context, when no width is given: longer ones lose their callers                    \
         */
#define PATH_LEAST   30
#define NAME_COLUMNS 60
#define CONTEXTS     25 /* that are listed, when no number is given */

struct report {
    FILE *out;
    const struct diff *diff;
    const struct format_options *options;
    bool all;
    const char *plus_minus, *times;
    const char *bold, *grew, *shrank, *off; /* escape sequences, or nothing */
};

/* ---- numbers ---- */

/* A weight that is not negative: a share in per cent, or in the unit. */
static struct formatted amount(const struct diff *diff, double weight) {
    struct formatted formatted;
    if (diff->mode != DIFF_SHARES)
        return format_weight(diff->profile, (uint64_t)llround(weight));
    snprintf(formatted.text, sizeof formatted.text, "%.2f %%",
             100 * weight / (double)diff->after_total);
    return formatted;
}

static struct formatted signed_amount(const struct diff *diff, double weight) {
    struct formatted formatted;
    struct formatted size = amount(diff, fabs(weight));

    /* no sign where only zeros would follow */
    bool none = strpbrk(size.text, "123456789") == NULL;
    snprintf(formatted.text, sizeof formatted.text, "%s%.60s",
             none         ? ""
             : weight < 0 ? "-"
                          : "+",
             size.text);
    return formatted;
}

/* Shares beside weights, weights beside shares. */
static struct formatted other_change(const struct diff *diff, const struct diff_weight *w) {
    double change = (double)w->after - (double)w->before / diff->scale;
    struct formatted formatted,
        size = format_weight(diff->profile, (uint64_t)llround(fabs(change)));
    if (diff->mode != DIFF_SHARES)
        snprintf(formatted.text, sizeof formatted.text, "%+.2f pt", diff_share_change(diff, w));
    else
        snprintf(formatted.text, sizeof formatted.text, "%s%.60s", change < 0 ? "-" : "+",
                 size.text);
    return formatted;
}

static void label(const struct report *r, const char *word) {
    fprintf(r->out, "%s%-10s%s", r->bold, word, r->off);
}

static const char *plural(uint64_t n) {
    return n == 1 ? "" : "s";
}

/* ---- the head ---- */

static void put_side(const struct report *r, int side) {
    const struct diff_side *it = &r->diff->side[side];
    const struct profile *profile = r->diff->profile;
    char *exe = shorten(*it->title != '\0' ? it->title : it->exe, NAME_COLUMNS, "..");
    label(r, side == DIFF_BEFORE ? "before" : "after");
    if (*it->name != '\0') {
        utf8_put(r->out, it->name);
        fputs(": ", r->out);
    }
    fputs(exe, r->out);
    free(exe);
    if (it->n_exes > 1 && *it->title == '\0')
        fprintf(r->out, " and %u more", (unsigned)(it->n_exes - 1));
    fprintf(r->out, ", %s %s", format_weight(profile, it->total).text,
            format_type(profile, it->total));
    if (it->samples > 0)
        fprintf(r->out, ", worth %s independent sample%s",
                format_count((uint64_t)llround(it->samples)).text,
                plural((uint64_t)llround(it->samples)));
    fputc('\n', r->out);
}

static void put_total(const struct report *r) {
    const struct diff_weight *total = &r->diff->total;
    double before = (double)total->before;
    label(r, "total");
    fprintf(r->out, "%s -> %s, %+.1f %%", format_weight(r->diff->profile, total->before).text,
            format_weight(r->diff->profile, total->after).text, 100 * diff_change(total) / before);
    if (r->diff->sampling == DIFF_SAMPLED)
        fprintf(r->out, " (%s%.1f %%%s)", r->plus_minus, 100 * total->interval / before,
                total->beyond ? "" : ": no more than chance");
    fputc('\n', r->out);
}

static bool any_lost(const struct diff *diff) {
    return diff->side[DIFF_BEFORE].lost > 0 || diff->side[DIFF_AFTER].lost > 0;
}

/* A comparison of what is left says nothing of what is not. */
static void put_loss(const struct report *r) {
    const struct diff *diff = r->diff;
    const char *separator = "";
    if (!any_lost(diff))
        return;
    label(r, "lost");
    for (int side = 0; side < DIFF_SIDES; side++) {
        const struct diff_side *it = &diff->side[side];
        if (it->lost == 0)
            continue;
        fprintf(r->out, "%s%s of it %s", separator, format_weight(diff->profile, it->lost).text,
                side == DIFF_BEFORE ? "before" : "after");
        fprintf(r->out, " (%s)", format_share(diff_lost_share(diff, side)).text);
        separator = ", ";
    }
    fputs(", in no context: bounds have room for it anywhere\n", r->out);
}

static void put_why(const struct report *r) {
    const struct diff *diff = r->diff;
    switch (diff->why) {
    case DIFF_ASKED:
        fputs("as asked for", r->out);
        break;
    case DIFF_AS_LONG:
        fprintf(r->out, "in as long a time, of which after has %.4g %s what before has",
                diff->as_long, r->times);
        break;
    case DIFF_COUNTED:
        fputs(any_lost(diff) ? "both have counted nearly everything"
                             : "both have counted everything",
              r->out);
        break;
    case DIFF_SAME_WORK:
        fputs("the same work was done, as most functions weigh the same", r->out);
        break;
    case DIFF_MAYBE_SAME:
        fprintf(r->out,
                "most functions weigh %s %.4g, which may be chance: samples are too few to tell "
                "whether the same work was done",
                r->times, diff->common);
        break;
    case DIFF_LOST:
        fputs("too much was lost to tell whether the same work was done", r->out);
        break;
    case DIFF_TOO_FEW:
        fputs("there are too few functions to tell more work from slower work", r->out);
        break;
    case DIFF_OTHER_WORK:
        fprintf(r->out, "%s work was done, or all of it became %s: most functions weigh %s %.4g",
                diff->scale > 1 ? "more" : "less", diff->scale > 1 ? "slower" : "faster", r->times,
                diff->scale);
        break;
    case DIFF_NO_FACTOR:
        fputs("most functions weigh something else, by no common factor", r->out);
        break;
    }
}

static void put_how(const struct report *r) {
    const struct diff *diff = r->diff;
    label(r, "compared");
    fprintf(r->out, "%s by %s: ",
            diff->mode == DIFF_SHARES ? "shares of the total"
            : diff->scale != 1        ? "scaled weights"
                                      : "weights as they are",
            profile_by_word(diff->by));
    put_why(r);
    if (diff->scale != 1)
        fprintf(r->out, "; weights before are shown %s %.4g", r->times, diff->scale);
    fputc('\n', r->out);
}

static void put_error(const struct report *r) {
    const struct diff *diff = r->diff;
    label(r, "error");
    switch (diff->sampling) {
    case DIFF_EXACT:
        fprintf(r->out, "%s is the certain bounds of both counts; nothing was left to chance\n",
                r->plus_minus);
        break;
    case DIFF_UNKNOWN:
        fprintf(r->out,
                "%s is the certain bounds of both counts; the number of samples is not known,\n"
                "          so what changed beyond them may still be chance\n",
                r->plus_minus);
        break;
    case DIFF_SAMPLED:
        fprintf(r->out,
                "%s is the certain bounds of both counts and the sampling interval (95 %%) of the\n"
                "          change; what differs from run to run of one program is not in it\n",
                r->plus_minus);
        break;
    }
    label(r, "beyond");
    fprintf(r->out, "%s of %s context%s%s changed beyond their error",
            format_count(diff->beyond).text, format_count(diff->compared).text,
            plural(diff->compared), diff->sampling == DIFF_SAMPLED ? " with enough samples" : "");
    if (diff->sampling == DIFF_SAMPLED)
        fprintf(r->out, " (*); by chance none would, in 95 comparisons of 100");
    fputs("\n\n", r->out);
}

/* ---- rows ---- */

static void put_title(const struct report *r, const char *title, const char *last) {
    int bytes_beyond = (int)(strlen(r->plus_minus) - utf8_columns(r->plus_minus));
    fprintf(r->out, "%s%s%s\n  %*s%*s%*s%*s%*s%*s%*s  %s\n", r->bold, title, r->off, CELL, "before",
            CELL, "after", CELL, "change", CELL + bytes_beyond, r->plus_minus, CELL,
            r->diff->mode == DIFF_SHARES ? "weight" : "share", CELL + 2, "all before", CELL,
            "after", last);
}

static void put_numbers(const struct report *r, const struct diff_weight *self,
                        const struct diff_weight *inclusive) {
    const struct diff *diff = r->diff;
    const char *color = !self->beyond ? "" : self->after > self->before ? r->grew : r->shrank;
    fprintf(r->out, "%s%c %*s%*s%*s%*s%*s%*s%*s%s  ", color, self->beyond ? '*' : ' ', CELL,
            amount(diff, (double)self->before).text, CELL, amount(diff, (double)self->after).text,
            CELL, signed_amount(diff, diff_change(self)).text, CELL,
            amount(diff, diff_allowed(self)).text, CELL, other_change(diff, self).text, CELL + 2,
            amount(diff, (double)inclusive->before).text, CELL,
            amount(diff, (double)inclusive->after).text, *color != '\0' ? r->off : "");
}

static size_t room(const struct report *r) {
    size_t used = 7 * CELL + 6, width = r->options->width;
    if (width == 0)
        return PATH_COLUMNS;
    return width > used + PATH_LEAST ? width - used : PATH_LEAST;
}

static const char *location_name(const struct profile *profile, uint32_t location) {
    const struct profile_location *place = &profile->locations[location];

    return place->n_lines > 0 ? profile->functions[place->lines[0].function].name : "";
}

static void put_place(const struct report *r, uint32_t location) {
    const struct profile *profile = r->diff->profile;
    const struct profile_location *place = &profile->locations[location];
    if (r->diff->by == PROFILE_BY_LINE && place->n_lines > 0 && place->lines[0].line > 0)
        fprintf(r->out, ":%" PRIu32, place->lines[0].line);
    if (r->diff->by == PROFILE_BY_SITE && place->address != 0)
        fprintf(r->out, " 0x%" PRIx64, place->address);
}

static void put_functions(const struct report *r) {
    const struct profile *profile = r->diff->profile;
    uint32_t n, shown;
    struct diff_function *functions = diff_functions(r->diff, &n);
    while (n > 0 && functions[n - 1].self.before + functions[n - 1].self.after == 0)
        n--;
    shown = n < r->options->top || r->all ? n : r->options->top;
    if (r->options->top == 0)
        shown = 0;
    if (shown > 0)
        put_title(r, "Self weight, in all contexts together", profile_by_word(r->diff->by));
    for (uint32_t i = 0; i < shown; i++) {
        uint32_t location = functions[i].location;
        const char *module = profile->modules[profile->locations[location].module].path;
        char *name = shorten(location_name(profile, location), room(r), "..");
        put_numbers(r, &functions[i].self, &functions[i].inclusive);
        fputs(name, r->out);
        put_place(r, location);
        if (*module != '\0' && r->diff->by < PROFILE_BY_MODULE) {
            fputs("  (", r->out);
            utf8_put(r->out, profile_basename(module));
            fputc(')', r->out);
        }
        fputc('\n', r->out);
        free(name);
    }
    if (shown > 0)
        fputc('\n', r->out);
    free(functions);
}

static void put_process(const struct report *r, const struct profile_process *process) {
    char *name = shorten(process->command, NAME_COLUMNS, "..");
    fprintf(r->out, "%s: ", name);
    free(name);
}

/* The path of a context from the outermost frame for which there is room. */
static void put_path(const struct report *r, uint32_t node) {
    const struct profile *profile = r->diff->profile;
    size_t columns = 0, n = 0, most = room(r);
    char *names[PATH_COLUMNS];
    uint32_t locations[PATH_COLUMNS], at = node;
    for (; n < PATH_COLUMNS && profile->nodes[at].parent != 0; at = profile->nodes[at].parent) {
        char *name = shorten(tree_name(profile, at), NAME_COLUMNS, "..");
        columns += utf8_columns(name) + 3;
        if (columns > most && n > 0) {
            free(name);
            break;
        }
        locations[n] = profile->nodes[at].location;
        names[n++] = name;
    }
    if (profile->nodes[at].parent != 0)
        fputs(".. > ", r->out);
    else if (r->diff->side[DIFF_AFTER].n_exes > 1 || r->diff->side[DIFF_BEFORE].n_exes > 1)
        put_process(r, &profile->processes[profile->nodes[at].process]);
    while (n-- > 0) {
        fputs(names[n], r->out);
        put_place(r, locations[n]);
        fputs(n > 0 ? " > " : "\n", r->out);
        free(names[n]);
    }
}

enum kind { CHANGED, APPEARED, VANISHED };

/* A context that one side does not have is only said to have come or gone when the profile would
 * have it. */
static enum kind kind_of(const struct diff_weight *w) {
    if (w->beyond && w->before == 0)
        return APPEARED;
    return w->beyond && w->after == 0 ? VANISHED : CHANGED;
}

static bool is_listed(const struct report *r, const struct diff_weight *w, enum kind kind) {
    return (w->beyond || r->all) && kind_of(w) == kind;
}

static void put_kind(const struct report *r, const uint32_t *contexts, uint32_t n, enum kind kind,
                     const char *title) {
    const struct diff *diff = r->diff;
    uint32_t limit = r->options->n > 0 ? r->options->n : CONTEXTS, listed = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct diff_weight *self = &diff->self[contexts[i]];
        if (!is_listed(r, self, kind))
            continue;
        if (listed == 0)
            put_title(r, title, "context");
        listed++;
        if (r->all || listed <= limit) {
            put_numbers(r, self, &diff->inclusive[contexts[i]]);
            put_path(r, contexts[i]);
        }
    }
    if (!r->all && listed > limit)
        fprintf(r->out, "  and %s more (-n, --all)\n", format_count(listed - limit).text);
    if (listed > 0)
        fputc('\n', r->out);
}

/* What stands in none of the lists. */
static void put_rest(const struct report *r, const uint32_t *contexts, uint32_t n) {
    const struct diff *diff = r->diff;
    double change = 0, pruned = 0;
    uint64_t within = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct diff_weight *self = &diff->self[contexts[i]];
        within += !self->beyond;
        change += self->beyond ? 0 : diff_change(self);
    }
    for (uint32_t i = 1; i < diff->profile->n_nodes; i++)
        if (!diff_is_context(diff, i))
            pruned += diff_change(&diff->self[i]);
    label(r, "within");
    fprintf(r->out, "%s context%s changed by no more than %s error: %s altogether\n",
            format_count(within).text, plural(within), within == 1 ? "its" : "their",
            signed_amount(diff, change).text);
    if (fabs(pruned) < 1)
        return;
    label(r, "");
    fprintf(r->out, "contexts that the profiles do not keep apart (%s): %s\n", PROFILE_PRUNED,
            signed_amount(diff, pruned).text);
}

bool write_text_diff(FILE *out, const struct diff *diff, const struct format_options *options) {
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0, color = options->color;
    struct report report = {.out = out,
                            .diff = diff,
                            .options = options,
                            .all = options->all,
                            .plus_minus = utf8 ? "±" : "+-",
                            .times = utf8 ? "×" : "x",
                            .bold = color ? "\033[1m" : "",
                            .grew = color ? "\033[31m" : "",
                            .shrank = color ? "\033[34m" : "",
                            .off = color ? "\033[0m" : ""};
    uint32_t n, *contexts = diff_contexts(diff, &n);
    put_side(&report, DIFF_BEFORE);
    put_side(&report, DIFF_AFTER);
    put_total(&report);
    put_loss(&report);
    put_how(&report);
    put_error(&report);
    put_functions(&report);
    put_kind(&report, contexts, n, CHANGED,
             options->all ? "Contexts" : "Contexts beyond their error");
    put_kind(&report, contexts, n, APPEARED, "Contexts that appeared");
    put_kind(&report, contexts, n, VANISHED, "Contexts that vanished");
    put_rest(&report, contexts, n);
    free(contexts);
    return fflush(out) == 0 && !ferror(out);
}

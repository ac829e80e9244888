/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_cells.c - the numbers of a row.
 */
#include <stdlib.h>
#include <string.h>

#include "common/render/format_number.h"
#include "common/render/text.h"

#define BOUND_WIDTH 6 /* " +12.3" */

#define SHARE_HOT  0.05
#define SHARE_WARM 0.01

double text_share(const struct text *text, uint64_t weight) {
    return text->total > 0 ? (double)weight / (double)text->total : 0;
}

void text_cell(const struct text *text, double share) {
    const struct paint *paint = text->paint;
    const char *color = share >= SHARE_HOT ? paint->hot : share >= SHARE_WARM ? paint->warm : "";
    if (share < TEXT_LEAST)
        fprintf(text->out, "%7s", "");
    else
        fprintf(text->out, "%s%5.1f %%%s", color, share * 100, *color != '\0' ? paint->off : "");
}

/* The largest bounds of any row, of the tree or of the table. */
static struct numbers find_row_bounds(const struct text *text) {
    struct numbers bounds = text->largest;
    for (uint32_t i = 1; i < text->profile->n_locations; i++) {
        const struct profile_flat *flat = &text->flat[i];
        if (flat->self == 0 || profile_is_pruned(text->profile, i))
            continue;
        if (flat->upper - flat->inclusive > bounds.inclusive_error)
            bounds.inclusive_error = flat->upper - flat->inclusive;
        if (flat->self_upper - flat->self > bounds.self_error)
            bounds.self_error = flat->self_upper - flat->self;
    }
    return bounds;
}

static void find_largest(struct text *text) {
    const struct profile *profile = text->profile;
    bool *hidden = profile_find_hidden(profile);
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint64_t more = text->view.upper[i] - text->view.inclusive[i];
        if (hidden[i])
            continue;
        if (profile->nodes[i].error > text->largest.self_error)
            text->largest.self_error = profile->nodes[i].error;
        if (more > text->largest.inclusive_error)
            text->largest.inclusive_error = more;
    }
    free(hidden);
}

static int width_of(const char *title, uint64_t largest) {
    size_t least = strlen(title), width = strlen(format_count(largest).text);
    return (int)(width > least ? width : least);
}

void text_set_columns(struct text *text) {
    struct numbers bounds;
    find_largest(text);
    bounds = find_row_bounds(text);
    text->calls = profile_of_calls(text->profile);
    text->inclusive_bounds = text_share(text, bounds.inclusive_error) >= TEXT_LEAST;
    text->self_bounds =
        text->calls ? bounds.self_error > 0 : text_share(text, bounds.self_error) >= TEXT_LEAST;
    text->columns = TEXT_SHARE + 2 + TEXT_SHARE + 2;
    if (text->inclusive_bounds)
        text->columns += BOUND_WIDTH;
    if (text->calls) {
        text->count_width = width_of("calls", text->total);
        text->columns += 2 + (size_t)text->count_width;
        text->error_width = text->self_bounds ? 2 + width_of("more", bounds.self_error) : 0;
    } else {
        text->error_width = text->self_bounds ? BOUND_WIDTH : 0;
    }
    text->columns += (size_t)text->error_width;
}

/* " +1.2"; empty for what would be +0.0. */
static void put_bound(const struct text *text, uint64_t bound) {
    double share = text_share(text, bound);
    char plus[16] = "";
    if (share >= TEXT_LEAST)
        snprintf(plus, sizeof plus, "+%.*f", share < 0.9995 ? 1 : 0, share * 100);
    fprintf(text->out, "%*s", BOUND_WIDTH, plus);
}

static void put_calls(const struct text *text, const struct numbers *numbers) {
    char plus[sizeof(struct formatted) + 1] = "";
    if (numbers->self_error > 0)
        snprintf(plus, sizeof plus, "+%s", format_count(numbers->self_error).text);
    fprintf(text->out, "  %*s%*s", text->count_width,
            numbers->self > 0 ? format_count(numbers->self).text : "", text->error_width, plus);
}

void text_numbers(const struct text *text, const struct numbers *numbers) {
    if (numbers->inclusive > 0 && text_share(text, numbers->inclusive) < TEXT_LEAST)
        fprintf(text->out, "%*s", TEXT_SHARE, "<0.1 %");
    else
        text_cell(text, text_share(text, numbers->inclusive));
    if (text->inclusive_bounds)
        put_bound(text, numbers->inclusive_error);
    fputs("  ", text->out);
    text_cell(text, text_share(text, numbers->self));
    if (text->calls)
        put_calls(text, numbers);
    else if (text->self_bounds)
        put_bound(text, numbers->self_error);
    fputs("  ", text->out);
}

void text_no_numbers(const struct text *text) {
    fprintf(text->out, "%*s", (int)text->columns, "");
}

void text_columns_title(const struct text *text, const char *rest) {
    fprintf(text->out, "%s  incl.", text->paint->dim);
    if (text->inclusive_bounds)
        fprintf(text->out, "%*s", BOUND_WIDTH, "more");
    fputs("     self", text->out);
    if (text->calls)
        fprintf(text->out, "  %*s", text->count_width, "calls");
    if (text->self_bounds)
        fprintf(text->out, "%*s", text->error_width, "more");
    fprintf(text->out, "  %s%s\n", rest, text->paint->off);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_limit.c - what of a comparison is too much.
 */
#include "client/diff_limit.h"

#include <stdio.h>
#include <stdlib.h>

#include "client/command.h"

/* "5%" or "5". */
bool diff_limit_read(struct diff_limit *limit) {
    const char *text = limit->fail_above;
    char *end;
    if (text == NULL && limit->contexts) {
        complain("--fail-contexts says what --fail-above judges: give that, too");
        return false;
    }
    if (text == NULL)
        return true;
    limit->fraction = strtod(text, &end) / 100;
    bool any = end != text && text[0] >= '0' && text[0] <= '9';
    end += any && *end == '%';
    if (any && *end == '\0' && limit->fraction <= 1000)
        return true;
    complain("--fail-above takes a percentage from 0%% to 100000%%, such as 5%%, not '%s'", text);
    return false;
}

struct rise_words {
    char text[48];
};

static struct rise_words rise_words(const struct diff_weight *weight) {
    struct rise_words words = {"rose from nothing"};
    if (weight->before > 0)
        snprintf(words.text, sizeof words.text, "rose by %.1f %%",
                 100 * diff_change(weight) / (double)weight->before);
    return words;
}

/* One sentence on stderr says what rose. */
int diff_limit_judge(const struct diff *diff, const struct diff_limit *limit) {
    struct diff_rise rise;
    double percent = 100 * limit->fraction;
    if (limit->fail_above == NULL)
        return HCCT_EXIT_OK;
    diff_find_rises(diff, limit->fraction, limit->contexts, &rise);
    const struct rise_words how_much = rise_words(&rise.weight);
    if (rise.n > 0)
        complain("%s weight of %s %s, surely by more than %g %%; %u %s%s did so%s%s%s%s",
                 rise.inclusive ? "the inclusive" : "the self", rise.worst, how_much.text, percent,
                 rise.n, limit->contexts ? "context" : "function", rise.n == 1 ? "" : "s",
                 rise.total ? ", and the total" : "",
                 rise.inclusive && *rise.blamed != '\0' ? "; of self weights that of " : "",
                 rise.inclusive ? rise.blamed : "",
                 rise.inclusive && *rise.blamed != '\0' ? " rose most" : "");
    else if (rise.total)
        complain("the total rose by %.1f %%, surely by more than %g %%",
                 100 * diff_change(&diff->total) / (double)diff->total.before, percent);
    return rise.n > 0 || rise.total ? HCCT_EXIT_ABOVE : HCCT_EXIT_OK;
}

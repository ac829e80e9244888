/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_report.h - the text report of a profile, and whether it says something.
 */
#ifndef HCCT_TEST_TEXT_REPORT_H
#define HCCT_TEST_TEXT_REPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/render/format.h"
#include "tests/check.h"

/* free() gives it back. */
static inline char *report(const struct profile *profile, const struct format_options *options) {
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    CHECK(write_text(out, profile, options));
    fclose(out);
    return text;
}

static inline void check_says(struct profile *profile, const char *line, bool says) {
    char *text = report(profile, &format_default_options);
    CHECK((strstr(text, line) != NULL) == says);
    if ((strstr(text, line) != NULL) != says)
        fprintf(stderr, "%s: \"%s\"\n", says ? "not there" : "there", line);
    free(text);
}

#endif

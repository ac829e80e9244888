/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_output.c - text, JSON or a page.
 */
#include "client/diff_output.h"

#include <stdlib.h>
#include <string.h>

#include "client/output.h"
#include "common/render/results.h"
#include "common/render/write_html.h"

bool diff_output_has(const struct format *format) {
    static const char *const formats_of_diff[] = {"text", "json", "html"};

    for (size_t i = 0; i < sizeof formats_of_diff / sizeof formats_of_diff[0]; i++)
        if (strcmp(format->name, formats_of_diff[i]) == 0)
            return true;
    complain("a comparison can't be written as %s, only as text, json or html", format->name);
    return false;
}

static bool write_diff(FILE *out, const struct diff *diff, const struct view *view, bool all) {
    if (strcmp(view->format->name, "json") == 0)
        return diff_write_json(out, diff);
    if (strcmp(view->format->name, "html") == 0)
        return write_html_diff(out, diff, &view->options);
    return diff_write_text(out, diff, &view->options, all);
}

int diff_output(const struct diff *diff, const struct view *view, const char *file, bool all) {
    struct output output;

    if (!output_open(&output, file != NULL ? file : "-", NULL))
        return HCCT_EXIT_FAILURE;
    if (!write_diff(output.file, diff, view, all)) {
        output_fail(&output);
        return HCCT_EXIT_FAILURE;
    }
    char *written = output_commit(&output, 0);
    free(written);
    return written != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_output.c - text, JSON or a page.
 */
#include "client/diff_output.h"

#include <stdlib.h>

#include "client/output.h"

bool diff_output_has(const struct format *format) {
    if (format->write_diff != NULL)
        return true;
    complain("a comparison can't be written as %s, only as " FORMAT_DIFF_NAMES, format->name);
    return false;
}

int diff_output(const struct diff *diff, const struct view *view, const char *file, bool all) {
    struct format_options options = view->options;
    struct output output;
    options.all = all;
    if (!output_open(&output, file != NULL ? file : "-", NULL))
        return HCCT_EXIT_FAILURE;
    if (!view->format->write_diff(output.file, diff, &options)) {
        output_fail(&output);
        return HCCT_EXIT_FAILURE;
    }
    char *written = output_commit(&output, 0);
    free(written);
    return written != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

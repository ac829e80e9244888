/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * profile_output.c - rendered here, shown or written whole.
 */
#include "client/profile_output.h"

#include <stdlib.h>

#include "client/output.h"
#include "client/pager.h"
#include "client/profile_file.h"
#include "common/base/memory.h"

/* On a terminal. */
static int show_profile(const struct profile *profile, const struct view *view,
                        const struct view_options *given) {
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL)
        memory_die("a report");
    bool written = profile_file_write(out, profile, view->format, &view->options, given->phi);
    if (fclose(out) != 0 || !written)
        memory_die("a report");
    bool shown = pager_show(text, bytes);
    free(text);
    return shown ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

static int write_profile(const struct profile *profile, const struct view *view,
                         const struct view_options *given) {
    struct output output;
    if (!output_open(&output, given->output != NULL ? given->output : "-", NULL))
        return HCCT_EXIT_FAILURE;
    if (!profile_file_write(output.file, profile, view->format, &view->options, given->phi)) {
        output_fail(&output);
        return HCCT_EXIT_FAILURE;
    }
    char *written = output_commit(&output, 0);
    free(written);
    return written != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

int profile_output(const struct profile *profile, const struct view *view,
                   const struct view_options *given) {
    bool shows = given->output == NULL && pager_is_wanted();
    return shows ? show_profile(profile, view, given) : write_profile(profile, view, given);
}

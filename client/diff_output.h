/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_output.h - a comparison in the formats that it has.
 */
#ifndef HCCT_DIFF_OUTPUT_H
#define HCCT_DIFF_OUTPUT_H

#include <stddef.h>

#include "client/view.h"
#include "common/profile/diff.h"

/* Options of a comparison; `type` has view, absolute, shares and all. */
#define DIFF_SPECS(type) DIFF_SPECS_BY(type, VIEW_BY_HELP)
#define DIFF_SPECS_BY(type, by_help)                                                               \
    {"by", 0, OPTION_STRING, "WHAT", offsetof(type, view.by), 0, 0, by_help},                      \
        {"absolute",                                                                               \
         0,                                                                                        \
         OPTION_FLAG,                                                                              \
         NULL,                                                                                     \
         offsetof(type, absolute),                                                                 \
         0,                                                                                        \
         0,                                                                                        \
         "compare weights as they are (where the same work was done)"},                            \
        {"shares",                                                                                 \
         0,                                                                                        \
         OPTION_FLAG,                                                                              \
         NULL,                                                                                     \
         offsetof(type, shares),                                                                   \
         0,                                                                                        \
         0,                                                                                        \
         "compare shares of the totals"},                                                          \
        {"all",                                                                                    \
         0,                                                                                        \
         OPTION_FLAG,                                                                              \
         NULL,                                                                                     \
         offsetof(type, all),                                                                      \
         0,                                                                                        \
         0,                                                                                        \
         "list also what is within its error"},                                                    \
        {"n",                                                                                      \
         'n',                                                                                      \
         OPTION_UNSIGNED,                                                                          \
         "N",                                                                                      \
         offsetof(type, view.n),                                                                   \
         1,                                                                                        \
         1000000,                                                                                  \
         "only the N contexts that changed most (25)"},                                            \
        {"top",                                                                                    \
         0,                                                                                        \
         OPTION_UNSIGNED,                                                                          \
         "N",                                                                                      \
         offsetof(type, view.top),                                                                 \
         0,                                                                                        \
         1000000,                                                                                  \
         "lines in the table of functions (10; 0: no table)"},                                     \
        {"format",                                                                                 \
         0,                                                                                        \
         OPTION_STRING,                                                                            \
         "F",                                                                                      \
         offsetof(type, view.format),                                                              \
         0,                                                                                        \
         0,                                                                                        \
         FORMAT_DIFF_NAMES " (by the suffix of FILE)"},                                            \
        {"output",                                                                                 \
         'o',                                                                                      \
         OPTION_STRING,                                                                            \
         "FILE",                                                                                   \
         offsetof(type, view.output),                                                              \
         0,                                                                                        \
         0,                                                                                        \
         "write to FILE, not to the terminal"},                                                    \
    {                                                                                              \
        "color", 0, OPTION_STRING, "WHEN", offsetof(type, view.color), 0, 0,                       \
            "auto, always or never (auto)"                                                         \
    }

/* False: a comparison can't be written in this format, complained. */
bool diff_output_has(const struct format *format);

/* Writes it to a file, NULL: stdout. `all`: also what is within its error. Returns an exit status;
 * complained unless HCCT_EXIT_OK. */
int diff_output(const struct diff *diff, const struct view *view, const char *file, bool all);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * view.h - how contexts are to be shown: the options that hot, report and record have in common.
 */
#ifndef HCCT_VIEW_H
#define HCCT_VIEW_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base/options.h"
#include "common/render/format.h"

/* As people gave them. */
struct view_options {
    const char *by, *format, *output, *color; /* NULL: not given */
    double phi;                               /* 0: not given */
    double cut;                               /* < 0: not given */
    unsigned top;                             /* UINT_MAX: not given */
    unsigned n;                               /* 0: not given */
    const char *focus, *ignore;               /* NULL: not given */
};

#define VIEW_NOT_GIVEN                                                                             \
    { .cut = -1, .top = UINT_MAX }

#define VIEW_MEMBER(type, member) offsetof(struct type, view.member)

/* Entries of an option table, for a struct TYPE with a member `struct view_options view`. */
#define VIEW_BY_HELP "group by function, site, line, module, thread or label (function)"

#define VIEW_SPECS(type, output_help) VIEW_SPECS_BY(type, VIEW_BY_HELP, output_help)
#define VIEW_SPECS_BY(type, by_help, output_help)                                                  \
    {"phi",                                                                                        \
     0,                                                                                            \
     OPTION_FRACTION,                                                                              \
     "P",                                                                                          \
     VIEW_MEMBER(type, phi),                                                                       \
     0,                                                                                            \
     1,                                                                                            \
     "hot is what has at least this share of the total"},                                          \
        {"by", 0, OPTION_STRING, "WHAT", VIEW_MEMBER(type, by), 0, 0, by_help},                    \
        {"n",                                                                                      \
         'n',                                                                                      \
         OPTION_UNSIGNED,                                                                          \
         "N",                                                                                      \
         VIEW_MEMBER(type, n),                                                                     \
         1,                                                                                        \
         1000000,                                                                                  \
         "only the N hottest contexts"},                                                           \
        {"focus",                                                                                  \
         0,                                                                                        \
         OPTION_STRING,                                                                            \
         "RE",                                                                                     \
         VIEW_MEMBER(type, focus),                                                                 \
         0,                                                                                        \
         0,                                                                                        \
         "only contexts with a function, file:line or module that matches"},                       \
        {"ignore",                                                                                 \
         0,                                                                                        \
         OPTION_STRING,                                                                            \
         "RE",                                                                                     \
         VIEW_MEMBER(type, ignore),                                                                \
         0,                                                                                        \
         0,                                                                                        \
         "no contexts with a function, file:line or module that matches"},                         \
        {"top",                                                                                    \
         0,                                                                                        \
         OPTION_UNSIGNED,                                                                          \
         "N",                                                                                      \
         VIEW_MEMBER(type, top),                                                                   \
         0,                                                                                        \
         1000000,                                                                                  \
         "lines in the table of functions (10; 0: no table)"},                                     \
        {"cut",                                                                                    \
         0,                                                                                        \
         OPTION_SHARE,                                                                             \
         "X",                                                                                      \
         VIEW_MEMBER(type, cut),                                                                   \
         0,                                                                                        \
         1,                                                                                        \
         "show what has this share, however many lines it takes (0: all)"},                        \
        {"format",                                                                                 \
         0,                                                                                        \
         OPTION_STRING,                                                                            \
         "F",                                                                                      \
         VIEW_MEMBER(type, format),                                                                \
         0,                                                                                        \
         0,                                                                                        \
         FORMAT_NAMES " (by the suffix of FILE)"},                                                 \
        {"output", 'o', OPTION_STRING, "FILE", VIEW_MEMBER(type, output), 0, 0, output_help}, {    \
        "color", 0, OPTION_STRING, "WHEN", VIEW_MEMBER(type, color), 0, 0,                         \
            "auto, always or never (auto)"                                                         \
    }

/* What they mean. */
struct view {
    const struct format *format;
    struct format_options options;
};

/* `fd` is where text goes when no file is named; it decides about colour and width. `fallback` is
 * the format when neither --format nor a suffix names one. False: something can't be, and that was
 * complained about. */
bool view_resolve(const struct view_options *given, const struct format *fallback, int fd,
                  struct view *view);

/* True: the format is for machines, and `fd` is a terminal; complained. */
bool view_spoils_terminal(const struct format *format, int fd);

#endif

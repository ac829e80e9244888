/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * transform_options.h - the options by which contexts are rewritten before they are shown.
 */
#ifndef HCCT_TRANSFORM_OPTIONS_H
#define HCCT_TRANSFORM_OPTIONS_H

#include "common/base/options.h"
#include "common/profile/transform.h"

/* An entry of an option table, for a struct TYPE with a member MEMBER of struct transform. */
#define TRANSFORM_SYSTEM_CALLS(type, member)                                                       \
    {                                                                                              \
        "no-system-calls", 0, OPTION_FLAG, NULL, offsetof(struct type, member.no_system_calls), 0, \
            0, "without the frames of system calls, as older profiles are"                         \
    }

/* The same of all of them. */
#define TRANSFORM_SPECS(type, member)                                                              \
    TRANSFORM_SYSTEM_CALLS(type, member),                                                          \
        {"merge",                                                                                  \
         0,                                                                                        \
         OPTION_STRING,                                                                            \
         "RE",                                                                                     \
         offsetof(struct type, member.merge),                                                      \
         0,                                                                                        \
         0,                                                                                        \
         "without frames that match: what they called is their callers'"},                         \
        {"root",                                                                                   \
         0,                                                                                        \
         OPTION_STRING,                                                                            \
         "RE",                                                                                     \
         offsetof(struct type, member.root),                                                       \
         0,                                                                                        \
         0,                                                                                        \
         "contexts begin at their outermost frame that matches"},                                  \
        {"collapse",                                                                               \
         0,                                                                                        \
         OPTION_STRING,                                                                            \
         "RE",                                                                                     \
         offsetof(struct type, member.collapse),                                                   \
         0,                                                                                        \
         0,                                                                                        \
         "frames in a row of a module that matches are one"},                                      \
        {"collapse-recursion",                                                                     \
         0,                                                                                        \
         OPTION_FLAG,                                                                              \
         NULL,                                                                                     \
         offsetof(struct type, member.recursion),                                                  \
         0,                                                                                        \
         0,                                                                                        \
         "a function that is on the stack already goes on there"},                                 \
    {                                                                                              \
        "invert", 0, OPTION_FLAG, NULL, offsetof(struct type, member.invert), 0, 0,                \
            "from the functions at work to their callers"                                          \
    }

/* False: an expression can't be, and that was complained about. */
bool transform_options_check(const struct transform *given);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * transform_options.c - expressions are checked before a profile is read.
 */
#include "client/transform_options.h"

#include "client/command.h"
#include "common/profile/filter.h"

static bool check(const char *option, const char *expression) {
    char error[300];
    if (expression == NULL || filter_check(expression, error, sizeof error))
        return true;
    complain("%s %s", option, error);
    return false;
}

bool transform_options_check(const struct transform *given) {
    return check("--merge", given->merge) && check("--root", given->root) &&
           check("--collapse", given->collapse);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * query_numbers.h - GET /v1/contexts?number=HEX,HEX: the paths of contexts by their numbers, as a
 * pprof profile that has these alone (Profile.hcct_number).
 */
#ifndef HCCT_QUERY_NUMBERS_H
#define HCCT_QUERY_NUMBERS_H

#include "daemon/answers/query.h"

#define QUERY_NUMBERS_MAX 64u /* in one request */

struct query_number_list {
    uint64_t number[QUERY_NUMBERS_MAX];
    unsigned n;
};

/* Numbers of 16 hexadecimal digits. QUERY_BAD: some are none, or there are too many. */
enum query_status query_numbers_set(struct query_number_list *list, const char *value,
                                    struct query_error *error);

/* A number that no process has, or whose path is not known, is not in the answer. QUERY_BAD: the
 * paths are too long to be in one. */
enum query_status query_numbers(const struct query *query, const struct query_number_list *list,
                                FILE *out, struct query_error *error);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * clickhouse.h - what is said to ClickHouse over HTTP: one statement in a request.
 *
 * A string in a statement is quoted by clickhouse_quote(); database names are checked. Versions
 * from 18.16 on.
 */
#ifndef HCCT_CLICKHOUSE_H
#define HCCT_CLICKHOUSE_H

#include <stdbool.h>
#include <stdio.h>

#include "client/remote/target.h"

#define CLICKHOUSE_DATABASE "hcct"

/* Letters, digits and underscores, as a name in a statement has without quotes. False: complained.
 */
bool clickhouse_check_name(const char *name);

/* The text as a literal. */
void clickhouse_quote(FILE *out, const char *text);

/* Runs a statement; rows that it inserts are its rest. */
enum transfer_result clickhouse_run(struct transfer *transfer, const char *url, const char *text,
                                    size_t bytes, struct transfer_answer *answer, char *error,
                                    size_t error_bytes);

/* One that has no answer, as INSERT and CREATE. Where something is said all the same, with whatever
 * status, it was not done, or it is no ClickHouse. */
enum transfer_result clickhouse_do(struct transfer *transfer, const char *url, const char *text,
                                   size_t bytes, char *error, size_t error_bytes);

#endif

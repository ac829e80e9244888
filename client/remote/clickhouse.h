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

/* The text as a literal, in UTF-8. */
void clickhouse_quote(FILE *out, const char *text);

/* Runs a statement; rows that it inserts are its rest. */
enum transfer_result clickhouse_run(struct transfer *transfer, const char *url, const char *text,
                                    size_t bytes, struct transfer_answer *answer, char *error,
                                    size_t error_bytes);

/* From now on the server answers a question as a whole, or not at all, and has stored what it took:
 * whatever the profile of the user says, with which it would leave out what goes beyond a limit, or
 * store it later. A user who may change no settings, and has such ones, gets an error of the
 * server. `version`: clickhouse_version(); 0: it is not known yet. */
void clickhouse_be_exact(struct transfer *transfer, unsigned version);
/* 18016 of "18.16.1". */
unsigned clickhouse_version(const char *text);

/* One that has no answer, as INSERT and CREATE. Where something is said all the same, with whatever
 * status, it was not done, or it is no ClickHouse. */
enum transfer_result clickhouse_do(struct transfer *transfer, const char *url, const char *text,
                                   size_t bytes, char *error, size_t error_bytes);

/* The number that the answer begins with. False: there is none. */
bool clickhouse_ask_number(struct transfer *transfer, const char *url, const char *text,
                           unsigned *number, char *error, size_t error_bytes);

#endif

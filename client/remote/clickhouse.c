/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * clickhouse.c - statements, their literals.
 */
#include "client/remote/clickhouse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/base/utf8.h"

bool clickhouse_check_name(const char *name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t n = strspn(name, allowed);
    if (n > 0 && n < 100 && name[n] == '\0' && !isdigit((unsigned char)name[0]))
        return true;
    complain("--database '%s': it must be letters, digits and underscores, the first no digit",
             name);
    return false;
}

void clickhouse_quote(FILE *out, const char *text) {
    char *valid = memory_new(3 * strlen(text) + 1, 1, "a literal");
    utf8_repair(valid, text); /* as all that is in the tables */
    fputc('\'', out);
    for (const char *at = valid; *at != '\0'; at++) {
        if (*at == '\'' || *at == '\\')
            fputc('\\', out);
        fputc(*at, out);
    }
    fputc('\'', out);
    free(valid);
}

/* ---- settings ---- */

/* What those know that there are. Others come with later versions, and are refused by earlier ones.
 */
#define EXACT                                                                                      \
    "read_overflow_mode=throw&group_by_overflow_mode=throw&sort_overflow_mode=throw"               \
    "&result_overflow_mode=throw&timeout_overflow_mode=throw&set_overflow_mode=throw"              \
    "&join_overflow_mode=throw&distinct_overflow_mode=throw&transfer_overflow_mode=throw"          \
    "&skip_unavailable_shards=0&input_format_allow_errors_num=0"                                   \
    "&input_format_allow_errors_ratio=0"

static const struct exact {
    unsigned since;
    const char *parameters;
} exact[] = {
    {24000, EXACT "&limit=0&offset=0&read_overflow_mode_leaf=throw&timeout_overflow_mode_leaf=throw"
                  "&wait_for_async_insert=1"},
    {22003, EXACT "&limit=0&offset=0&read_overflow_mode_leaf=throw&wait_for_async_insert=1"},
    {0, EXACT},
};

void clickhouse_be_exact(struct transfer *transfer, unsigned version) {
    const struct exact *it = exact;
    while (version < it->since)
        it++;
    transfer_set_parameters(transfer, it->parameters);
}

unsigned clickhouse_version(const char *text) {
    unsigned major = 0, minor = 0;
    sscanf(text, "%5u.%3u", &major, &minor);
    return 1000 * major + minor;
}

/* ---- statements ---- */

enum transfer_result clickhouse_run(struct transfer *transfer, const char *url, const char *text,
                                    size_t bytes, struct transfer_answer *answer, char *error,
                                    size_t error_bytes) {
    return transfer_post(transfer, url, "text/plain; charset=utf-8", text, bytes, answer, error,
                         error_bytes);
}

enum transfer_result clickhouse_do(struct transfer *transfer, const char *url, const char *text,
                                   size_t bytes, char *error, size_t error_bytes) {
    struct transfer_answer answer;
    char said[200];
    enum transfer_result result =
        clickhouse_run(transfer, url, text, bytes, &answer, error, error_bytes);
    if (result == TRANSFER_DONE && answer.bytes > 0) {
        utf8_copy_clean(said, sizeof said, answer.body);
        snprintf(error, error_bytes, "%s does not answer as ClickHouse does: %s", url, said);
        result = TRANSFER_LATER;
    }
    free(answer.body);
    return result;
}

bool clickhouse_ask_number(struct transfer *transfer, const char *url, const char *text,
                           unsigned *number, char *error, size_t error_bytes) {
    struct transfer_answer answer;
    char *end;
    enum transfer_result result =
        clickhouse_run(transfer, url, text, strlen(text), &answer, error, error_bytes);
    *number = (unsigned)strtoul(answer.body, &end, 10);
    bool done = result == TRANSFER_DONE && end > answer.body;
    if (result == TRANSFER_DONE && !done)
        snprintf(error, error_bytes, "%s does not answer as ClickHouse does", url);
    free(answer.body);
    return done;
}

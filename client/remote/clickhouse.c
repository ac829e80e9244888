/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * clickhouse.c - statements, their literals.
 */
#include "client/remote/clickhouse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
    fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

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

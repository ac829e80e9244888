/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * clickhouse.c - statements, their literals.
 */
#include "client/remote/clickhouse.h"

#include <string.h>

bool clickhouse_is_name(const char *name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return name[0] != '\0' && strlen(name) < 100 && strspn(name, allowed) == strlen(name);
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

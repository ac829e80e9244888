/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * operand.c - a file is read, "@..." is asked for.
 */
#include "client/operand.h"

#include <stdlib.h>
#include <string.h>

#include "client/ask.h"
#include "client/processes.h"
#include "client/profile_file.h"

static int ask_profile(const char *word, const struct operand_options *options,
                       struct http_answer *answer) {
    struct query query;
    char path[PATHS_SOCKET_MAX];
    int status = ask_socket(path, options->socket);

    if (status != HCCT_EXIT_OK)
        return status;
    query_start(&query, "/v1/hot");
    query_add(&query, "format", "pprof");
    query_add(&query, "symbols", "complete"); /* contexts are matched by them */
    if (strcmp(word, "@now") != 0)
        query_add(&query, "window", word + 1);
    if (options->exe != NULL)
        query_add(&query, "exe", options->exe);
    status = processes_query(&query, path, options->process);
    return status == HCCT_EXIT_OK ? ask(path, "GET", query.text, answer) : status;
}

int operand_read(const char *word, const struct operand_options *options,
                 struct profile **profile) {
    *profile = NULL;
    if (word[0] == '@') {
        struct http_answer answer;
        int status = ask_profile(word, options, &answer);

        if (status != HCCT_EXIT_OK)
            return status;
        *profile = profile_file_parse(word, answer.body, answer.bytes);
        free(answer.body);
    } else {
        size_t bytes;
        char *data = profile_file_load(word, &bytes);

        if (data != NULL)
            *profile = profile_file_parse(word, data, bytes);
        free(data);
    }
    return *profile != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

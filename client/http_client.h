/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http_client.h - one HTTP/1.1 exchange over a Unix socket.
 */
#ifndef HCCT_HTTP_CLIENT_H
#define HCCT_HTTP_CLIENT_H

#include <stddef.h>

/* An answer larger than this is refused. */
#define HTTP_BODY_MAX ((size_t)1 << 30)

struct http_answer {
    unsigned status; /* 200 */
    char *body;      /* the caller frees it; has a '\0' after its end */
    size_t bytes;
};

enum http_result {
    HTTP_DONE,
    HTTP_NO_DAEMON, /* nobody listens at this path */
    HTTP_FAILED,    /* anything else */
};

/* Sends METHOD TARGET to the socket at `path` and reads the whole answer. Each wait lasts at most
 * `timeout_ms`. Not HTTP_DONE: `error` is one sentence with the cure, the answer is empty. */
enum http_result http_exchange(const char *path, const char *method, const char *target,
                               int timeout_ms, struct http_answer *answer, char *error,
                               size_t error_bytes);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * transfer.h - requests to a server elsewhere, over HTTP or HTTPS, by libcurl. One thread.
 */
#ifndef HCCT_TRANSFER_H
#define HCCT_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>

struct transfer_options {
    const char *credentials; /* a file with one line: USER:PASSWORD, or "Bearer TOKEN"; NULL: what
                              * HCCT_PUSH_CREDENTIALS has, or none */
    const char *ca;     /* a file of certificates that are accepted instead of the system's; NULL */
    const char *header; /* one more, "Name: value"; NULL: none */
    unsigned timeout_s; /* of one request */
    size_t answer_max;  /* bytes of an answer; a longer one is none */
};

struct transfer;

struct transfer_answer {
    long status;
    char *body; /* ends with a '\0'; the caller frees it; never NULL */
    size_t bytes;
    char *type; /* as the server says, until the next request; NULL: it does not */
};

enum transfer_result {
    TRANSFER_DONE,
    TRANSFER_REFUSED, /* the server has understood it, and never takes this body */
    TRANSFER_LATER,   /* anything else: the same request may be good another time */
};

/* A URL of HTTP or HTTPS without credentials, which others would see on the command line and in
 * messages. False: complained. */
bool transfer_is_url(const char *url);

/* NULL: something can't be, complained. */
struct transfer *transfer_new(const struct transfer_options *options);
void transfer_free(struct transfer *transfer); /* NULL is allowed */

/* "a=1&b=2" goes behind every URL from now on, but for sentences. It must stay. */
void transfer_set_parameters(struct transfer *transfer, const char *parameters);

/* POSTs the body. Not TRANSFER_DONE: `error` is one sentence, the answer is empty (its body is to
 * be freed all the same). */
enum transfer_result transfer_post(struct transfer *transfer, const char *url, const char *type,
                                   const void *body, size_t bytes, struct transfer_answer *answer,
                                   char *error, size_t error_bytes);

/* The same to a URL with one more part behind it. */
enum transfer_result transfer_post_below(struct transfer *transfer, const char *base,
                                         const char *part, const char *type, const void *body,
                                         size_t bytes, struct transfer_answer *answer, char *error,
                                         size_t error_bytes);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http_client.c - request out, answer in: as much of HTTP/1.1 as our daemon speaks.
 *
 * Each exchange has a connection of its own ("Connection: close"), so an answer ends where its
 * Content-Length, its last chunk or the connection ends. The answer is not trusted: lengths are
 * checked, and an answer that ends early is an error, never a shorter answer.
 */
#include "client/http_client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/wire/compiler.h"

struct exchange {
    int fd;
    const char *path;
    char *error;
    size_t error_bytes;
    char buffer[16384]; /* received and not yet used: [at, end) */
    size_t at, end;
    char *body;
    size_t bytes, space;
};

#define LENGTH_NONE SIZE_MAX

struct head {
    unsigned status;
    size_t length; /* LENGTH_NONE: not said */
    bool chunked;
};

hcct_printf(2, 3) static bool fail(struct exchange *x, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(x->error, x->error_bytes, format, list);
    va_end(list);
    return false;
}

static bool fail_io(struct exchange *x) {
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return fail(x, "hcctd at %s does not answer; is it stopped or overloaded?", x->path);
    return fail(x, "the connection to %s broke: %s", x->path, strerror(errno));
}

static bool fail_form(struct exchange *x) {
    return fail(x, "what listens at %s does not answer as hcctd does", x->path);
}

static bool fail_early_end(struct exchange *x) {
    return fail(x, "the answer from %s ended early: hcctd may have been stopped", x->path);
}

/* ---- connection ---- */

static enum http_result connect_error(struct exchange *x) {
    switch (errno) {
    case ENOENT:
    case ECONNREFUSED: /* a socket file that an ended daemon left behind */
    case ENOTDIR:
        fail(x, "no hcctd listens at %s: start one with 'hcctd', or use 'hcct record -- CMD'",
             x->path);
        return HTTP_NO_DAEMON;
    case EACCES:
    case EPERM:
        fail(x, "you may not use the hcctd at %s: ask as the user that runs it, or as root",
             x->path);
        return HTTP_FAILED;
    case ENOTSOCK:
    case EPROTOTYPE:
        fail(x, "%s is not the socket of an hcctd: name the right one with --socket", x->path);
        return HTTP_FAILED;
    default:
        fail_io(x);
        return HTTP_FAILED;
    }
}

static enum http_result open_connection(struct exchange *x, int timeout_ms) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval limit = {timeout_ms / 1000, timeout_ms % 1000 * 1000};
    if (strlen(x->path) >= sizeof address.sun_path) {
        fail(x, "the socket path %s is longer than %zu bytes: name a shorter one with --socket",
             x->path, sizeof address.sun_path - 1);
        return HTTP_FAILED;
    }
    strcpy(address.sun_path, x->path);
    x->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (x->fd < 0 || setsockopt(x->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0 ||
        setsockopt(x->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0) {
        fail(x, "no socket can be made: %s", strerror(errno));
        return HTTP_FAILED;
    }
    if (connect(x->fd, (struct sockaddr *)&address, sizeof address) != 0)
        return connect_error(x);
    return HTTP_DONE;
}

static bool send_all(struct exchange *x, const char *text, size_t bytes) {
    while (bytes > 0) {
        ssize_t n = send(x->fd, text, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_io(x);
        text += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool send_request(struct exchange *x, const char *method, const char *target) {
    char *request;
    int n = asprintf(&request, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n",
                     method, target, strcmp(method, "POST") == 0 ? "Content-Length: 0\r\n" : "");
    if (n < 0)
        return fail(x, "out of memory");
    bool sent = send_all(x, request, (size_t)n);
    free(request);
    return sent;
}

/* ---- receiving ---- */

/* More bytes into the empty buffer. 1: there are some, 0: the connection ended, -1: failed. */
static int refill(struct exchange *x) {
    ssize_t n;
    do {
        n = recv(x->fd, x->buffer, sizeof x->buffer, 0);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        fail_io(x);
        return -1;
    }
    x->at = 0;
    x->end = (size_t)n;
    return n > 0;
}

/* One line, without its end. A line longer than `bytes` is not HTTP as we know it. */
static bool read_line(struct exchange *x, char *line, size_t bytes) {
    size_t n = 0;
    for (;;) {
        if (x->at == x->end) {
            int more = refill(x);
            if (more <= 0)
                return more == 0 ? fail_early_end(x) : false;
        }
        char c = x->buffer[x->at++];
        if (c == '\n')
            break;
        if (n + 1 >= bytes)
            return fail_form(x);
        line[n++] = c;
    }
    if (n > 0 && line[n - 1] == '\r')
        n--;
    line[n] = '\0';
    return true;
}

static bool body_append(struct exchange *x, const char *from, size_t bytes) {
    if (bytes > HTTP_BODY_MAX - x->bytes)
        return fail(x, "the answer is larger than 1 GiB: ask for less, with --phi or -n");
    if (x->bytes + bytes + 1 > x->space) {
        size_t space = 2 * (x->bytes + bytes) + 4096;
        char *body = realloc(x->body, space);
        if (body == NULL)
            return fail(x, "out of memory");
        x->body = body;
        x->space = space;
    }
    memcpy(x->body + x->bytes, from, bytes);
    x->bytes += bytes;
    x->body[x->bytes] = '\0';
    return true;
}

/* `length` bytes of body; LENGTH_NONE: all until the connection ends. */
static bool read_body(struct exchange *x, size_t length) {
    size_t left = length;
    while (left > 0) {
        if (x->at == x->end) {
            int more = refill(x);
            if (more < 0)
                return false;
            if (more == 0)
                return length == LENGTH_NONE ? true : fail_early_end(x);
        }
        size_t n = x->end - x->at < left ? x->end - x->at : left;
        if (!body_append(x, x->buffer + x->at, n))
            return false;
        x->at += n;
        if (length != LENGTH_NONE)
            left -= n;
    }
    return true;
}

/* A whole number in `base`, followed by one of `ends` or the end of the text. */
static bool parse_length(const char *text, int base, const char *ends, size_t *length) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, base);
    if (end == text || errno != 0 || text[0] == '-' || text[0] == '+' || n >= LENGTH_NONE ||
        (*end != '\0' && strchr(ends, *end) == NULL))
        return false;
    *length = n;
    return true;
}

static bool read_chunks(struct exchange *x) {
    char line[256];
    size_t length;
    do {
        if (!read_line(x, line, sizeof line))
            return false;
        if (!parse_length(line, 16, "; ", &length))
            return fail_form(x);
        if (!read_body(x, length))
            return false;
        if (length > 0 && (!read_line(x, line, sizeof line) || line[0] != '\0'))
            return fail_form(x);
    } while (length > 0);
    return true; /* what may follow, trailers, says nothing to us */
}

static bool read_head(struct exchange *x, struct head *head) {
    char line[4096];
    unsigned minor;
    *head = (struct head){.length = LENGTH_NONE};
    if (!read_line(x, line, sizeof line))
        return false;
    if (sscanf(line, "HTTP/1.%1u %3u", &minor, &head->status) != 2)
        return fail_form(x);
    for (;;) {
        if (!read_line(x, line, sizeof line))
            return false;
        if (line[0] == '\0')
            return true;
        char *value = strchr(line, ':');
        if (value == NULL)
            return fail_form(x);
        *value++ = '\0';
        value += strspn(value, " \t");
        if (strcasecmp(line, "Transfer-Encoding") == 0)
            head->chunked = strcasecmp(value, "chunked") == 0;
        if (strcasecmp(line, "Content-Length") == 0 &&
            !parse_length(value, 10, " \t", &head->length))
            return fail_form(x);
    }
}

static bool read_answer(struct exchange *x, unsigned *status) {
    struct head head;
    do {
        if (!read_head(x, &head))
            return false;
    } while (head.status >= 100 && head.status < 200); /* "100 Continue" and the like */
    *status = head.status;
    return body_append(x, "", 0) && (head.chunked ? read_chunks(x) : read_body(x, head.length));
}

enum http_result http_exchange(const char *path, const char *method, const char *target,
                               int timeout_ms, struct http_answer *answer, char *error,
                               size_t error_bytes) {
    struct exchange x = {.fd = -1, .path = path, .error = error, .error_bytes = error_bytes};
    *answer = (struct http_answer){0};
    enum http_result result = open_connection(&x, timeout_ms);
    if (result == HTTP_DONE &&
        (!send_request(&x, method, target) || !read_answer(&x, &answer->status)))
        result = HTTP_FAILED;
    if (x.fd >= 0)
        close(x.fd);
    if (result != HTTP_DONE) {
        free(x.body);
        *answer = (struct http_answer){0};
        return result;
    }
    answer->body = x.body;
    answer->bytes = x.bytes;
    return HTTP_DONE;
}

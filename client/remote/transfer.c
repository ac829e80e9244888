/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * transfer.c - one handle of libcurl, so that connections are kept.
 *
 * Redirects are not followed: credentials go to the server that was named and to no other.
 */
#include "client/remote/transfer.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/memory.h"
#include "common/base/options.h"

#define CONNECT_S      10L
#define SENTENCE_BYTES 200 /* of what a server says */

struct transfer {
    CURL *curl;
    struct curl_slist *fixed; /* headers of all requests */
    const char *parameters;   /* NULL: none */
    char error[CURL_ERROR_SIZE];
    size_t answer_max;
};

struct body {
    char *text;
    size_t bytes, most;
    bool too_large;
};

static size_t receive(char *data, size_t size, size_t n, void *arg) {
    struct body *body = arg;
    char *more;
    if (body->bytes + size * n > body->most) {
        body->too_large = true;
        return 0;
    }
    more = realloc(body->text, body->bytes + size * n + 1);
    if (more == NULL)
        return 0;
    body->text = more;
    memcpy(more + body->bytes, data, size * n);
    body->bytes += size * n;
    more[body->bytes] = '\0';
    return size * n;
}

bool transfer_is_url(const char *url) {
    bool secure = strncasecmp(url, "https://", 8) == 0;
    if (!secure && strncasecmp(url, "http://", 7) != 0) {
        complain("'%s' is no URL that begins with http:// or https://", url);
        return false;
    }
    const char *host = url + (secure ? 8 : 7);
    const char *query = strchr(host, '?');
    bool has_user = memchr(host, '@', strcspn(host, "/?")) != NULL;
    if (!has_user && (query == NULL || strcasestr(query, "password=") == NULL))
        return true;
    complain("the URL has credentials, which others can see: give them by --credentials FILE, or "
             "HCCT_PUSH_CREDENTIALS");
    return false;
}

static void trim(char *line) {
    size_t n = strcspn(line, "\r\n");
    while (n > 0 && isspace((unsigned char)line[n - 1]))
        n--;
    line[n] = '\0';
}

/* False: the file can't be read, complained. An empty line: there are none. */
static bool read_credentials(const char *path, char *line, size_t bytes) {
    const char *variable = getenv("HCCT_PUSH_CREDENTIALS");
    FILE *file;
    line[0] = '\0';
    if (path == NULL) {
        snprintf(line, bytes, "%s", variable != NULL ? variable : "");
        trim(line);
        return true;
    }
    file = fopen(path, "re");
    if (file == NULL || fgets(line, (int)bytes, file) == NULL) {
        complain("%s has no credentials that could be read: %s", path,
                 file != NULL && !ferror(file) ? "it is empty" : strerror(errno));
        if (file != NULL)
            fclose(file);
        return false;
    }
    fclose(file);
    trim(line);
    return true;
}

static void set_credentials(struct transfer *t, const char *line) {
    static const char bearer[] = "Bearer ";
    if (strncmp(line, bearer, strlen(bearer)) == 0) {
        char header[8192];
        snprintf(header, sizeof header, "Authorization: %s", line);
        t->fixed = curl_slist_append(t->fixed, header);
    } else if (line[0] != '\0') {
        curl_easy_setopt(t->curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(t->curl, CURLOPT_USERPWD, line);
    }
}

struct transfer *transfer_new(const struct transfer_options *options) {
    struct transfer *t = memory_new(1, sizeof *t, "a connection");
    char line[8000];

    t->answer_max = options->answer_max;
    if (!read_credentials(options->credentials, line, sizeof line)) {
        free(t);
        return NULL;
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0 || (t->curl = curl_easy_init()) == NULL)
        memory_die("a connection");
    t->fixed = curl_slist_append(t->fixed, "Expect:"); /* no round trip before the body */
    if (options->header != NULL)
        t->fixed = curl_slist_append(t->fixed, options->header);
    set_credentials(t, line);
    memset(line, 0, sizeof line);
    curl_easy_setopt(t->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(t->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(t->curl, CURLOPT_USERAGENT, "hcct/" HCCT_VERSION);
    curl_easy_setopt(t->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    curl_easy_setopt(t->curl, CURLOPT_TIMEOUT, (long)options->timeout_s);
    curl_easy_setopt(t->curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(t->curl, CURLOPT_ERRORBUFFER, t->error);
    if (options->ca != NULL)
        curl_easy_setopt(t->curl, CURLOPT_CAINFO, options->ca);
    return t;
}

void transfer_free(struct transfer *t) {
    if (t == NULL)
        return;
    curl_easy_cleanup(t->curl);
    curl_slist_free_all(t->fixed);
    free(t);
    curl_global_cleanup();
}

void transfer_set_parameters(struct transfer *t, const char *parameters) {
    t->parameters = parameters;
}

/* 4xx that speak of the body; of all others time, or an administrator, may make a success. */
static enum transfer_result judge(long status) {
    static const long refused[] = {400, 413, 415, 422};
    if (status / 100 == 2)
        return TRANSFER_DONE;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (status == refused[i])
            return TRANSFER_REFUSED;
    return TRANSFER_LATER;
}

/* None of our targets sends one for a success; a portal or another server does. */
static bool is_page(const struct transfer_answer *answer) {
    return answer->type != NULL && strncasecmp(answer->type, "text/html", strlen("text/html")) == 0;
}

/* A server's words: the first line, and nothing that a terminal would obey. */
static void quote(char *line, size_t bytes, const char *text) {
    size_t n = 0;
    for (; n + 1 < bytes && text[n] != '\0' && text[n] != '\n'; n++)
        line[n] = isprint((unsigned char)text[n]) ? text[n] : '?';
    line[n] = '\0';
}

/* libcurl has a copy of it then. */
static void set_url(struct transfer *t, const char *url) {
    if (t->parameters == NULL) {
        curl_easy_setopt(t->curl, CURLOPT_URL, url);
        return;
    }
    size_t bytes = strlen(url) + strlen(t->parameters) + sizeof "/?";
    char *whole = memory_new(bytes, 1, "a URL");
    const char *path = strchr(strstr(url, "://") + 3, '/');
    const char *before = strchr(url, '?') != NULL ? "&" : path != NULL ? "?" : "/?";
    snprintf(whole, bytes, "%s%s%s", url, before, t->parameters);
    curl_easy_setopt(t->curl, CURLOPT_URL, whole);
    free(whole);
}

static CURLcode perform(struct transfer *t, const char *url, const char *type, const void *body,
                        size_t bytes, struct body *answer) {
    char content_type[200];
    struct curl_slist *headers, first = {.data = content_type, .next = t->fixed};
    snprintf(content_type, sizeof content_type, "Content-Type: %s", type);
    headers = &first;
    t->error[0] = '\0';
    set_url(t, url);
    curl_easy_setopt(t->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(t->curl, CURLOPT_POST, 1L);
    curl_easy_setopt(t->curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(t->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes);
    curl_easy_setopt(t->curl, CURLOPT_WRITEDATA, answer);
    return curl_easy_perform(t->curl);
}

/* The same each time: libcurl's own sentence says after how many milliseconds a connection failed.
 */
static const char *reason(const struct transfer *t, CURLcode code) {
    bool timed = code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT;
    return timed || t->error[0] == '\0' ? curl_easy_strerror(code) : t->error;
}

enum transfer_result transfer_post(struct transfer *t, const char *url, const char *type,
                                   const void *body, size_t bytes, struct transfer_answer *answer,
                                   char *error, size_t error_bytes) {
    struct body received = {.text = memory_new(1, 1, "an answer"), .most = t->answer_max};
    CURLcode code = perform(t, url, type, body, bytes, &received);
    enum transfer_result result = TRANSFER_LATER;
    char said[SENTENCE_BYTES];

    *answer = (struct transfer_answer){.body = received.text, .bytes = received.bytes};
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &answer->status);
    curl_easy_getinfo(t->curl, CURLINFO_CONTENT_TYPE, &answer->type);
    if (code != CURLE_OK) {
        snprintf(error, error_bytes, "%s can't be reached: %s", url,
                 received.too_large ? "its answer is too large" : reason(t, code));
    } else if (answer->status / 100 == 2 && is_page(answer)) {
        snprintf(error, error_bytes,
                 "%s answers with a page for people: is that the right address?", url);
    } else if ((result = judge(answer->status)) != TRANSFER_DONE) {
        quote(said, sizeof said, answer->body);
        snprintf(error, error_bytes, "%s answers with status %ld%s%s", url, answer->status,
                 said[0] != '\0' ? ": " : "", said);
    }
    if (result != TRANSFER_DONE)
        answer->body[0] = '\0', answer->bytes = 0;
    return result;
}

/* The base with one more part behind it; free() gives it back. */
static char *url_below(const char *base, const char *more) {
    size_t length = strlen(base);
    char *url;
    while (length > 0 && base[length - 1] == '/')
        length--;
    url = memory_new(length + strlen(more) + 1, 1, "a URL");
    memcpy(url, base, length);
    strcpy(url + length, more);
    return url;
}

enum transfer_result transfer_post_below(struct transfer *transfer, const char *base,
                                         const char *part, const char *type, const void *body,
                                         size_t bytes, struct transfer_answer *answer, char *error,
                                         size_t error_bytes) {
    char *url = url_below(base, part);
    enum transfer_result result =
        transfer_post(transfer, url, type, body, bytes, answer, error, error_bytes);
    free(url);
    return result;
}

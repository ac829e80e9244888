/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http_client_test.c - the client against a server that says what each case tells it to say.
 */
#include "client/http_client.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/wire/compiler.h"
#include "tests/check.h"

#define TIMEOUT_MS 200

struct server {
    const char *path;
    int listener;
    const char *answer;
    size_t bytes;
    bool hold; /* keep the connection open after the answer, until the client closes */
    char request[1024];
};

static void *serve(void *arg) {
    struct server *server = arg;
    int fd = accept(server->listener, NULL, NULL);
    size_t used = 0;
    ssize_t n;
    char sink[16];
    while (strstr(server->request, "\r\n\r\n") == NULL &&
           (n = recv(fd, server->request + used, sizeof server->request - 1 - used, 0)) > 0) {
        used += (size_t)n;
        server->request[used] = '\0';
    }
    /* byte by byte, so that every boundary is met */
    for (size_t i = 0; i < server->bytes; i++)
        if (send(fd, server->answer + i, 1, MSG_NOSIGNAL) != 1)
            break;
    while (server->hold && recv(fd, sink, sizeof sink, 0) > 0)
        ;
    close(fd);
    return NULL;
}

static enum http_result exchange(struct server *server, struct http_answer *answer, char *error,
                                 size_t error_bytes) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    pthread_t thread;
    strcpy(address.sun_path, server->path);
    server->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(server->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(server->listener, 1) != 0 || pthread_create(&thread, NULL, serve, server) != 0)
        abort();
    enum http_result result =
        http_exchange(server->path, "GET", "/v1/hot?n=1", TIMEOUT_MS, answer, error, error_bytes);
    pthread_join(thread, NULL);
    close(server->listener);
    unlink(server->path);
    return result;
}

#define HEAD "HTTP/1.1 200 OK\r\n"

static void test_good(const char *path) {
    static const struct {
        const char *answer, *body;
        bool hold;
    } cases[] = {
        {HEAD "Content-Length: 5\r\n\r\nhello", "hello", true},
        {HEAD "content-length:5 \r\n\r\nhello and more", "hello", true},
        {HEAD "Content-Length: 0\r\n\r\n", "", true},
        {HEAD "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n", "hello",
         true},
        {HEAD "\r\nuntil the end", "until the end", false},
        {"HTTP/1.1 100 Continue\r\n\r\n" HEAD "Content-Length: 2\r\n\r\nok", "ok", true},
        {"HTTP/1.0 200\r\n\r\nold", "old", false},
    };
    for (size_t i = 0; i < HCCT_ARRAY_LEN(cases); i++) {
        struct server server = {.path = path,
                                .answer = cases[i].answer,
                                .bytes = strlen(cases[i].answer),
                                .hold = cases[i].hold};
        struct http_answer answer;
        char error[256] = "";
        CHECK_UINT(exchange(&server, &answer, error, sizeof error), HTTP_DONE);
        CHECK_STR(error, "");
        CHECK_UINT(answer.status, 200);
        CHECK_UINT(answer.bytes, strlen(cases[i].body));
        CHECK_STR(answer.body, cases[i].body);
        CHECK_STR(server.request,
                  "GET /v1/hot?n=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        free(answer.body);
    }
}

static void test_status(const char *path) {
    static const char text[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone";
    struct server server = {.path = path, .answer = text, .bytes = sizeof text - 1};
    struct http_answer answer;
    char error[256];
    CHECK_UINT(exchange(&server, &answer, error, sizeof error), HTTP_DONE);
    CHECK_UINT(answer.status, 404);
    CHECK_STR(answer.body, "none");
    free(answer.body);
}

static void test_bad(const char *path) {
    static const struct {
        const char *answer, *sentence;
        bool hold;
    } cases[] = {
        {"", "ended early", false},
        {HEAD, "ended early", false},
        {HEAD "Content-Length: 5\r\n\r\nhell", "ended early", false},
        {HEAD "Content-Length: 5\r\n\r\nhell", "does not answer;", true},
        {HEAD "Content-Length: -5\r\n\r\nhello", "does not answer as hcctd", false},
        {HEAD "Content-Length: 99999999999999999999\r\n\r\n", "does not answer as hcctd", false},
        {HEAD "Content-Length: 18446744073709551615\r\n\r\n", "does not answer as hcctd", false},
        {HEAD "Content-Length: 5x\r\n\r\nhello", "does not answer as hcctd", false},
        {HEAD "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "does not answer as hcctd", false},
        {HEAD "Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n", "does not answer as hcctd",
         false},
        {HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "ended early", false},
        {HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\nhe", "ended early", false},
        {"SSH-2.0-OpenSSH\r\n\r\n", "does not answer as hcctd", false},
        {HEAD "no colon\r\n\r\n", "does not answer as hcctd", false},
    };
    for (size_t i = 0; i < HCCT_ARRAY_LEN(cases); i++) {
        struct server server = {.path = path,
                                .answer = cases[i].answer,
                                .bytes = strlen(cases[i].answer),
                                .hold = cases[i].hold};
        struct http_answer answer;
        char error[256] = "";
        CHECK_UINT(exchange(&server, &answer, error, sizeof error), HTTP_FAILED);
        CHECK(answer.body == NULL);
        CHECK(strstr(error, cases[i].sentence) != NULL);
        if (strstr(error, cases[i].sentence) == NULL)
            fprintf(stderr, "case %zu says: %s\n", i, error);
    }
}

static void test_zero_bytes_and_long_lines(const char *path) {
    static const char zeros[] = HEAD "Content-Length: 3\r\n\r\na\0b";
    static char endless[8192] = HEAD "X: ";
    struct server server = {.path = path, .answer = zeros, .bytes = sizeof zeros - 1};
    struct http_answer answer;
    char error[256];
    CHECK_UINT(exchange(&server, &answer, error, sizeof error), HTTP_DONE);
    CHECK_UINT(answer.bytes, 3);
    CHECK(memcmp(answer.body, "a\0b", 4) == 0);
    free(answer.body);
    memset(endless + strlen(endless), 'x', 6000);
    server = (struct server){.path = path, .answer = endless, .bytes = strlen(endless)};
    CHECK_UINT(exchange(&server, &answer, error, sizeof error), HTTP_FAILED);
}

int main(void) {
    char directory[] = "/tmp/http_client_test-XXXXXX", path[64];
    if (mkdtemp(directory) == NULL)
        abort();
    snprintf(path, sizeof path, "%s/s", directory);
    test_good(path);
    test_status(path);
    test_bad(path);
    test_zero_bytes_and_long_lines(path);
    rmdir(directory);
    return check_report();
}

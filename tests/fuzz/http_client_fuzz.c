/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http_client_fuzz.c - any bytes as an answer from the socket of a daemon: an answer that has all
 * that it says, or a sentence. What is received is then read as the client reads its lists.
 *
 * connect() is ours here: at the other end there is the input already, and then nothing more.
 */
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/http_client.h"
#include "client/processes.h"
#include "client/top/strip.h"
#include "client/top/threads.h"
#include "tests/fuzz/fuzz.h"

#define TIMEOUT_MS 1000
#define COLUMNS    100u
#define STEPS      6u

static struct {
    const uint8_t *data;
    size_t size;
} peer;

int connect(int fd, const struct sockaddr *address, socklen_t bytes) {
    int ends[2];
    (void)address;
    (void)bytes;
    fuzz_must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    fuzz_must(write(ends[0], peer.data, peer.size) == (ssize_t)peer.size);
    shutdown(ends[0], SHUT_WR);
    fuzz_must(dup2(ends[1], fd) == fd);
    close(ends[1]);
    /* the request has to find room: this end stays open for good, one for each input in turn */
    static int last = -1;
    if (last >= 0)
        close(last);
    last = ends[0];
    return 0;
}

/* A range is moved as keys do it, and shown. */
static void read_time_line(const char *body, size_t bytes) {
    struct top_strip strip;
    struct top_range range = {0, 0};
    struct top_line line;
    char text[TOP_RANGE_ROOM];
    unsigned from, to;
    if (!top_strip_parse(body, bytes, COLUMNS, &strip))
        return;
    for (unsigned i = 0; i < STEPS; i++) {
        top_strip_move(&strip, &range, i % 3 == 0 ? 1 : -1, i % 2 == 0);
        top_range_text(&range, text);
        top_line_begin(&line, COLUMNS);
        top_strip_line(&line, &strip, &range, &from, &to);
        fuzz_must(from <= to && line.columns <= COLUMNS);
    }
}

static void read_lists(const char *body, size_t bytes) {
    struct process_list processes;
    struct top_threads threads, again;
    if (processes_parse(body, bytes, &processes)) {
        for (size_t i = 0; i < processes.n; i++)
            fuzz_must(processes.item[i].exe != NULL && processes.item[i].command != NULL);
        processes_free(&processes);
    }
    read_time_line(body, bytes);
    if (top_threads_parse(body, bytes, 2000000000, &threads)) {
        fuzz_must(top_threads_parse(body, bytes, 1000000000, &again));
        top_threads_compare(&threads, &again);
        top_threads_free(&again);
        top_threads_free(&threads);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct http_answer answer;
    char error[256] = "";
    peer.data = data;
    peer.size = size;
    if (http_exchange("/hcctd.sock", "GET", "/v1/processes", TIMEOUT_MS, &answer, error,
                      sizeof error) == HTTP_DONE) {
        fuzz_must(answer.body != NULL && answer.body[answer.bytes] == '\0' && answer.bytes <= size);
        read_lists(answer.body, answer.bytes);
        free(answer.body);
    } else {
        fuzz_must(error[0] != '\0' && answer.body == NULL);
    }
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "http_client", .mutations = 10000};

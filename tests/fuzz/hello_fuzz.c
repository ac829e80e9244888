/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * hello_fuzz.c - any bytes as an agent's hello: answered, and the process that is made of it has
 * what it asks for within the ranges that there are.
 *
 * All is the daemon's own but the thread that empties rings. The process is this very program.
 */
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/wire/wire.h"
#include "daemon/ingest/handshake.h"
#include "daemon/ingest/registry.h"
#include "tests/fuzz/fuzz.h"

#define RATE_MAX 10000u

static unsigned made;

static void look(struct process *process) {
    const struct session_sampling *s = &process->sampling;
    made++;
    fuzz_must(process->pid == getpid() && process->uid == getuid());
    fuzz_must(s->places >= 1 && s->place < s->places && s->places <= WIRE_METRICS_MAX);
    fuzz_must(s->rate >= 1 && s->rate <= RATE_MAX && s->every >= 1);
    fuzz_must(s->clock < WIRE_CLOCKS && s->collector < WIRE_COLLECTORS && s->credit < WIRE_CREDITS);
    fuzz_must(s->burst_length_ns <= s->burst_period_ns);
    fuzz_must((s->burst_length_ns == 0) == (s->burst_period_ns == 0));
}

/* Most inputs are taken for a hello of this version, which few would be by chance. */
static size_t make_hello(struct fuzz_input *input, uint8_t *bytes) {
    bool as_it_is = fuzz_take_byte(input) % 4 == 3;
    size_t n = input->size < FUZZ_INPUT_MAX ? input->size : FUZZ_INPUT_MAX;
    fuzz_take(input, bytes, n);
    if (!as_it_is && n >= sizeof(struct wire_hello)) {
        struct wire_hello hello;
        memcpy(&hello, bytes, sizeof hello);
        memcpy(hello.magic, WIRE_HELLO_MAGIC, sizeof hello.magic);
        hello.version = WIRE_VERSION;
        hello.size = sizeof hello;
        memcpy(bytes, &hello, sizeof hello);
    }
    return n;
}

/* The answer to a whole hello, with the descriptors of a session when there is one. */
static void check_answer(int fd) {
    struct wire_welcome welcome;
    char control[CMSG_SPACE(2 * sizeof(int))];
    int fds[2];
    struct iovec part = {&welcome, sizeof welcome};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    fuzz_must(recvmsg(fd, &message, MSG_DONTWAIT) == (ssize_t)sizeof welcome);
    fuzz_must(memcmp(welcome.magic, WIRE_HELLO_MAGIC, sizeof welcome.magic) == 0 &&
              welcome.version == WIRE_VERSION);
    fuzz_must((welcome.status == WIRE_STATUS_OK) == (made > 0));
    const struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    fuzz_must((c != NULL) == (made > 0) && made <= WIRE_METRICS_MAX);
    if (c == NULL)
        return;
    fuzz_must(c->cmsg_len == CMSG_LEN(sizeof fds));
    memcpy(fds, CMSG_DATA(c), sizeof fds);
    close(fds[0]);
    close(fds[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t bytes[FUZZ_INPUT_MAX];
    struct fuzz_input input = {data, size};
    const struct handshake_policy policy = {.tree = {.epsilon = 0.01}, .made = look};
    const char *reason;
    int ends[2];
    made = 0;
    size = make_hello(&input, bytes);
    fuzz_must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    fuzz_must(write(ends[0], bytes, size) == (ssize_t)size);
    fuzz_must(handshake_serve(ends[1], &policy, &reason) == (made > 0) && reason != NULL);
    close(ends[1]);
    fuzz_must(registry_live() == made);
    registry_clear();
    if (size >= sizeof(struct wire_hello))
        check_answer(ends[0]);
    else
        fuzz_must(recv(ends[0], bytes, sizeof bytes, MSG_DONTWAIT) <= 0);
    close(ends[0]);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "hello", .mutations = 4000};

/*
 * hello_fuzz.c - any bytes as an agent's hello: answered, and what a process is made with is within
 * its ranges.
 *
 * The rest of the daemon is replaced: no process is made, and what it would be made with is looked
 * at.
 */
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/wire.h"
#include "daemon/ingest/handshake.h"
#include "daemon/ingest/ingest.h"
#include "daemon/ingest/registry.h"
#include "tests/fuzz/fuzz.h"

#define RATE_MAX 10000u

static unsigned asked_for;

struct process *process_new(const struct process_params *params) {
    const struct session_sampling *s = &params->sampling;
    asked_for++;
    fuzz_must(params->pid == getpid() && params->uid == getuid());
    fuzz_must(s->rate >= 1 && s->rate <= RATE_MAX && s->every >= 1);
    fuzz_must(s->clock < WIRE_CLOCKS && s->collector < WIRE_COLLECTORS && s->credit < WIRE_CREDITS);
    fuzz_must(s->burst_length_ns <= s->burst_period_ns);
    fuzz_must((s->burst_length_ns == 0) == (s->burst_period_ns == 0));
    return NULL;
}

void process_free(struct process *process) {
    (void)process;
    abort();
}

int arena_fd(const struct arena *arena) {
    (void)arena;
    abort();
}

void ingest_adopt(struct process *process, bool again) {
    (void)process;
    (void)again;
    abort();
}

struct process *registry_find_live(pid_t pid) {
    (void)pid;
    return NULL;
}

void registry_put(struct process *process) {
    fuzz_must(process == NULL);
}

unsigned registry_live(void) {
    return 0;
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t bytes[FUZZ_INPUT_MAX];
    struct fuzz_input input = {data, size};
    const struct handshake_policy policy = {.tree = {.epsilon = 0.01}};
    struct wire_welcome welcome;
    const char *reason;
    int ends[2];
    asked_for = 0;
    size = make_hello(&input, bytes);
    fuzz_must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    fuzz_must(write(ends[0], bytes, size) == (ssize_t)size);
    fuzz_must(!handshake_serve(ends[1], &policy, &reason) && reason != NULL);
    close(ends[1]);
    bool is_hello = size >= sizeof(struct wire_hello);
    ssize_t n = recv(ends[0], &welcome, sizeof welcome, MSG_DONTWAIT);
    fuzz_must((n == (ssize_t)sizeof welcome) == is_hello);
    if (is_hello)
        fuzz_must(memcmp(welcome.magic, WIRE_HELLO_MAGIC, sizeof welcome.magic) == 0 &&
                  welcome.version == WIRE_VERSION && welcome.status != WIRE_STATUS_OK &&
                  (welcome.status == WIRE_STATUS_FAILED) == (asked_for == 1));
    close(ends[0]);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "hello", .mutations = 20000};

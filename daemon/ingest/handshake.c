/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handshake.c - identify the process that connects, check its rights, send it its session's
 * descriptors.
 */
#include "daemon/ingest/handshake.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/wire/wire.h"
#include "daemon/ingest/ingest.h"
#include "daemon/ingest/proc_stat.h"
#include "daemon/ingest/registry.h"

#define RATE_DEFAULT 100u
#define RATE_MAX     10000u

/* `process`: one of those that share the session; NULL: there is none. */
static bool answer(int fd, enum wire_status status, const struct process *process) {
    struct wire_welcome welcome = {.version = WIRE_VERSION, .status = status};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec part = {&welcome, sizeof welcome};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    memcpy(welcome.magic, WIRE_HELLO_MAGIC, sizeof welcome.magic);
    if (process != NULL) {
        const int fds[2] = {process->memory.fd, arena_fd(process->arena)};
        welcome.session_bytes = WIRE_SESSION_BYTES(process->memory.slot_bytes);
        welcome.slot_bytes = process->memory.slot_bytes;
        welcome.arena_bytes = ARENA_BYTES;
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fds);
        memcpy(CMSG_DATA(c), fds, sizeof fds);
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)sizeof welcome;
}

static bool has_profiled_parent(pid_t pid) {
    struct proc_stat stat;
    if (!proc_stat_read(pid, &stat))
        return false;
    struct process *parent = registry_find_live(stat.parent);
    registry_put(parent);
    return parent != NULL;
}

static uint32_t metrics_of(const struct wire_hello *hello) {
    return 1 + (hello->more < WIRE_METRICS_MAX ? hello->more : 0);
}

/* What is followed call by call has rings of its own size; and one session has one table of blocks.
 */
static bool go_together(const struct wire_hello *hello) {
    uint32_t n = metrics_of(hello), heaps = 0, calls = 0, times = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t collector = i == 0 ? hello->collector : hello->others[i - 1];
        heaps += wire_of_heap(collector);
        calls += collector == WIRE_COLLECT_CALLS;
        times += collector == WIRE_COLLECT_WALKS || collector >= WIRE_COLLECTORS;
    }
    return n == 1 || (heaps <= 1 && calls == 0 && times <= 1);
}

static enum wire_status judge(const struct wire_hello *hello, pid_t pid) {
    if (memcmp(hello->magic, WIRE_HELLO_MAGIC, sizeof hello->magic) != 0 ||
        hello->version != WIRE_VERSION || hello->size != sizeof *hello)
        return WIRE_STATUS_VERSION;
    if (!go_together(hello))
        return WIRE_STATUS_FAILED;
    if (pid <= 0) /* of a PID namespace that the daemon can't see into */
        return WIRE_STATUS_FAILED;
    if (registry_live() + metrics_of(hello) > REGISTRY_LIVE_MAX)
        return WIRE_STATUS_FULL;
    if ((hello->flags & (WIRE_HELLO_NO_FOLLOW | WIRE_HELLO_ATTACHED)) == WIRE_HELLO_NO_FOLLOW &&
        has_profiled_parent(pid))
        return WIRE_STATUS_NOT_FOLLOWED;
    return WIRE_STATUS_OK;
}

/* What it asks for, of one of its metrics, as far as that can be. */
static struct session_sampling sampling_of(const struct wire_hello *hello, uint32_t place) {
    uint32_t collector = place == 0 ? hello->collector : hello->others[place - 1];
    struct session_sampling sampling = {
        .rate = hello->rate >= 1 && hello->rate <= RATE_MAX ? hello->rate : RATE_DEFAULT,
        .clock = hello->clock < WIRE_CLOCKS ? hello->clock : WIRE_CLOCK_CPU,
        .collector = collector < WIRE_COLLECTORS ? collector : WIRE_COLLECT_WALKS,
        .every_each = (hello->every & WIRE_EVERY_EACH) != 0,
        .credit = hello->credit < WIRE_CREDITS ? hello->credit : WIRE_CREDIT_LAST,
        .own_pid = hello->pid,
        .threads = (hello->flags & WIRE_HELLO_THREADS) != 0,
        .alone = (hello->flags & WIRE_HELLO_NO_FOLLOW) != 0,
        .place = place,
        .places = metrics_of(hello),
    };
    sampling.lines =
        sampling.collector == WIRE_COLLECT_WALKS && (hello->flags & WIRE_HELLO_LINES) != 0;
    if (sampling.collector == WIRE_COLLECT_CALLS)
        sampling.budget_ppm = hello->flags >> WIRE_HELLO_BUDGET_SHIFT;
    uint32_t every = hello->every & ~WIRE_EVERY_EACH;
    sampling.every = every > 0 ? every : 1;
    if (wire_of_events(sampling.collector))
        sampling.clock = WIRE_CLOCK_CPU; /* of no clock, and in no bursts */
    else if (hello->burst_length_ns > 0 && hello->burst_length_ns <= hello->burst_period_ns) {
        sampling.burst_length_ns = hello->burst_length_ns;
        sampling.burst_period_ns = hello->burst_period_ns;
    }
    return sampling;
}

/* ---- processes: one for each metric, which share a session ---- */

struct group {
    struct process *process[WIRE_METRICS_MAX]; /* the first one has made the session */
    uint32_t n;
};

static void free_group(struct group *group) {
    while (group->n > 0)
        process_free(group->process[--group->n]);
    *group = (struct group){.n = 0};
}

/* The metric by whose clock and rate the agent's timers go: of events none do. */
static uint32_t leader(const struct session_sampling *sampling, uint32_t n) {
    uint32_t first = 0;
    for (uint32_t i = n; i-- > 0;)
        if (!wire_of_events(sampling[i].collector) &&
            (first == 0 || sampling[i].collector == WIRE_COLLECT_WALKS))
            first = i;
    return first;
}

static bool add(struct group *group, struct process_params *params,
                const struct session_sampling *sampling) {
    params->sampling = *sampling;
    params->beside = group->n > 0 ? group->process[0] : NULL;
    struct process *process = process_new(params);
    if (process == NULL)
        return false;
    group->process[group->n++] = process;
    return true;
}

static bool make_group(struct group *group, const struct wire_hello *hello,
                       struct process_params *params) {
    struct session_sampling sampling[WIRE_METRICS_MAX];
    uint32_t n = metrics_of(hello);
    for (uint32_t i = 0; i < n; i++) {
        sampling[i] = sampling_of(hello, i);
        params->needs.heap |= wire_of_heap(sampling[i].collector);
        params->needs.events |= wire_of_events(sampling[i].collector);
    }
    uint32_t first = leader(sampling, n);
    bool made = add(group, params, &sampling[first]);
    for (uint32_t i = 0; i < n && made; i++)
        made = i == first || add(group, params, &sampling[i]);
    if (!made)
        free_group(group);
    return made;
}

static const char *const reasons[] = {
    [WIRE_STATUS_OK] = "the answer could not be sent",
    [WIRE_STATUS_VERSION] =
        "its agent is of another version: use the agent that came with this hcctd",
    [WIRE_STATUS_FULL] = "too many processes are profiled already",
    [WIRE_STATUS_FAILED] =
        "its session can't be made: no memory, or a process of another PID namespace",
    [WIRE_STATUS_NOT_FOLLOWED] = NULL, /* as asked for */
};

/* It has asked, and waits no longer: a session for nobody would keep those waiting who still do. */
static bool has_gone(int fd) {
    struct pollfd peer = {.fd = fd, .events = POLLRDHUP};
    return poll(&peer, 1, 0) == 1;
}

bool handshake_serve(int fd, const struct handshake_policy *policy, const char **reason) {
    struct wire_hello hello;
    struct ucred peer;
    socklen_t length = sizeof peer;
    *reason = "it is not an agent";
    if (recv(fd, &hello, sizeof hello, MSG_DONTWAIT) != (ssize_t)sizeof hello ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return false;
    *reason = NULL;
    if (has_gone(fd))
        return false;
    enum wire_status status = judge(&hello, peer.pid);
    struct group group = {.n = 0};
    struct process_params params = {.pid = peer.pid, .uid = peer.uid, .tree = policy->tree};
    if (status == WIRE_STATUS_OK && !make_group(&group, &hello, &params))
        status = WIRE_STATUS_FAILED;
    *reason = reasons[status];
    if (answer(fd, status, group.process[0]) && group.n > 0) {
        for (uint32_t i = 0; i < group.n; i++)
            policy->made(group.process[i]);
        ingest_adopt(group.process, group.n, hello.sessions > 0);
        return true;
    }
    if (group.n > 0 && (errno == EPIPE || errno == ECONNRESET))
        *reason = NULL; /* it has ended, or asks again */
    free_group(&group);
    return false;
}

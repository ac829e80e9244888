/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep_open.c - which calls may be open, and what is left of one that our signal has cut short.
 */
#include "preload/wrap/sleep_open.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "common/wire/compiler.h"
#include "preload/life/confine.h"
#include "preload/sample/open_call.h"
#include "preload/wrap/sleep.h"
#include "preload/wrap/sleep_list.h"
#include "preload/wrap/sleep_machine.h"

__thread uintptr_t sleep_open_call;

#define OPENS(name, fragile, open, set, call) open,
static const uint8_t opens[] = {RESTARTED(OPENS) SLEEPERS(OPENS) STARTERS(OPENS) RAW(OPENS)};

#define SETS(name, fragile, open, set, call) set,
static const uint8_t sets[] = {RESTARTED(SETS) SLEEPERS(SETS) STARTERS(SETS) RAW(SETS)};

_Static_assert(HCCT_ARRAY_LEN(opens) <= OPEN_CALL_FUNCTIONS, "each has a place in the trigger");

static bool may_be_open(const struct sleep_call *call, size_t which) {
    if (!SLEEP_OPENS || opens[which] == CLOSED)
        return false;
    if (OPEN_KIND(opens[which]) == OPEN_FLAGS)
        return (call->argument[OPEN_PLACE(opens[which])] & MSG_WAITALL) == 0;
    return sets[which] == NO_SET || call->argument[SET_PLACE(sets[which])] == 0;
}

hcct_hot bool sleep_open_begin(struct sleep_call *call, size_t which) {
    if (!may_be_open(call, which) || !open_call_begin(call, which))
        return false;
    call->unblock = SLEEP_CALL_OPEN;
    call->cut = 0;
    call->outer = sleep_open_call;
    sleep_open_call = (uintptr_t)call;
    return true;
}

/* ---- what is left of a transfer ---- */

typedef long (*real_function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static long make(const struct sleep_call *call, const uint64_t argument[6]) {
    real_function real = (real_function)(uintptr_t)*call->slot;
    return real(argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

/* Where a call's buffers are: the array of them, and how many. */
struct buffers {
    struct iovec *first;
    size_t count;
};

static struct buffers buffers_of(const struct sleep_call *call, int kind) {
    const struct msghdr *message = (const struct msghdr *)call->argument[1];
    if (kind == OPEN_MESSAGE)
        return (struct buffers){message->msg_iov, message->msg_iovlen};
    return (struct buffers){(struct iovec *)call->argument[1], (size_t)call->argument[2]};
}

static uint64_t asked(const struct sleep_call *call, int kind) {
    if (kind == OPEN_MEMORY || kind == OPEN_BYTES)
        return call->argument[2];
    struct buffers buffers = buffers_of(call, kind);
    uint64_t bytes = 0;
    for (size_t i = 0; i < buffers.count; i++)
        bytes += buffers.first[i].iov_len;
    return bytes;
}

static long make_bytes(const struct sleep_call *call, int kind, uint64_t done) {
    const uint64_t *a = call->argument;
    /* of __read_chk; what was done is a result, whatever became of the other end */
    uint64_t fourth = kind == OPEN_MEMORY ? a[3] - done : a[3] | MSG_NOSIGNAL;
    return make(call, (uint64_t[]){a[0], a[1] + done, a[2] - done, fourth, a[4], a[5]});
}

/* With other buffers, and what goes with a message has gone with its first part. */
static long make_buffers(const struct sleep_call *call, int kind, struct buffers buffers) {
    const uint64_t *a = call->argument;
    if (kind == OPEN_VECTOR)
        return make(call,
                    (uint64_t[]){a[0], (uintptr_t)buffers.first, buffers.count, a[3], a[4], a[5]});
    struct msghdr rest = *(const struct msghdr *)a[1];
    rest.msg_iov = buffers.first;
    rest.msg_iovlen = buffers.count;
    rest.msg_control = NULL;
    rest.msg_controllen = 0;
    return make(call, (uint64_t[]){a[0], (uintptr_t)&rest, a[2] | MSG_NOSIGNAL, a[3], a[4], a[5]});
}

/* The rest of the buffer that was cut, then those after it. */
static long make_vector(const struct sleep_call *call, int kind, uint64_t done) {
    struct buffers buffers = buffers_of(call, kind);
    while (done >= buffers.first->iov_len) {
        done -= buffers.first->iov_len;
        buffers.first++;
        buffers.count--;
    }
    struct iovec one = {(char *)buffers.first->iov_base + done, buffers.first->iov_len - done};
    long made = make_buffers(call, kind, (struct buffers){&one, 1});
    if (made < (long)one.iov_len || buffers.count == 1)
        return made;
    long others = make_buffers(call, kind, (struct buffers){buffers.first + 1, buffers.count - 1});
    return others < 0 ? made : made + others;
}

static bool is_cut(const struct sleep_call *call, int kind) {
    int64_t done = (int64_t)call->result;
    return done > 0 && kind != OPEN && kind != OPEN_FLAGS && (uint64_t)done < asked(call, kind) &&
           (kind == OPEN_MEMORY ? sleep_is_memory((int)call->argument[0])
                                : !sleep_is_file((int)call->argument[0]));
}

/* As the kernel would have gone on. Where that fails, what was done before is the result. */
static void finish(struct sleep_call *call, size_t which) {
    struct agent_thread *self = thread_self;
    int kind = OPEN_KIND(opens[which]), saved = errno;
    uint32_t before;
    if (self == NULL || !is_cut(call, kind) || !confine_enter(self, &before))
        return;
    sleep_block(call, which);
    confine_leave(self, before);
    long rest = kind == OPEN_VECTOR || kind == OPEN_MESSAGE ? make_vector(call, kind, call->result)
                                                            : make_bytes(call, kind, call->result);
    if (rest > 0)
        call->result += (uint64_t)rest;
    errno = saved;
}

hcct_hot void sleep_leave_open(struct sleep_call *call) {
    size_t which = sleep_number(call);
    sleep_open_call = call->outer;
    open_call_end(call, which);
    if (hcct_unlikely(call->cut != 0))
        finish(call, which);
}

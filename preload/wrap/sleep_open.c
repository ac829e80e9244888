/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep_open.c - which calls may be open, and their ends.
 */
#include "preload/wrap/sleep_open.h"

#include <errno.h>
#include <sys/socket.h>

#include "common/wire/compiler.h"
#include "preload/life/confine.h"
#include "preload/life/thread.h"
#include "preload/sample/calm.h"
#include "preload/wrap/sleep.h"
#include "preload/wrap/sleep_list.h"
#include "preload/wrap/sleep_machine.h"
#include "preload/wrap/transfer.h"

#define OPENS(name, fragile, open, set, call) open,
static const uint8_t opens[] = {SLEEP_LIST(OPENS)};

#define SETS(name, fragile, open, set, call) set,
static const uint8_t sets[] = {SLEEP_LIST(SETS)};

_Static_assert(HCCT_ARRAY_LEN(opens) <= OPEN_CALL_FUNCTIONS, "each has a place in the trigger");

static int flags_of(const struct sleep_call *call, size_t which) {
    unsigned place = OPEN_PLACE(opens[which]);
    return place != 0 ? (int)call->argument[place] : 0;
}

/* Those that wait for all they ask for, and those that would have two ends if they were made in two
 * parts. */
#define CLOSING_FLAGS (MSG_WAITALL | MSG_OOB | MSG_FASTOPEN | MSG_ZEROCOPY)

static bool may_be_open(const struct sleep_call *call, size_t which) {
    return SLEEP_OPENS && opens[which] != CLOSED && (flags_of(call, which) & CLOSING_FLAGS) == 0 &&
           (sets[which] == NO_SET || call->argument[SET_PLACE(sets[which])] == 0);
}

hcct_hot bool sleep_open_begin(struct sleep_call *call, size_t which) {
    if (!may_be_open(call, which) || !open_call_begin(call, which))
        return false;
    call->unblock = SLEEP_CALL_OPEN;
    call->before = thread_self->open_call;
    thread_self->open_call = sleep_announced(thread_self, call, call->began_ns);
    return true;
}

/* Whether our signal alone has ended the call. One of the application's would have, too. */
static bool is_ours(const struct agent_thread *self, uint32_t handlers) {
    return self->handlers == handlers;
}

/* As the kernel would have gone on, with our signal blocked. `handlers`: that were called before.
 */
static void finish(struct sleep_call *call, size_t which, uint32_t handlers) {
    struct agent_thread *self = thread_self;
    struct transfer transfer = {call, OPEN_KIND(opens[which]), flags_of(call, which), call->result};
    uint32_t before;
    int saved = errno;
    if (self == NULL || !confine_enter(self, &before))
        return;
    bool is_cut = transfer.kind != OPEN && (int64_t)call->result > 0 && is_ours(self, handlers) &&
                  transfer_is_cut(&transfer);
    if (is_cut)
        sleep_block(call, which);
    if (is_cut && transfer_is_terminal((int)call->argument[0]))
        calm_never(self, which);
    confine_leave(self, before);
    if (is_cut && is_ours(self, handlers))
        call->result = transfer_finish(&transfer);
    errno = saved;
}

hcct_hot void sleep_leave_open(struct sleep_call *call) {
    size_t which = sleep_number(call);
    uint32_t handlers = 0;
    bool cut = false;
    open_call_end(call, which);
    if (hcct_likely(thread_self != NULL)) {
        const struct announced_call *open = &thread_self->open_call;
        cut = open->call == (uintptr_t)call && open->cut;
        handlers = open->handlers;
        thread_self->open_call = call->before;
    }
    if (hcct_unlikely(cut))
        finish(call, which, handlers);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thread_name_test.c - contexts by thread: one that is named a moment after its first sample has
 * that name in all of its contexts.
 *
 * This program is the profiled process, by hand; its only thread is not the main one to the daemon.
 */
#include <sys/prctl.h>
#include <unistd.h>

#include "common/tree/summary.h"
#include "common/wire/ring.h"
#include "daemon/ingest/drain.h"
#include "daemon/ingest/registry.h"
#include "tests/check.h"
#include "tests/tree/nodes.h"

#define WAIT_US 60000 /* so long the daemon waits, and a little */
#define NO_TID  1     /* of the main thread, which is elsewhere */

static struct process *begin(void) {
    const struct process_params params = {
        .pid = getpid(),
        .uid = getuid(),
        .sampling = {.rate = 100, .threads = true, .own_pid = NO_TID},
        .tree = {.summary = &summary_exact, .epsilon = 0.001},
    };
    struct process *process = process_new(&params);
    CHECK(process != NULL);
    registry_ref(process); /* this test's */
    registry_add(process);
    struct wire_slot *slot = session_memory_slot(&process->memory, 0);
    slot->tid = (uint32_t)getpid();
    strcpy(slot->name, "parent's");
    atomic_store(&slot->state, WIRE_SLOT_OWNED);
    atomic_store(&process->memory.session->slots_used, 1);
    return process;
}

static void credit(struct process *process) {
    struct wire_slot *slot = session_memory_slot(&process->memory, 0);
    uint64_t at = atomic_load(&slot->head);
    ring_put(slot, WIRE_RING_WORDS(WIRE_SLOT_BYTES), at, wire_word(WIRE_CREDIT, 1000));
    ring_publish(slot, at + 1);
}

static uint64_t weight_of(struct process *process, uint32_t thread) {
    struct mcct_view view = {.count = 0};
    mcct_flush(process->tree);
    uint32_t node = node_child(process->tree, MCCT_ROOT, thread);
    if (node != 0)
        node_view(process->tree, node, &view);
    return view.count;
}

#define WEIGHT_OF(process, name) weight_of(process, addresses_thread((process)->addresses, name))

static void end(struct process *process) {
    process_finish(process);
    registry_put(process);
}

static void named_after_its_first_sample(void) {
    struct process *process = begin();
    prctl(PR_SET_NAME, "early");
    credit(process);
    process_drain(process, NULL, NULL);
    CHECK_UINT(WEIGHT_OF(process, "early"), 0);
    prctl(PR_SET_NAME, "late\nname");
    usleep(WAIT_US);
    process_drain(process, NULL, NULL);
    CHECK_UINT(WEIGHT_OF(process, "late\nname"), 1000);
    prctl(PR_SET_NAME, "later");
    credit(process);
    process_drain(process, NULL, NULL);
    CHECK_UINT(WEIGHT_OF(process, "late\nname"), 2000);
    end(process);
}

/* Of a thread that is gone the kernel knows no name any more. */
static void ended_meanwhile(void) {
    struct process *process = begin();
    struct wire_slot *slot = session_memory_slot(&process->memory, 0);
    prctl(PR_SET_NAME, "short");
    credit(process);
    process_drain(process, NULL, NULL);
    slot->tid = 0;
    atomic_store(&slot->state, WIRE_SLOT_ENDED);
    process_drain(process, NULL, NULL);
    CHECK_UINT(WEIGHT_OF(process, "short"), 1000);
    CHECK_UINT(WEIGHT_OF(process, "parent's"), 0);
    end(process);
}

static void killed_meanwhile(void) {
    struct process *process = begin();
    prctl(PR_SET_NAME, "killed");
    credit(process);
    process_drain(process, NULL, NULL);
    uint32_t killed = addresses_thread(process->addresses, "killed");
    process_end(process, true);
    CHECK_UINT(weight_of(process, killed), 1000);
    end(process);
}

/* The next thread in the slot has its own. */
static void one_after_the_other(void) {
    struct process *process = begin();
    struct wire_slot *slot = session_memory_slot(&process->memory, 0);
    slot->tid = 0;
    credit(process);
    atomic_store(&slot->state, WIRE_SLOT_ENDED);
    process_drain(process, NULL, NULL);
    CHECK_UINT(WEIGHT_OF(process, "parent's"), 1000);
    strcpy(slot->name, "second");
    credit(process);
    atomic_store(&slot->state, WIRE_SLOT_ENDED);
    process_drain(process, NULL, NULL);
    CHECK_UINT(WEIGHT_OF(process, "second"), 1000);
    end(process);
}

int main(void) {
    named_after_its_first_sample();
    ended_meanwhile();
    killed_meanwhile();
    one_after_the_other();
    registry_clear();
    return check_report();
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * deferred_unwind_test.c - a raw stack sample from the ring to the tree: while its process lives,
 * when that is gone at once, and when the worker fails.
 *
 * This program is the profiled process, by hand, and its own worker child; $WORKER_FAILS says how
 * that is to fail.
 */
#include "daemon/ingest/deferred_unwind.h"

#include <link.h>
#include <poll.h>
#include <ucontext.h>
#include <unistd.h>

#include "common/code/elf_protocol.h"
#include "common/code/frame.h"
#include "common/tree/summary.h"
#include "common/wire/arch.h"
#include "common/wire/ring.h"
#include "daemon/ingest/drain.h"
#include "daemon/ingest/registry.h"
#include "tests/check.h"
#include "tests/tree/nodes.h"

#define DEPTH 12

/* ---- the child's side ---- */

static int child_main(void) {
    const char *how = getenv("WORKER_FAILS");
    if (how == NULL)
        return elf_worker_main(3);
    struct elf_request request;
    int file;
    elf_receive_head(3, &request, &file);
    if (strcmp(how, "late") == 0)
        poll(NULL, 0, -1);
    return 1;
}

/* ---- the agent's side ---- */

static struct process *process;
static char *stack_top;
static uint64_t entry_of_descend;

static int tell_module(struct dl_phdr_info *info, size_t size, void *arg) {
    struct wire_session *session = process->memory.session;
    (void)size;
    (void)arg;
    if (strstr(info->dlpi_name, "vdso") != NULL)
        return 0;
    struct wire_module *module = session_memory_module(&process->memory, session->modules_used);
    module->start = UINT64_MAX;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        module->start = start < module->start ? start : module->start;
        module->end = start + info->dlpi_phdr[i].p_memsz;
    }
    module->bias = info->dlpi_addr;
    module->path_len = (uint16_t)snprintf(module->path, sizeof module->path, "%s", info->dlpi_name);
    atomic_store(&module->filled, 1);
    session->modules_used++;
    return 0;
}

static void begin(bool lines) {
    const struct process_params params = {
        .pid = getpid(),
        .uid = getuid(),
        .sampling = {.rate = 100, .lines = lines},
        .tree = {.summary = &summary_exact, .epsilon = 0.001},
    };
    process = process_new(&params);
    registry_add(process);
    registry_find_live(getpid()); /* a reference for this test */
    dl_iterate_phdr(tell_module, NULL);
    struct wire_slot *slot = session_memory_slot(&process->memory, 0);
    atomic_store(&slot->state, WIRE_SLOT_OWNED);
    atomic_store(&process->memory.session->slots_used, 1);
}

static void put(uint64_t word) {
    struct wire_slot *slot = session_memory_slot(&process->memory, 0);
    uint64_t at = atomic_load(&slot->head);
    ring_put(slot, WIRE_RING_WORDS(WIRE_SLOT_BYTES), at, word);
    ring_publish(slot, at + 1);
}

static __attribute__((noinline, no_sanitize("address"))) void
raw_sample_from_here(uint64_t weight) {
    ucontext_t uc;
    getcontext(&uc);
    uint64_t sp = arch_reg(&uc, ARCH_SP) & ~7ull;
    uint64_t words = ((uint64_t)(uintptr_t)stack_top - sp) / 8;
    if (words > WIRE_RAW_STACK_MAX)
        words = WIRE_RAW_STACK_MAX;
    put(wire_word(WIRE_RAW_STACK, weight));
    put(WIRE_RAW_STACK_SIZES(0, ARCH_REGS, words));
    put(arch_pc(&uc));
    put(arch_pc(&uc));
    put(UINT64_MAX);
    for (unsigned i = 0; i < ARCH_REGS; i++)
        put(arch_reg(&uc, i));
    for (uint64_t i = 0; i < words; i++)
        put(((const uint64_t *)(uintptr_t)sp)[i]);
}

static volatile unsigned sink;

static __attribute__((noinline)) unsigned descend(unsigned n, uint64_t weight) {
    entry_of_descend = (uint64_t)(uintptr_t)descend;
    if (n == 0)
        raw_sample_from_here(weight);
    else
        sink += descend(n - 1, weight);
    return sink++;
}

/* ---- checks ---- */

static uint64_t total(void) {
    struct mcct_stats stats;
    mcct_stats(process->tree, &stats);
    return stats.total;
}

/* Weight of the one context of the tree, and how many of its frames are descend(). */
struct found {
    uint64_t weight, in_file;
    uint32_t module;
    unsigned descends, contexts;
};

static bool look(void *arg, uint32_t node, const struct mcct_view *view) {
    struct found *found = arg;
    struct frame_key key;
    if (node == MCCT_ROOT || !frame_get(view->frame, &key))
        return true;
    found->descends += key.routine == found->in_file && key.routine_module != 0;
    found->weight += view->count;
    found->contexts += view->count > 0;
    return true;
}

static struct found find(uint64_t bias) {
    struct found found = {.in_file = entry_of_descend - bias};
    mcct_walk(process->tree, look, &found);
    return found;
}

static struct process_stats stats(void) {
    struct process_stats out;
    process_get_stats(process, &out);
    return out;
}

static int first_bias(struct dl_phdr_info *info, size_t size, void *bias) {
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1;
}

static void check_context(uint64_t weight) {
    uint64_t bias = 0;
    dl_iterate_phdr(first_bias, &bias);
    struct found found = find(bias);
    CHECK_UINT(found.weight, weight);
    CHECK_UINT(found.contexts, 1);
    CHECK_UINT(found.descends, DEPTH + 1);
}

static bool has_addresses(void) {
    pthread_mutex_lock(&process->lock);
    bool has = process->addresses != NULL;
    pthread_mutex_unlock(&process->lock);
    return has;
}

static void end(void) {
    process_finish(process);
    registry_put(process);
}

static void test_live(void) {
    begin(false);
    for (volatile unsigned i = 0; i < 3; i++) /* volatile: one loop, one call site */
        descend(DEPTH, 100);
    CHECK(process_drain(process, NULL, NULL));
    deferred_unwind_wait(process);
    CHECK(!process_has_deferred(process));
    CHECK_UINT(stats().deferred.credited, 3);
    CHECK_UINT(stats().deferred.complete, 3);
    CHECK_UINT(stats().deferred.refused, 0);
    check_context(300);
    end();
}

static bool search_place(void *arg, uint32_t node, const struct mcct_view *view) {
    struct frame_key key;
    bool place = node != MCCT_ROOT && frame_get(view->frame, &key) && frame_is_leaf_pc(&key);
    if (place && key.site_module != 0)
        *(uint64_t *)arg += view->count;
    return true;
}

/* Where lines are asked for, the weight is at the pc, as with walks that the agent makes. */
static void test_lines(void) {
    uint64_t at_places = 0;
    begin(true);
    for (volatile unsigned i = 0; i < 3; i++)
        descend(DEPTH, 100);
    CHECK(process_drain(process, NULL, NULL));
    deferred_unwind_wait(process);
    check_context(300);
    mcct_walk(process->tree, search_place, &at_places);
    CHECK_UINT(at_places, 300);
    end();
}

/* The process is gone before anybody has read its ring: nothing is lost, and nobody waits at its
 * end. */
static void test_gone_at_once(void) {
    begin(false);
    descend(DEPTH, 500);
    process_finish(process);
    CHECK(!process->live);
    deferred_unwind_wait(process);
    CHECK(!process_has_deferred(process));
    CHECK(!has_addresses());
    CHECK_UINT(stats().deferred.complete, 1);
    check_context(500);
    registry_put(process);
}

/* What can't be unwound is credited to the mark. */
static void check_refused(uint64_t n, uint64_t weight) {
    struct mcct_view view;
    struct process_stats now = stats();
    CHECK_UINT(now.deferred.credited, n);
    CHECK_UINT(now.deferred.refused, n);
    CHECK_UINT(now.deferred.no_rule, n);
    CHECK_UINT(total(), weight);
    struct frame_key key = {.routine = WIRE_PSEUDO_NO_RULE};
    uint32_t node = node_child(process->tree, MCCT_ROOT, frame_intern(&key));
    CHECK(node != 0);
    node_view(process->tree, node, &view);
    CHECK_UINT(view.count, weight);
}

static void test_dying_worker(void) {
    begin(false);
    for (unsigned i = 0; i < 5; i++) {
        descend(DEPTH, 10);
        process_drain(process, NULL, NULL);
        deferred_unwind_wait(process);
    }
    check_refused(5, 50);
    end();
}

static void test_late_worker(void) {
    begin(false);
    descend(DEPTH, 10);
    process_finish(process);
    CHECK(process_has_deferred(process)); /* the end of the process did not wait */
    CHECK(has_addresses());
    deferred_unwind_wait(process);
    check_refused(1, 10);
    registry_put(process);
}

/* Without a thread, too. */
static void test_no_thread(void) {
    begin(false);
    descend(DEPTH, 10);
    process_drain(process, NULL, NULL);
    check_refused(1, 10);
    end();
}

static void with_worker(const char *fails, void (*test)(void)) {
    if (fails != NULL)
        setenv("WORKER_FAILS", fails, 1);
    CHECK(deferred_unwind_start());
    test();
    deferred_unwind_stop();
    unsetenv("WORKER_FAILS");
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--elf-worker") == 0)
        return child_main();
    stack_top = (char *)__builtin_frame_address(0) + 512;
    with_worker(NULL, test_live);
    with_worker(NULL, test_lines);
    with_worker(NULL, test_gone_at_once);
    with_worker("die", test_dying_worker);
    with_worker("late", test_late_worker);
    test_no_thread();
    return check_report();
}

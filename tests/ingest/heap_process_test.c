/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * heap_process_test.c - sampled blocks of a process: while it lives those that were there when its
 * rings were read, whatever it allocates meanwhile; what it had at its end when it has ended, and
 * when it is folded with others.
 *
 * This program is each of the profiled processes, by hand.
 */
#include <malloc.h>
#include <math.h>
#include <unistd.h>

#include "common/tree/summary.h"
#include "common/wire/compiler.h"
#include "common/wire/ring.h"
#include "daemon/ingest/drain.h"
#include "daemon/ingest/registry.h"
#include "tests/check.h"
#include "tests/tree/nodes.h"

#define WEIGHT    ((uint64_t)WIRE_BLOCKS_MEAN + 1000)
#define PROCESSES (REGISTRY_FINISHED_MAX + 20u)

static struct process *begin(void) {
    const struct process_params params = {
        .pid = getpid(),
        .uid = getuid(),
        .sampling = {.collector = WIRE_COLLECT_HEAP},
        .tree = {.summary = &summary_exact, .epsilon = 0.001},
    };
    struct process *process = process_new(&params);
    CHECK(process != NULL);
    registry_ref(process); /* this test's */
    registry_add(process);
    atomic_store(&session_memory_slot(&process->memory, 0)->state, WIRE_SLOT_OWNED);
    atomic_store(&process->memory.session->slots_used, 1);
    return process;
}

static void end(struct process *process) {
    process_finish(process);
    registry_put(process);
}

static uint64_t number(uint64_t serial, uint32_t place) {
    return serial << WIRE_BLOCKS_SHIFT | place;
}

static void put_words(struct process *process, const uint64_t *word, size_t n) {
    struct wire_slot *slot = session_memory_slot(&process->memory, 0);
    uint64_t at = atomic_load(&slot->head);
    for (size_t i = 0; i < n; i++)
        ring_put(slot, WIRE_RING_WORDS(WIRE_SLOT_BYTES), at++, word[i]);
    ring_publish(slot, at);
}

/* As the agent does: the ring names it, in a context of one frame, then the session's memory has
 * it. */
static void name_block(struct process *process, uint64_t it) {
    const uint64_t word[] = {wire_word(WIRE_PUSH, WIRE_PSEUDO_TRUNCATED), 0,
                             wire_word(WIRE_BLOCK, it), wire_word(WIRE_CREDIT, WEIGHT),
                             wire_word(WIRE_POP, 1)};
    put_words(process, word, HCCT_ARRAY_LEN(word));
}

static void show(struct process *process, uint64_t it, uint64_t weight) {
    struct wire_block *block = (struct wire_block *)session_memory_blocks(&process->memory);
    atomic_store(&block[WIRE_BLOCK_PLACE(it)].weight, weight);
    atomic_store(&block[WIRE_BLOCK_PLACE(it)].number, it);
}

static uint64_t total_of(struct process *process) {
    struct mcct_stats stats;
    pthread_mutex_lock(&process->lock);
    mcct_stats(process_tree(process), &stats);
    pthread_mutex_unlock(&process->lock);
    return stats.total;
}

/* Of that, what comes from nobody knows where. */
static uint64_t unknown_of(struct process *process) {
    struct mcct_view view = {.count = 0};
    struct mcct *tree = process_tree(process);
    uint32_t frame = addresses_frame(process->addresses, WIRE_PSEUDO_LOST, 0);
    uint32_t node = node_child(tree, MCCT_ROOT, frame);
    if (node != 0)
        node_view(tree, node, &view);
    return view.count;
}

static void test_allocates_meanwhile(void) {
    struct process *process = begin();
    name_block(process, number(1, 5));
    show(process, number(1, 5), WEIGHT);
    process_drain_and_see(process, NULL, NULL);
    name_block(process, number(2, 6));
    show(process, number(2, 6), WEIGHT); /* after its ring was read, before the tree is asked for */
    CHECK_UINT(total_of(process), WEIGHT);
    CHECK_UINT(unknown_of(process), 0);
    process_drain(process, NULL, NULL);
    CHECK_UINT(total_of(process), WEIGHT); /* this one reads rings alone */
    process_drain_and_see(process, NULL, NULL);
    CHECK_UINT(total_of(process), 2 * WEIGHT);
    CHECK_UINT(unknown_of(process), 0);
    show(process, number(3, 7), WEIGHT); /* no ring names it */
    process_drain_and_see(process, NULL, NULL);
    CHECK_UINT(total_of(process), 3 * WEIGHT);
    CHECK_UINT(unknown_of(process), WEIGHT);
    show(process, number(4, 8), WEIGHT);
    end(process); /* with what the memory says last */
    registry_clear();
}

/* Its thread has not ended, and stands in a context. */
static void test_ends_within(void) {
    struct process *process = begin();
    const uint64_t word[] = {wire_word(WIRE_PUSH, WIRE_PSEUDO_TRUNCATED), 0};
    name_block(process, number(1, 5));
    put_words(process, word, HCCT_ARRAY_LEN(word));
    show(process, number(1, 5), WEIGHT);
    process_finish(process);
    CHECK_UINT(total_of(process), WEIGHT);
    registry_put(process);
    registry_clear();
}

/* The variance of a block of S bytes is S^2 (1-p)/p^2, by the R that it was drawn by: next to R^2
 * of a small one, next to nothing of a large one. What is not there at all may weigh the largest R.
 */
static void test_mean(void) {
    const double unit = 1u << DRAWS_UNIT_SHIFT;
    struct process *process = begin();
    uint64_t serial = 1;
    for (uint32_t doubled = 0; doubled < 8; doubled++) {
        double mean = (double)wire_blocks_mean(doubled);
        atomic_store(&process->memory.session->blocks_doubled, doubled);
        for (double size = mean / 1000; size < 20 * mean; size *= 2) {
            double missed = exp(-size / mean), weight = size / (1 - missed);
            show(process, number(serial++, 5),
                 WIRE_BLOCK_WEIGHT((uint64_t)weight, WIRE_DRAWN(doubled, doubled / 2)));
            process_drain_and_see(process, NULL, NULL);
            CHECK_UINT(total_of(process), (uint64_t)weight);
            CHECK(fabs((double)process->ended.draws.squares * unit * unit -
                       weight * weight * missed) <= 1e-3 * mean * mean + unit * unit);
        }
        CHECK_UINT(process->ended.scatter.lone, wire_blocks_mean(doubled));
    }
    end(process);
    registry_clear();
}

static uint64_t total_of_all(size_t *n) {
    uint64_t sum = 0;
    struct process **list = registry_list(NULL, NULL, n);
    for (size_t i = 0; i < *n; i++)
        sum += total_of(list[i]);
    registry_free_list(list, *n);
    return sum;
}

/* Whether or not somebody has looked at them before. */
static void test_folded(bool looked_at) {
    size_t n;
    for (unsigned i = 0; i < PROCESSES; i++) {
        struct process *process = begin();
        name_block(process, number(1, i));
        show(process, number(1, i), WEIGHT);
        process_drain_and_see(process, NULL, NULL);
        if (looked_at)
            CHECK_UINT(total_of(process), WEIGHT);
        end(process);
        if (looked_at)
            CHECK_UINT(total_of_all(&n), (i + 1) * WEIGHT);
    }
    while (registry_fold())
        ;
    CHECK_UINT(total_of_all(&n), PROCESSES * WEIGHT);
    CHECK_UINT(n, REGISTRY_FINISHED_MAX + 1);
    CHECK_UINT(total_of_all(&n), PROCESSES * WEIGHT); /* also when asked again */
    struct process **list = registry_list(NULL, NULL, &n);
    uint64_t draws = 0;
    for (size_t i = 0; i < n; i++)
        draws += list[i]->ended.draws.weight;
    CHECK_UINT(draws, PROCESSES * ((WEIGHT + 512) >> DRAWS_UNIT_SHIFT));
    registry_free_list(list, n);
    registry_clear();
}

int main(void) {
    mallopt(M_PERTURB, 0x55); /* what is freed holds nothing that it held */
    test_allocates_meanwhile();
    test_ends_within();
    test_mean();
    test_folded(false);
    test_folded(true);
    return check_report();
}

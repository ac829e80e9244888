/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * child_ends.c - a page that a parent shares with its children, where each writes what it has used.
 *
 * A child that calls exec, or is killed, writes nothing, and nothing is learned from it. So it is
 * with one whose place another child has taken. Where there are several threads, one may take the
 * time of another's child for the end of its own: a measurement counts there as no more than four
 * times what is known so far.
 */
#include "preload/life/child_ends.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "preload/life/agent.h"
#include "preload/life/mean.h"
#include "preload/life/memory.h"
#include "preload/life/sys.h"
#include "preload/life/thread.h"
#include "preload/sample/ticker.h"

#define WORDS      (WIRE_PAGE / sizeof(uint64_t))
#define PLACES     (WORDS - 3)
#define LOST       PLACES       /* the word of what children have lost */
#define FIRST_WALK (PLACES + 1) /* of what the first walk of one has taken */
#define FORKED     (PLACES + 2) /* of how many children they have forked themselves */
#define TIME_BITS  42           /* of a place: CPU time; the others: a process */
#define FIRST_NS   200000
#define REST_PART  4 /* one part in so many of a measurement is learned */
#define MOST_TIMES 4
#define NOTE_EACH  8  /* of so many children one writes, where the ends of enough are known */
#define ENOUGH     16 /* what is learned has come to what it is, whatever FIRST_NS was */

static _Atomic uint64_t *shared; /* NULL: no child is expected */
static _Atomic uint64_t rest_ns;
static _Atomic uint32_t learned; /* from so many ends */

uint64_t child_ends_rest(void) {
    return atomic_load_explicit(&rest_ns, memory_order_relaxed);
}

void child_ends_expect(void) {
    if (shared == NULL)
        shared = memory_map(WIRE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
}

/* A word that is 0 is not written to: the page is not the process's yet. */
static void leave(uint64_t word, uint64_t n) {
    if (shared != NULL && n != 0)
        atomic_fetch_add(&shared[word], n);
}

static uint64_t take(uint64_t word) {
    return shared == NULL || atomic_load(&shared[word]) == 0 ? 0
                                                             : atomic_exchange(&shared[word], 0);
}

void child_ends_leave(uint64_t lost_ns, uint64_t forked) {
    leave(LOST, lost_ns);
    leave(FORKED, forked);
}

uint64_t child_ends_lost(void) {
    return take(LOST);
}

uint64_t child_ends_forked(void) {
    return take(FORKED);
}

uint64_t child_ends_first_walk(void) {
    return shared == NULL ? 0 : atomic_load(&shared[FIRST_WALK]);
}

/* Two at once may take one for the other's. */
void child_ends_note_first_walk(uint64_t ns) {
    uint64_t known = child_ends_first_walk();
    if (shared == NULL || ns == 0)
        return;
    uint64_t measured = known == 0 || ns < MOST_TIMES * known ? ns : MOST_TIMES * known;
    atomic_store(&shared[FIRST_WALK], mean_after(known, measured, REST_PART));
}

static uint64_t of_waited(void) {
    struct rusage usage;
    if (sys2(SYS_getrusage, RUSAGE_CHILDREN, &usage) != 0)
        return 0;
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * SECOND_NS +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static _Atomic uint64_t *place_of(pid_t pid) {
    return &shared[(uint64_t)pid % PLACES];
}

/* The page has to be given to each child that writes there, which takes longer than to look at the
 * clock. Which children do is left to their numbers, of which no bits are taken as they are: they
 * may be the same for all children of one parent. */
static bool is_one_of_many(pid_t pid) {
    return atomic_load_explicit(&learned, memory_order_relaxed) < ENOUGH ||
           ((uint32_t)pid * 2654435769u >> 16) % NOTE_EACH == 0;
}

/* Its own children are in what the kernel counts for its parent. */
void child_ends_note(void) {
    pid_t pid = agent.process->pid;
    if (shared == NULL || !agent.process->is_child || !is_one_of_many(pid))
        return;
    uint64_t used = ticker_now(CLOCK_PROCESS_CPUTIME_ID) + of_waited();
    if (used >> TIME_BITS == 0)
        atomic_store(place_of(pid), (uint64_t)pid << TIME_BITS | used);
}

uint64_t child_ends_waited(void) {
    return shared == NULL ? 0 : 1 + of_waited();
}

static bool is_alone(void) {
    for (const struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (t != thread_self && atomic_load_explicit(&t->used, memory_order_relaxed) != 0)
            return false;
    return true;
}

static uint64_t plausible(uint64_t measured, uint64_t rest) {
    uint64_t most = rest == 0 ? FIRST_NS : MOST_TIMES * rest;
    return measured < most || is_alone() ? measured : most;
}

void child_ends_learn(pid_t pid, uint64_t waited_before) {
    if (waited_before == 0 || pid <= 0)
        return;
    uint64_t used = of_waited() - (waited_before - 1), word = atomic_exchange(place_of(pid), 0);
    uint64_t noted = word & ((1ull << TIME_BITS) - 1), rest = child_ends_rest();
    if (word >> TIME_BITS != (uint64_t)pid || used <= noted)
        return;
    uint64_t measured = plausible(used - noted, rest);
    atomic_store(&rest_ns, mean_after(rest, measured, REST_PART));
    atomic_fetch_add_explicit(&learned, 1, memory_order_relaxed);
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * held_sample.c - the table is of a child's own: the kernel empties it, however the child was made.
 * Those that its parent's threads wait for, nobody waits for in a child.
 */
#include "preload/sample/held_sample.h"

#include <stddef.h>
#include <sys/mman.h>

#include "preload/life/agent.h"
#include "preload/life/memory.h"
#include "preload/life/session.h"
#include "preload/life/sys.h"
#include "preload/locks/link.h"
#include "preload/sample/event_inside.h"
#include "preload/sample/ticker.h"

static void lose_inside(struct agent_thread *thread, const void *argument) {
    const struct agent_settings *set = &agent.settings;
    const uint64_t *weight = argument;
    struct wire_session *session = session_enter(thread);
    if (session == NULL)
        return;
    struct stream *of_ticks = thread->stream;
    for (unsigned i = 0; i < set->metrics; i++) {
        if (!wire_of_held(set->metric[i]))
            continue;
        thread->stream = &thread->streams[i];
        session_lose(thread, session, *weight);
    }
    thread->stream = of_ticks;
    session_leave(thread);
}

/* Thread context, or inside a handler of the application. */
static void lose(uint64_t weight) {
    (void)event_inside(lose_inside, &weight);
}

/* An agent that is attached again has it from before: who waits may still stand there. */
static struct held_table *table_made;

static struct held_table *make_table(void) {
    size_t bytes = hcct_held_link.table_bytes;
    void *table =
        memory_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (table == NULL || sys3(SYS_madvise, table, bytes, MADV_WIPEONFORK) != 0) {
        settings_say(&agent.settings, true,
                     "there is no memory for lock-held: ", "it is not sampled");
        return NULL;
    }
    return table;
}

bool held_sample_start(void) {
    if (table_made != NULL)
        hcct_held_link.renew(table_made, ticker_now(CLOCK_MONOTONIC));
    else
        table_made = make_table();
    if (table_made == NULL)
        return false;
    hcct_held_link.lose = lose;
    atomic_store(&hcct_held_link.table, table_made);
    return true;
}

void held_sample_stop(void) {
    if (&hcct_held_link != NULL)
        atomic_store(&hcct_held_link.table, NULL);
}

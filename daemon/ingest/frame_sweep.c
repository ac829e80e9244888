/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * frame_sweep.c - mark what all trees of a user have, one process at a time under its lock.
 *
 * While a sweep is under way, what is interned is marked at once. So it is enough to see each
 * process once: what comes into its tree later is marked, too. A process that takes over another's
 * tree holds the frames meanwhile (ingest_adopt); one that is listed here is not folded into
 * another, as there is a reference to it.
 */
#include "daemon/ingest/frame_sweep.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "common/base/options.h"
#include "common/code/frame.h"
#include "common/code/jit_names.h"
#include "common/code/module.h"
#include "daemon/ingest/module_sweep.h"
#include "daemon/ingest/registry.h"

#define TRY_AGAIN_US     10000 /* who holds frames is soon done, or never (recording.h) */
#define TRY_AGAIN_MAX_US 500000
#define NEARLY_FULL      (FRAMES_USER_MAX / 4 * 3)

static pthread_t thread;
static _Atomic uint64_t sweeps;

static bool mark_residual(void *unused, uint32_t frame, uint64_t weight) {
    (void)unused, (void)weight;
    frame_mark(frame);
    return true;
}

struct marking {
    const struct mcct *tree;
    bool whole;
};

static bool mark_node(void *arg, uint32_t node, const struct mcct_view *view) {
    struct marking *m = arg;
    frame_mark(view->frame);
    m->whole = mcct_residuals(m->tree, node, mark_residual, NULL);
    return m->whole;
}

static bool mark_tree(void *unused, const struct mcct *tree) {
    struct marking m = {tree, true};
    (void)unused;
    return mcct_walk(tree, mark_node, &m) && m.whole;
}

/* False: no memory for the walk. */
static bool mark_process(struct process *process) {
    pthread_mutex_lock(&process->lock);
    if (process->addresses != NULL)
        addresses_forget(process->addresses); /* of ids that are in no tree any more */
    bool whole = process->tree == NULL || mark_tree(NULL, process->tree);
    scatter_each_frame(process->scatter, frame_mark);
    if (process->heap != NULL)
        heap_each_frame(process->heap, frame_mark);
    numbered_each_frame(&process->numbered, frame_mark);
    for (size_t i = 0; i < process->effects.n; i++)
        frame_mark(process->effects.effect[i].frame);
    if (whole && process->subwindows != NULL)
        whole = subwindows_each_tree(process->subwindows, mark_tree, NULL);
    pthread_mutex_unlock(&process->lock);
    return whole;
}

static bool is_of(const struct process *process, const void *user) {
    return process->frames == user;
}

static void tell(struct frame_user *user, const struct frame_usage *before) {
    struct frame_usage now;
    frame_usage_of(user, &now);
    if (now.frames >= NEARLY_FULL && before->frames < FRAMES_USER_MAX)
        complain(
            "programs of user %u have %u of %u frames that one user may have: what comes beyond "
            "is shown as [too many frames]",
            (unsigned)now.uid, now.frames, FRAMES_USER_MAX);
}

static void sweep(struct frame_user *user) {
    static useconds_t patience_us = TRY_AGAIN_US;
    struct frame_usage before;
    size_t n;
    frame_usage_of(user, &before);
    jit_names_sweep_begin(user);
    if (!frame_sweep_begin(user)) {
        jit_names_sweep_end(user, false);
        usleep(patience_us);
        patience_us = 2 * patience_us < TRY_AGAIN_MAX_US ? 2 * patience_us : TRY_AGAIN_MAX_US;
        return;
    }
    patience_us = TRY_AGAIN_US;
    struct process **list = registry_list(is_of, user, &n);
    bool whole = list != NULL;
    for (size_t i = 0; i < n && whole; i++)
        whole = mark_process(list[i]);
    if (whole)
        frame_each_in_use(user, jit_names_mark);
    jit_names_sweep_end(user, whole);
    frame_sweep_end(user, whole);
    registry_free_list(list, n);
    atomic_fetch_add(&sweeps, 1);
    tell(user, &before);
}

static void *run(void *unused) {
    struct frame_user *user;
    (void)unused;
    while ((user = frame_wait_sweep()) != NULL) {
        sweep(user);
        module_sweep();
    }
    return NULL;
}

bool frame_sweep_start(void) {
    module_set_sweeper(frame_need_sweep);
    return pthread_create(&thread, NULL, run, NULL) == 0;
}

void frame_sweep_stop(void) {
    module_set_sweeper(NULL);
    frame_wait_stop();
    pthread_join(thread, NULL);
}

uint64_t frame_sweeps(void) {
    return atomic_load(&sweeps);
}

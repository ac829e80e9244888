/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * checkpoint_load.c - records to processes; nobody gets to see them unless the whole file is good.
 */
#include "daemon/state/checkpoint_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/array_grow.h"
#include "common/base/clock.h"
#include "common/code/frame.h"
#include "common/trace/trace_definitions.h"
#include "daemon/ingest/registry.h"
#include "daemon/ingest/windows.h"
#include "daemon/state/checkpoint_fields.h"
#include "daemon/state/checkpoint_file.h"

#define PROCESSES_MAX (REGISTRY_LIVE_MAX + REGISTRY_FINISHED_MAX + REGISTRY_FOLDED_MAX + 1024u)

static const char no_memory[] = "there is no memory for it";
static const char corrupt[] = "it is corrupt";

struct loading {
    struct checkpoint_file file;
    struct trace_definitions defined;
    const struct mcct_params *params;
    struct process **list;
    size_t n, room;
    /* of the last process, until all of its nodes have come */
    struct mcct_cursor cursor;
    struct mcct_stats stats; /* `unseen` grows by what is left out */
};

/* ---- a process ---- */

/* Monotonic time of a moment of the past; 0 when that was before the machine was started. */
static uint64_t mono_of(uint64_t then_ns) {
    uint64_t now = clock_ns(CLOCK_REALTIME), mono = clock_now();
    uint64_t ago = now > then_ns ? now - then_ns : 0;
    return mono > ago ? mono - ago : 0;
}

/* For one of before the last boot the duration is right, at least. */
static uint64_t end_of(const struct checkpoint_about *about) {
    uint64_t end = mono_of(about->since_ns + about->duration_ns);
    return end > about->duration_ns ? end : about->duration_ns;
}

static bool is_possible(const struct checkpoint_about *about) {
    return about->pid <= INT32_MAX && about->uid <= UINT32_MAX && about->runs <= UINT32_MAX &&
           about->sampling.clock < WIRE_CLOCKS && about->sampling.collector < WIRE_COLLECTORS &&
           about->sampling.credit < WIRE_CREDITS && !(about->live && about->pid == 0) &&
           about->family.parent >= 0;
}

static struct process *make(const struct checkpoint_about *about, const struct mcct_params *tree) {
    struct process like = {
        .pid = (pid_t)about->pid,
        .uid = (uid_t)about->uid,
        .identity = about->identity,
        .sampling = about->sampling,
        .since_ns = about->since_ns,
        .since_mono_ns = end_of(about) - about->duration_ns,
        .ended_mono_ns = end_of(about),
        .runs = (uint32_t)about->runs,
        .linked = about->linked,
        .frames = frame_user((uid_t)about->uid),
        .threads_open = (uint32_t)about->threads_open,
        .ended = about->stats,
    };
    like.exe = strdup(about->exe);
    like.command = about->command != NULL ? strdup(about->command) : NULL;
    like.tags = about->tags != NULL ? strdup(about->tags) : NULL;
    if (about->call_modules != NULL)
        call_modules_read(&like.followed.past, about->call_modules);
    like.tree = mcct_new(tree);
    struct process *p = like.exe != NULL && like.tree != NULL && like.frames != NULL
                            ? process_new_finished(&like)
                            : NULL;
    if (p == NULL) {
        free((char *)like.exe);
        free(like.command);
        free(like.tags);
        followed_clear(&like.followed);
        mcct_free(like.tree);
        return NULL;
    }
    p->waiting = about->live;
    p->family = about->family;
    p->ended.restarts += about->live;
    return p;
}

/* All nodes of the last process have come. */
static void complete(struct loading *l) {
    struct mcct *tree = l->cursor.tree;
    if (tree == NULL)
        return;
    mcct_cursor_close(&l->cursor);
    mcct_restored(tree, &l->stats);
}

static const char *take_process(struct loading *l, size_t n) {
    struct checkpoint_about about;
    complete(l);
    if (l->n >= PROCESSES_MAX ||
        !checkpoint_fields_read(&about, (const char *)l->file.words, 4 * n) || !is_possible(&about))
        return corrupt;
    if (!array_grow(&l->list, l->n, &l->room, sizeof *l->list))
        return no_memory;
    struct process *p = make(&about, l->params);
    if (p == NULL)
        return no_memory;
    l->list[l->n++] = p;
    l->stats = about.tree;
    mcct_cursor_open(p->tree, &l->cursor);
    return NULL;
}

/* ---- its tree ---- */

static const char *take_node(struct loading *l, const struct checkpoint_node *node) {
    uint64_t count, error;
    memcpy(&count, node->count, sizeof count);
    memcpy(&error, node->error, sizeof error);
    if (node->frame >= l->defined.frames.n || error > count)
        return corrupt;
    uint32_t frame = trace_definitions_frame(&l->defined, node->frame, l->list[l->n - 1]->frames);
    if (node->up == CHECKPOINT_RESIDUAL) {
        mcct_restore_residual(&l->cursor, frame, count);
        return NULL;
    }
    if (node->frame == 0 || mcct_pop(&l->cursor, node->up) != node->up)
        return corrupt;
    mcct_push(&l->cursor, frame);
    if (count > 0 && !mcct_restore(&l->cursor, count, error) && count > l->stats.unseen)
        l->stats.unseen = count;
    return NULL;
}

static const char *take_nodes(struct loading *l, size_t n) {
    const char *wrong = NULL;
    if (l->cursor.tree == NULL || n % CHECKPOINT_NODE_WORDS != 0)
        return corrupt;
    for (size_t i = 0; i < n && wrong == NULL; i += CHECKPOINT_NODE_WORDS) {
        struct checkpoint_node node;
        memcpy(&node, l->file.words + i, sizeof node);
        wrong = take_node(l, &node);
    }
    return wrong;
}

/* ---- all ---- */

static const char *take(struct loading *l, uint32_t kind, size_t n) {
    switch (kind) {
    case TRACE_MODULE:
    case TRACE_NAME:
    case TRACE_FRAME:
        return trace_definitions_take(&l->defined, (enum trace_kind)kind, l->file.words, n);
    case CHECKPOINT_PROCESS:
        return take_process(l, n);
    case CHECKPOINT_NODES:
        return take_nodes(l, n);
    default:
        return corrupt;
    }
}

static const char *load(struct loading *l) {
    uint32_t kind = 0;
    size_t n;
    const char *wrong = checkpoint_file_next(&l->file, &kind, &n);
    while (wrong == NULL && kind != CHECKPOINT_END) {
        wrong = take(l, kind, n);
        if (wrong == NULL)
            wrong = checkpoint_file_next(&l->file, &kind, &n);
    }
    complete(l);
    return wrong;
}

static void drop(struct loading *l) {
    for (size_t i = 0; i < l->n; i++)
        process_free(l->list[i]);
    free(l->list);
    l->list = NULL;
    l->n = 0;
}

const char *checkpoint_load(const char *path, const struct mcct_params *tree,
                            struct process ***list, size_t *n) {
    struct loading *l = calloc(1, sizeof *l);
    *list = NULL;
    *n = 0;
    errno = ENOMEM;
    if (l == NULL)
        return no_memory;
    l->params = tree;
    const char *wrong = checkpoint_file_open(&l->file, path);
    if (wrong == NULL) {
        wrong = trace_definitions_start(&l->defined, true) ? load(l) : no_memory;
        trace_definitions_end(&l->defined);
        checkpoint_file_close(&l->file);
        if (wrong != NULL)
            drop(l);
        errno = EINVAL;
    }
    int error = errno;
    *list = l->list;
    *n = l->n;
    free(l);
    errno = error;
    return wrong;
}

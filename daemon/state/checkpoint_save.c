/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * checkpoint_save.c - copy each process under its lock, write the copy.
 */
#include "daemon/state/checkpoint_save.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/code/frame.h"
#include "common/trace/trace_define.h"
#include "common/tree/tree_copy.h"
#include "daemon/ingest/registry.h"
#include "daemon/ingest/windows.h"
#include "daemon/state/checkpoint_fields.h"
#include "daemon/state/checkpoint_file.h"

struct saving {
    struct checkpoint_file file;
    struct trace_define define;
    struct checkpoint_node node[CHECKPOINT_NODES_MAX];
    bool failed; /* no memory */
};

/* trace_put_record: a definition. */
static void put_definition(void *arg, enum trace_kind kind, const uint32_t *words, size_t n,
                           const uint32_t *more, size_t n_more) {
    struct saving *s = arg;
    size_t taken = n_more <= CHECKPOINT_WORDS_MAX - n ? n_more : CHECKPOINT_WORDS_MAX - n;
    if (n > 0)
        memcpy(s->file.words, words, 4 * n);
    if (taken > 0)
        memcpy(s->file.words + n, more, 4 * taken);
    if (taken < n_more)
        s->file.words[CHECKPOINT_WORDS_MAX - 1] = 0; /* the text ends */
    checkpoint_file_put(&s->file, kind, s->file.words, n + taken);
}

/* ---- a process ---- */

/* Its own time is that of the moment at which the rest is read; its children's is that of one for
 * all (read_families), as a child's end is between its own time and its parent's sum. What has
 * ended since then has all of its time in the checkpoint. */
static struct family family_now(const struct process *p, const struct process_stats *stats) {
    struct family now, family = p->family;
    if (family.own_ns == 0)
        return family;
    if ((p->live || p->waiting) && family_read(p->pid, &now))
        family.own_ns = now.own_ns;
    else if (family.own_ns < stats->cpu_ns)
        family.own_ns = stats->cpu_ns;
    return family;
}

/* The process's lock is held. about->call_modules is to be freed. */
static void describe(struct process *p, struct checkpoint_about *about) {
    uint64_t end_ns = p->live ? clock_now() : p->ended_mono_ns;
    *about = (struct checkpoint_about){
        .pid = (uint64_t)p->pid,
        .uid = p->uid,
        .runs = p->runs,
        .live = p->live || p->waiting,
        .identity = p->identity,
        .since_ns = p->since_ns,
        .duration_ns = end_ns - p->since_mono_ns,
        .sampling = p->sampling,
        .exe = p->exe,
        .command = p->command,
        .linked = p->linked,
        .tags = p->tags,
    };
    about->call_modules = process_call_modules_locked(p);
    process_stats_locked(p, &about->stats);
    about->family = family_now(p, &about->stats);
    about->threads_open = p->live ? about->stats.threads - p->ended.threads : p->threads_open;
}

/* False: no memory. */
static bool take_copy(struct saving *s, struct process *p, struct checkpoint_about *about,
                      struct tree_copy *copy) {
    pthread_mutex_lock(&p->lock);
    struct mcct *tree = process_tree(p); /* and what is counted of it */
    describe(p, about);
    s->failed |= !tree_copy_take(copy, tree);
    about->tree = copy->stats;
    pthread_mutex_unlock(&p->lock);
    return !s->failed;
}

/* ---- its tree ---- */

static void fill_residual(struct saving *s, const struct copied_node *c,
                          struct checkpoint_node *node) {
    *node = (struct checkpoint_node){.up = CHECKPOINT_RESIDUAL};
    if (c->frame != 0)
        node->frame = trace_define_number(&s->define, c->frame);
    memcpy(node->count, &c->count, sizeof node->count);
}

/* `last`: the node before it. */
static void fill_node(struct saving *s, const struct tree_copy *copy, size_t i, uint32_t last,
                      struct checkpoint_node *node) {
    const struct copied_node *c = &copy->node[i];
    *node = (struct checkpoint_node){.frame = trace_define_number(&s->define, c->frame)};
    for (uint32_t at = last; at != c->parent; at = copy->node[at].parent)
        node->up++; /* nodes are in preorder: the parent is one of the last one's ancestors */
    memcpy(node->count, &c->count, sizeof node->count);
    memcpy(node->error, &c->error, sizeof node->error);
}

/* A node's residuals stand behind it (tree_copy.h). */
static void put_nodes(struct saving *s, const struct tree_copy *copy) {
    uint32_t last = 0;
    for (size_t i = 1; i < copy->n;) {
        uint32_t n = 0;
        for (; n < CHECKPOINT_NODES_MAX && i < copy->n; i++, n++) {
            /* definitions come before the record */
            if (copy->node[i].residual) {
                fill_residual(s, &copy->node[i], &s->node[n]);
            } else {
                fill_node(s, copy, i, last, &s->node[n]);
                last = (uint32_t)i;
            }
        }
        checkpoint_file_put(&s->file, CHECKPOINT_NODES, (const uint32_t *)s->node,
                            n * CHECKPOINT_NODE_WORDS);
    }
}

static void put_process(struct saving *s, struct process *p) {
    struct checkpoint_about about;
    struct tree_copy copy = {0};
    size_t n;
    if (!take_copy(s, p, &about, &copy)) {
        free((char *)about.call_modules);
        return;
    }
    uint32_t *words = checkpoint_fields_write(&about, &n);
    s->failed |= words == NULL || n > CHECKPOINT_WORDS_MAX;
    if (!s->failed) {
        checkpoint_file_put(&s->file, CHECKPOINT_PROCESS, words, n);
        put_nodes(s, &copy);
    }
    free(words);
    free((char *)about.call_modules);
    tree_copy_free(&copy);
}

/* ---- all ---- */

/* Of all at nearly one moment. */
static void read_families(struct process *const *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(list[i]->live || list[i]->waiting) || !family_read(list[i]->pid, &list[i]->family))
            list[i]->family = (struct family){0};
}

static bool save(struct saving *s, const char *path) {
    size_t n;
    if (!checkpoint_file_create(&s->file, path))
        return false;
    struct process **list = registry_list(NULL, NULL, &n);
    s->failed = list == NULL;
    read_families(list, n);
    for (size_t i = 0; i < n; i++) /* numbers in the file go by their ids */
        frame_hold(list[i]->frames);
    for (size_t i = 0; i < n && !s->failed; i++)
        put_process(s, list[i]);
    for (size_t i = 0; i < n; i++)
        frame_drop(list[i]->frames);
    registry_free_list(list, n);
    bool whole = checkpoint_file_finish(&s->file);
    if (s->failed)
        errno = ENOMEM;
    return whole && !s->failed;
}

bool checkpoint_save(const char *path) {
    struct saving *s = malloc(sizeof *s);
    errno = ENOMEM;
    if (s == NULL)
        return false;
    s->failed = false;
    bool saved = trace_define_start(&s->define, put_definition, s);
    if (saved) {
        saved = save(s, path);
        int error = errno;
        trace_define_end(&s->define);
        errno = error;
    }
    free(s);
    return saved;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * frame.h - position-independent frames: one number for each (routine, call site).
 *
 * A frame id names the same code in every process of a user, so that trees of different runs line
 * up. The routine and the site are (module, address in the file), for generated code (MODULE_JIT,
 * number of the function's name). One kind of frame has no routine: it is a place in the routine
 * above it, where that was at work (frame_is_leaf_pc).
 *
 * Each user has ids of their own, FRAMES_USER_MAX at most: who invents addresses gets
 * FRAME_OVERFLOW, as everybody does when memory runs out, and takes nothing from others. Ids that
 * are in use nowhere are given back by a sweep (ingest/frame_sweep.h): whoever keeps ids where a
 * sweep does not look holds them (frame_hold).
 *
 * Thread-safe.
 */
#ifndef HCCT_FRAME_H
#define HCCT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/code/module.h"

#define FRAME_IDS_MAX   (1u << 23) /* no id is so large */
#define FRAMES_USER_MAX (1u << 20)

struct frame_key {
    uint32_t routine_module; /* module.h; 0: `routine` is a run-time address of a module that is not
                                known, or a mark below 16 */
    uint32_t site_module;    /* 0: `site` is a run-time address, or 0 */
    uint64_t routine;
    uint64_t site;
};

/* The site of such a frame is the place itself, not a return address; in site_module 0 it is not
 * known. */
static inline bool frame_is_leaf_pc(const struct frame_key *key) {
    return key->routine_module == 0 && key->routine == 0;
}

/* A frame that stands for a thread, and is the root of its contexts: (MODULE_JIT, number of a name)
 * as generated code has it, at a site that no code is at. */
#define FRAME_THREAD_SITE 1u

static inline bool frame_is_thread(const struct frame_key *key) {
    return key->routine_module == MODULE_JIT && key->site_module == 0 &&
           key->site == FRAME_THREAD_SITE;
}

/* The same of a label, which stands below the thread's frame, or is the root itself. */
#define FRAME_LABEL_SITE 2u

static inline bool frame_is_label(const struct frame_key *key) {
    return key->routine_module == MODULE_JIT && key->site_module == 0 &&
           key->site == FRAME_LABEL_SITE;
}

#define FRAME_OVERFLOW 1u /* stands for all frames beyond the cap */

/* The frames of a user. They live as long as the program. */
struct frame_user;
struct frame_user *frame_user(uid_t uid); /* NULL: no memory */

uid_t frame_uid(const struct frame_user *user);
struct frame_user *frame_own_user(void); /* this program's own; NULL: no memory */

/* The id of a key, made on first sight. With user NULL there is none but FRAME_OVERFLOW. */
uint32_t frame_intern_for(struct frame_user *user, const struct frame_key *key);
/* The same for this program's own user. */
uint32_t frame_intern(const struct frame_key *key);
/* False when there is no such id; FRAME_OVERFLOW is none, as it has no key. The id must be in use:
 * by a tree, or held. */
bool frame_get(uint32_t id, struct frame_key *key);

/* ---- giving back ---- */

/* None of the user's ids is given back until the hold is dropped. Waits for a sweep under way;
 * no lock may be held. */
void frame_hold(struct frame_user *user);
void frame_drop(struct frame_user *user);

/* Ids that stay in use for long, without a hold: `mark` calls frame_mark() for each. */
struct frame_root {
    struct frame_root *next;
    void (*mark)(struct frame_root *root);
};
void frame_root_add(struct frame_root *root);
void frame_root_remove(struct frame_root *root);

/* A user who has many more ids than were in use after the last sweep; waits for one. NULL: the
 * program ends (frame_wait_stop). */
struct frame_user *frame_wait_sweep(void);
void frame_wait_stop(void);

/* The user would be served by a sweep; at most one in a while is made for that. */
void frame_request_sweep(struct frame_user *user);
/* The same at once, for who knows that there is something to gain; all users: MODULE_NOBODY. Waits
 * for no sweep, and is allowed with any lock held but those of this file. */
void frame_need_sweep(uid_t uid);

/* A sweep: begin, mark all ids that are in use, end. Between, ids that are interned are in use.
 * False: the ids are held; it may be tried again. `whole`: all were marked; else none is given
 * back. One thread. */
bool frame_sweep_begin(struct frame_user *user);
void frame_mark(uint32_t id);
/* Before the end: calls `visit` for each key that is in use. */
void frame_each_in_use(struct frame_user *user, void (*visit)(const struct frame_key *key));
void frame_sweep_end(struct frame_user *user, bool whole);

/* Calls `visit` for each key that has an id, of any user, in use or not swept yet. */
void frame_each_key(void (*visit)(const struct frame_key *key));

struct frame_usage {
    uid_t uid;
    uint32_t frames;   /* in use, for all that is known */
    uint64_t overflow; /* times that there was no id to have */
};

/* Of one user, or of all: calls `visit` for each. */
void frame_usage_of(struct frame_user *user, struct frame_usage *usage);
void frame_usage_all(void (*visit)(void *arg, const struct frame_usage *usage), void *arg);

#endif

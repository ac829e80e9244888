/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * raw_sample.h - a raw stack sample (common/wire/wire.h: RAW_STACK) on its way from a ring to the
 * unwinder.
 *
 * Those of one user that are on their way take DEFERRED_USER_BYTES_MAX at most, all of them
 * DEFERRED_BYTES_MAX. Thread-safe but for the lists, which have an owner each.
 */
#ifndef HCCT_RAW_SAMPLE_H
#define HCCT_RAW_SAMPLE_H

#include <stdint.h>
#include <sys/types.h>

#include "common/code/elf_pool.h"
#include "common/code/raw_stack.h"
#include "daemon/ingest/context_root.h"

#define DEFERRED_USER_BYTES_MAX (16ull << 20)
#define DEFERRED_BYTES_MAX      (64ull << 20)

struct process;
struct raw_sample_user; /* whose account it stands on */

struct raw_sample {
    struct elf_job job; /* first */
    struct raw_sample *next;
    struct raw_sample_user *user;
    struct process *process; /* once it is queued (deferred_unwind.h) */
    uint64_t weight;
    uint64_t block;           /* of the heap (wire_block), 0: none */
    uint32_t generation;      /* of the module log, by which its addresses are read */
    struct context_root root; /* what its context begins with, as a reader has it */
    uint64_t bytes;           /* of all of it */
    struct raw_stack stack;   /* and what follows it */
};

struct raw_sample_list {
    struct raw_sample *first, *last;
};

/* One of that user's, with the numbers of `sizes`, and room for what they say. NULL: too many are
 * on their way, or there is no memory. */
struct raw_sample *raw_sample_new(uid_t uid, const struct raw_stack *sizes);
void raw_sample_free(struct raw_sample *raw);

void raw_sample_list_add(struct raw_sample_list *list, struct raw_sample *raw);
struct raw_sample *
raw_sample_list_take(struct raw_sample_list *list); /* the first, NULL: it is empty */

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * elf_pool.h - jobs of several users for ELF workers, and threads that do them in turns.
 *
 * At most one job of a user is at work at a time, and users take turns: whoever puts a thousand
 * jobs, or one that takes a minute, delays nobody else's while there are fewer such users than
 * threads, and where there are more, by one job of each. A user's jobs go in the order of their
 * cost; of equal ones, in the order in which they came.
 *
 * One thread is there from the start. Others are made when a user's job would wait for another
 * user's, and end when they have had nothing to do for a while; the first one's child ends then.
 * Each has a worker of its own. Nothing is allocated for a job. Thread-safe.
 */
#ifndef HCCT_ELF_POOL_H
#define HCCT_ELF_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/code/elf_worker.h"

#define ELF_POOL_THREADS_MAX 4u

/* In front of a job, which belongs to the pool from elf_pool_put until `run` or `drop` has it. */
struct elf_job {
    struct elf_job *next;      /* of the same user */
    struct elf_job *next_user; /* of a user's first: the first of the next one's */
    struct elf_job *last;      /* of a user's first: the user's last */
    uint64_t cost;
    uid_t uid;
};

struct elf_work {
    void (*run)(struct elf_worker *worker, struct elf_job *job, void *arg); /* may free the job */
    void (*drop)(struct elf_job *job, void *arg);                           /* it was not done */
    bool is_given_up; /* at the pool's end; else that waits for the jobs under way */
};

struct elf_pool;

/* Starts the first thread; `program` as elf_worker_new has it. These and `arg` must stay. NULL: no
 * memory, or no thread. */
struct elf_pool *elf_pool_start(const char *program, const struct elf_work *work, void *arg);

/* Ends what is under way, drops what waits, and frees the pool. Nobody may put a job any more. NULL
 * is allowed. */
void elf_pool_stop(struct elf_pool *pool);

/* job->cost and job->uid are set. */
void elf_pool_put(struct elf_pool *pool, struct elf_job *job);

#endif

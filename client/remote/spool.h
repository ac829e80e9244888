/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * spool.h - the directory in which hcct push keeps what it has not sent, and what it has seen last.
 *
 *   state              the number of the last push, and of the last base of each collector
 *   base-COLLECTOR-N   what hcctd had at push N: the next push is what came since
 *   push-N-WEIGHT-COLLECTOR     a push that waits; its name tells what is lost with it, were it
 *                      damaged. push-N is one of an earlier version.
 *
 * `state` is replaced by a rename, last: who is killed at any moment has taken a push or has not,
 * never both or half of it. Pushes have numbers that are never used again. The directory is full
 * when its pushes have more bytes than they may: then nothing new is taken, and the next push that
 * is taken has all that came meanwhile. One process at a time.
 */
#ifndef HCCT_SPOOL_H
#define HCCT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "client/remote/target.h"

#define SPOOL_COLLECTORS 10

struct spool {
    int directory;
    const char *path;
    uint64_t bytes_max;
    /* what `state` says */
    uint8_t id[PUSH_ID_BYTES]; /* of the directory */
    uint64_t sequence;         /* of the last push */
    struct spool_base {
        uint64_t number;   /* N; 0: there is none */
        uint64_t instance; /* of the hcctd that had it */
    } base[SPOOL_COLLECTORS];
};

extern const char *const spool_collectors[SPOOL_COLLECTORS];

/* Opens the directory, made where it is not there, and locks it. False: it can't be, complained. */
bool spool_open(struct spool *spool, const char *path, uint64_t bytes_max);
void spool_close(struct spool *spool);

/* What was seen last of a collector. NULL: nothing, or it can't be read (complained). */
struct profile *spool_base(const struct spool *spool, int collector);

/* Is there no room for another push? */
bool spool_is_full(const struct spool *spool);

/* Takes a push (NULL: there is nothing to be sent) and what it was made of. False: nothing has
 * changed, and `error` says why. */
bool spool_take(struct spool *spool, int collector, const struct profile *base,
                const struct profile *push, uint64_t instance, char *error, size_t error_bytes);

/* A push that waits. */
struct spool_push {
    uint64_t number, weight;
    int collector; /* < 0: it is not known, nor is the weight */
};

/* Those that wait, the oldest first; free() gives them back. */
struct spool_push *spool_waiting(const struct spool *spool, size_t *n);
/* The profile of a push; NULL: it can't be read, complained. `id` is that of the push. */
struct profile *spool_read(const struct spool *spool, const struct spool_push *push,
                           uint8_t id[PUSH_ID_BYTES]);
void spool_remove(const struct spool *spool, const struct spool_push *push);

#endif

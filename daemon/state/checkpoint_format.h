/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * checkpoint_format.h - what is in the file of a checkpoint.
 *
 * struct checkpoint_head, then 32-bit words, little endian: records as in a trace (trace_format.h),
 * each a word `kind << 24 | words` and so many words. Modules, names and frames are defined as
 * there, before they are named, so that another daemon, of another machine, can read them. Of each
 * process there is a PROCESS, then its NODES. The last record is END.
 */
#ifndef HCCT_CHECKPOINT_FORMAT_H
#define HCCT_CHECKPOINT_FORMAT_H

#include <stdint.h>

#include "common/trace/trace_format.h"

#define CHECKPOINT_MAGIC   "HCCTSTA\n"
#define CHECKPOINT_VERSION 2u /* 1 is read, too: it has no residuals */

struct checkpoint_head {
    char magic[8]; /* CHECKPOINT_MAGIC, not terminated */
    uint32_t version;
    uint32_t reserved; /* 0 */
};

/* Beside TRACE_MODULE, TRACE_NAME and TRACE_FRAME. */
enum checkpoint_kind {
    CHECKPOINT_PROCESS = 16, /* fields (checkpoint_fields.h) */
    CHECKPOINT_NODES = 17,   /* struct checkpoint_node ..., of the last process, in preorder */
    CHECKPOINT_END = 18,     /* CRC-32 of all bytes of the file before this record */
};

#define CHECKPOINT_WORDS_MAX TRACE_WORDS_MAX /* of one record */

/* From the context before (at first the root) `up` frames up, then down to the child `frame`. A
 * count of 0: the context is not monitored, and only on the way.
 *
 * With CHECKPOINT_RESIDUAL for `up` it is no context: `count` is the weight of contexts that are
 * not kept, whose own frame is `frame` (0: not known), below the context before. Its error is 0. */
#define CHECKPOINT_RESIDUAL UINT32_MAX

struct checkpoint_node {
    uint32_t up;
    uint32_t frame;              /* number of a FRAME */
    uint32_t count[2], error[2]; /* the lower half first */
};

#define CHECKPOINT_NODE_WORDS ((uint32_t)(sizeof(struct checkpoint_node) / 4))
#define CHECKPOINT_NODES_MAX  (CHECKPOINT_WORDS_MAX / CHECKPOINT_NODE_WORDS) /* of one record */

_Static_assert(sizeof(struct checkpoint_node) == 24, "no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are written as they stand");

#endif

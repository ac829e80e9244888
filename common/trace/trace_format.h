/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_format.h - what is in a trace file; hcct-trace(5) says the same in words.
 *
 * A trace keeps what the daemon applied to its trees, in order, so that the same trees, or others
 * with another summary, can be made again. It speaks of frames (code/frame.h), not of addresses of
 * one run.
 *
 * File: struct trace_head, then one zstd frame with a checksum. Its content is 32-bit words, little
 * endian: records, each a word `kind << 24 | words` and so many words. Whatever is numbered
 * (modules, names, frames, processes, threads) is numbered by its order in the file, from 1 on, and
 * is defined before it is named.
 */
#ifndef HCCT_TRACE_FORMAT_H
#define HCCT_TRACE_FORMAT_H

#include <stdint.h>
#include <sys/stat.h>

#define TRACE_MAGIC         "HCCTTRC\n"
#define TRACE_VERSION       2u /* 1: the same without COUNT_AS, can be read */
#define TRACE_VERSION_FIRST 1u

struct trace_head {
    char magic[8]; /* TRACE_MAGIC, not terminated */
    uint32_t version;
    uint32_t reserved; /* 0 */
};

/* ---- records ---- */

enum trace_kind {
    TRACE_MODULE = 1,      /* flags, 5 words of build-id, size and time of the file (2 words each),
                            * text path */
    TRACE_NAME = 2,        /* text: name of a generated function */
    TRACE_FRAME = 3,       /* routine's module, site's module, routine (2 words), site (2 words) */
    TRACE_PROCESS = 4,     /* fields */
    TRACE_THREAD = 5,      /* process */
    TRACE_EVENTS = 6,      /* thread, tokens */
    TRACE_THREAD_END = 7,  /* thread */
    TRACE_PROCESS_END = 8, /* process, fields */
    TRACE_END = 9,         /* struct trace_totals; nothing follows */
    TRACE_KINDS
};

#define TRACE_WORDS_BITS     24
#define TRACE_WORDS_MAX      65535u /* of one record */
#define TRACE_HEAD(kind, n)  ((uint32_t)(kind) << TRACE_WORDS_BITS | (uint32_t)(n))
#define TRACE_MODULE_WORDS   10u /* before its path */
#define TRACE_BUILD_ID_WORDS 5u
#define TRACE_FLAG_VDSO      1u /* of a module; bits 8-15: bytes of build-id */
#define TRACE_FRAME_WORDS    6u

/* Where a module's number stands: the address is the number of a NAME (0: none is known). A module
 * 0 is none: the address is of the process, or a mark (wire.h); where the routine is 0, too, the
 * frame is a place in the routine above it (code/frame.h). */
#define TRACE_MODULE_GENERATED 0xffffffffu

#define TRACE_FRAME_OVERFLOW 1u         /* a frame that no record defines: those beyond the cap */
#define TRACE_FRAMES_MAX     (1u << 22) /* no number, of whatever, is so large */

/* Time of a file in a MODULE: its last change, ns since 1970. */
static inline uint64_t trace_file_time(const struct stat *file) {
    return (uint64_t)file->st_mtim.tv_sec * 1000000000u + (uint64_t)file->st_mtim.tv_nsec;
}

/* ---- tokens ---- */

/* A token is `verb << 28 | operand`. */
enum trace_verb {
    TRACE_CALL = 1,     /* frame: go to that child, and credit 1 */
    TRACE_POP = 2,      /* n frames up; 1 is a return */
    TRACE_PUSH = 3,     /* frame: go to that child */
    TRACE_CREDIT = 4,   /* weight; 0: it stands in the two following words, the lower half first */
    TRACE_REPEAT = 5,   /* n pushes of the frame under the cursor */
    TRACE_COUNT_AS = 6, /* what is credited from here to the record's end counts n times */
    TRACE_VERBS
};

#define TRACE_REPEAT_MAX     16384u /* operand of REPEAT */
#define TRACE_VERB_SHIFT     28
#define TRACE_OPERAND_MAX    ((1u << TRACE_VERB_SHIFT) - 1)
#define TRACE_TOKEN(verb, n) ((uint32_t)(verb) << TRACE_VERB_SHIFT | (uint32_t)(n))
#define TRACE_VERB_OF(token) ((token) >> TRACE_VERB_SHIFT)
#define TRACE_OPERAND(token) ((token)&TRACE_OPERAND_MAX)

/* What is in a trace, in all. */
struct trace_totals {
    uint64_t events[8]; /* by verb; the first and those beyond TRACE_VERBS are 0 */
    uint64_t weight;    /* N: all weight credited, at most UINT64_MAX */
};

#define TRACE_TOTALS_WORDS ((uint32_t)(sizeof(struct trace_totals) / 4))

_Static_assert(sizeof(struct trace_head) == 16, "head is 16 bytes");
_Static_assert(TRACE_VERBS <= 8, "a count for each verb");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are written as they stand");

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_dump.h - the functions of a jitdump, the file that programs with a just-in-time compiler
 * write for perf (jit-PID.dump): a header, then records, each with its size.
 *
 * Names and addresses alone are taken from it; code, lines and unwind data are passed over. It may
 * be hostile: nothing is kept here, and what the map keeps has its limits there.
 */
#ifndef HCCT_JIT_DUMP_H
#define HCCT_JIT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/perf_map.h"

/* So many bytes are enough to take in any one record. */
#define JIT_DUMP_BYTES 2048u

/* A part of the file. */
struct jit_dump_part {
    uint64_t at; /* where it begins in the file: 0, or where the last one was read to */
    const uint8_t *bytes;
    size_t n;
    uint64_t left; /* bytes of the file from `at` on */
};

/* Takes all whole records that begin in the part, as far as it shows what they say, and returns
 * where to go on in the file, which may be beyond the part: `at` when nothing could be taken, as
 * more has to come. *broken: this is no jitdump of this machine's, from there on. */
uint64_t jit_dump_read(struct perf_map *map, const struct jit_dump_part *part, bool *broken);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * encode_functions.h - the functions of a process by number, of the frames that a trace speaks of.
 */
#ifndef HCCT_ENCODE_FUNCTIONS_H
#define HCCT_ENCODE_FUNCTIONS_H

#include <stdint.h>

#include "common/base/intern.h"

struct encode_function;

/* All zero is none. */
struct encode_functions {
    struct encode_function *function; /* by number, from 1 on */
    uint32_t n, room;                 /* n: the highest number */
    struct intern index;
    uint32_t *of_frame; /* by the trace's number of a frame; 0: not asked for yet */
    uint32_t frames;
};

/* The function of a frame, of which `ids` has the id (code/frame.h) by its number in the trace. */
uint32_t encode_function_of(struct encode_functions *functions, uint32_t frame, const uint32_t *ids,
                            uint32_t n_ids);
void encode_functions_free(struct encode_functions *functions);

#endif

/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * loop.h - the live screen: keys, answers and signals, as they come.
 */
#ifndef HCCT_TOP_LOOP_H
#define HCCT_TOP_LOOP_H

#include "client/top/client.h"
#include "client/top/rows.h"
#include "client/top/shape.h"

struct top_start {
    struct top_request request;
    enum top_shape shape;
    bool color;
};

/* Until somebody quits; gives the exit status. The terminal is as it was before, however it ends.
 */
int top_loop(const struct top_source *source, const struct top_start *start);

#endif

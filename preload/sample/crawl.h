/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * crawl.h - whether somebody steps a thread from instruction to instruction.
 *
 * A debugger that does so steps the handler, too: that takes longer than it is to the next tick,
 * and the program would never go on. Nothing else makes two handlers in a row take so much; one may
 * by itself, which copies the texts of a large program, or waits for pages.
 */
#ifndef HCCT_CRAWL_H
#define HCCT_CRAWL_H

#include <stdbool.h>
#include <stdint.h>

struct crawl {
    bool last;        /* the last handler took so much */
    uint64_t slow_ns; /* the timers' period meanwhile, so that the thread has most of its time for
                       * itself; 0: it is not stepped */
};

/* The handler of a tick has taken `ns`. What slow_ns is to be. */
uint64_t crawl_learn(struct crawl *crawl, uint64_t ns);

/* The next handler is to be timed, whatever is usual. */
static inline bool crawl_asks(const struct crawl *crawl) {
    return crawl->last || crawl->slow_ns != 0;
}

#endif

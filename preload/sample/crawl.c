/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * crawl.c - two long handlers in a row, and one that is short again.
 */
#include "preload/sample/crawl.h"

#define LONG_NS 4000000u
#define TIMES   20u

uint64_t crawl_learn(struct crawl *crawl, uint64_t ns) {
    bool before = crawl_asks(crawl);
    crawl->last = ns >= LONG_NS;
    return crawl->last && before ? TIMES * ns : 0;
}

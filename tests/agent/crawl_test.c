/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * crawl_test.c - one handler that takes long changes nothing; several in a row are a debugger's.
 */
#include "preload/sample/crawl.h"

#include "tests/check.h"

#define MS 1000000u

static uint64_t learn(struct crawl *crawl, uint64_t ns) {
    return crawl->slow_ns = crawl_learn(crawl, ns);
}

static void test_one(void) {
    struct crawl crawl = {.slow_ns = 0};
    CHECK(learn(&crawl, MS / 100) == 0 && !crawl_asks(&crawl));
    CHECK(learn(&crawl, 40 * MS) == 0 && crawl_asks(&crawl));
    CHECK(learn(&crawl, MS / 100) == 0 && !crawl_asks(&crawl));
    CHECK(learn(&crawl, 40 * MS) == 0 && crawl_asks(&crawl));
}

static void test_stepped(void) {
    struct crawl crawl = {.slow_ns = 0};
    CHECK_UINT(learn(&crawl, 5 * MS), 0);
    CHECK_UINT(learn(&crawl, 6 * MS), 120 * MS);
    CHECK_UINT(learn(&crawl, 7 * MS), 140 * MS);
    CHECK(crawl_asks(&crawl));
    CHECK_UINT(learn(&crawl, 3 * MS), 0);
    CHECK(!crawl_asks(&crawl));
}

int main(void) {
    test_one();
    test_stepped();
    return check_report();
}

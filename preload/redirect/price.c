/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * price.c - what the report of a redirected call takes, with its stub: measured with a stub of a
 * module that is none.
 */
#include "common/wire/call_sites.h"
#include "preload/redirect/form.h"
#include "preload/redirect/redirect.h"
#include "preload/redirect/stub.h"
#include "preload/redirect/text_copy.h"

/* A caller whose frame is open, and the stub that it calls. */
struct bench {
    struct calls *calls;
    uint64_t stub;
};

static void call_often(uint32_t n, void *argument) {
    const struct bench *bench = argument;
    struct calls *c = bench->calls;
    c->top = c->cursor = c->base + 2;
    c->base[1].report = CALLS_WALKED | CALLS_SEEN;
    stub_call_often(bench->stub, n, &c->base[1]);
}

struct price_usual redirect_price(void) {
    uint64_t code = (uintptr_t)stub_call_often;
    struct redirect_callee callee = {.target = (uintptr_t)stub_return};
    struct redirect_site site = {.routine = code, .function = code, .cfa = 8};
    struct redirect_module module = {.form = &redirect_stub_form,
                                     .text = code,
                                     .start = code,
                                     .site = &site,
                                     .callee = &callee,
                                     .sites = 1,
                                     .callees = 1};
    struct bench bench = {.calls = price_bench_make(code)};
    struct price_usual usual = {0};
    if (bench.calls != NULL) {
        bench.calls->base[1] = (struct calls_frame){.routine = code, .site = code};
        if (text_copy_make_stubs(&module) == CALLS_FOLLOWED) {
            bench.stub = stub_at(module.stubs, 0);
            usual = price_bench_run(bench.calls, call_often, &bench);
        }
        price_bench_free(bench.calls);
    }
    module.site = NULL;
    text_copy_free(&module);
    return usual;
}

/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "tests/encode/programs.h"

#include <string.h>

uint64_t program_random(struct program *program, uint64_t n) {
    uint64_t z = program->random += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (z ^ (z >> 31)) % n;
}

/* Of each program's own kind: calls go mostly down, or anywhere. */
static uint32_t random_target(struct program *p, uint32_t caller, bool recursive) {
    if (!recursive && caller < p->functions && program_random(p, 12) != 0)
        return caller + 1 + (uint32_t)program_random(p, p->functions - caller);
    return 1 + (uint32_t)program_random(p, p->functions);
}

void program_make(struct program *p, uint64_t seed) {
    memset(p, 0, sizeof *p);
    p->random = seed;
    p->functions = 1 + (uint32_t)program_random(p, PROGRAM_FUNCTIONS_MAX - 1);
    p->sites = 1 + (uint32_t)program_random(p, PROGRAM_SITES_MAX - 1);
    bool recursive = program_random(p, 3) == 0;
    for (uint32_t i = 0; i < p->sites; i++) {
        struct program_site *s = &p->site[i];
        s->caller = i == 0 ? CALL_EDGES_ROOT : (uint32_t)program_random(p, p->functions + 1);
        s->targets =
            program_random(p, 4) != 0 ? 1 : 1 + (uint32_t)program_random(p, PROGRAM_TARGETS_MAX);
        for (uint32_t k = 0; k < s->targets; k++)
            s->target[k] = random_target(p, s->caller, recursive);
    }
}

/* A site of the function; NULL: there is none near where the search begins. */
static const struct program_site *random_site(struct program *p, uint32_t caller) {
    uint32_t from = (uint32_t)program_random(p, p->sites);
    if (p->site[p->hot].caller == caller && program_random(p, 2) == 0)
        return &p->site[p->hot];
    for (uint32_t i = 0; i < p->sites; i++) {
        const struct program_site *s = &p->site[(from + i) % p->sites];
        if (s->caller == caller)
            return s;
    }
    return NULL;
}

static bool call(struct program *p, struct program_thread *t, struct adaptive *a) {
    uint32_t caller = t->context.node;
    const struct program_site *s = random_site(p, caller);
    if (s == NULL)
        return false;
    uint32_t callee = s->target[program_random(p, s->targets)];
    uint32_t edge = call_edges_number(&a->graph, caller, (uint64_t)(s - p->site), callee);
    enum context_step step = context_call(&t->context, &a->graph, adaptive_now(a), edge);
    context_path_add(&t->path, edge);
    if (step == CONTEXT_PUSHED || step == CONTEXT_REPEATED)
        adaptive_push(a, edge);
    if (program_random(p, 3) == 0)
        adaptive_sample(a, edge);
    return true;
}

static void leave(struct program_thread *t, struct adaptive *a) {
    if (t->path.n > 0)
        context_return(&t->context, &a->graph, adaptive_now(a), t->path.edge[--t->path.n]);
}

void program_step(struct program *p, struct program_thread *t, struct adaptive *a) {
    uint64_t what = program_random(p, 100);
    if (what == 0)
        for (uint64_t n = program_random(p, 60); n > 0 && call(p, t, a); n--)
            ;
    else if (what == 1)
        for (uint64_t n = program_random(p, 60); n > 0; n--)
            leave(t, a);
    else if (what > 50 || !call(p, t, a))
        leave(t, a);
}

bool program_is_right(const struct program_thread *t, const struct adaptive *a,
                      struct context_path *decoded) {
    return context_decode(&t->context, &a->graph, adaptive_now(a), decoded) &&
           context_path_equal(decoded, &t->path);
}

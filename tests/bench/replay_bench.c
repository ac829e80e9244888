/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * replay_bench.c - speed and size of the tree on recorded traces: each summary, three epsilons, and
 * the article's tree.
 *
 * A trace's tokens are loaded whole, so that what is measured is the tree; the empty loop shows
 * what reading them costs. Prints million events a second, calls and returns together (a trace has
 * one token for several returns in a row), bytes a node, and how many times as fast as the
 * article's a tree is (contest.h). All processes of a trace go into one tree, each thread with its
 * own cursor; the article's tree is for one thread, and is left out when a trace has several.
 * Figures of one run compare with each other only.
 *   HCCT_BENCH_ROUNDS     of which the fastest counts (3)
 *   HCCT_BENCH_SUMMARIES  "exact space-saving": only these (all)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/array_grow.h"
#include "common/trace/trace_apply.h"
#include "common/trace/trace_reader.h"
#include "common/trace/trace_tokens.h"
#include "tests/bench/contest.h"

#define SKIPPED   77
#define KINDS_MAX 16

static const double epsilons[] = {2e-5, 2e-6, 2e-7};

struct run {
    uint32_t thread;
    size_t first, n; /* tokens */
};

struct loaded {
    uint32_t *tokens;
    struct run *runs;
    size_t n_tokens, n_runs;
    size_t tokens_room, runs_room;
    uint32_t threads; /* highest number */
    uint64_t events;
};

/* ---- loading ---- */

static bool add_run(struct loaded *all, const struct trace_record *record) {
    if (record->thread > all->threads)
        all->threads = record->thread;
    if (all->n_tokens + record->n > all->tokens_room) {
        size_t room = 2 * all->tokens_room + record->n + (1u << 20);
        uint32_t *grown = realloc(all->tokens, room * sizeof *grown);
        if (grown == NULL)
            return false;
        all->tokens = grown;
        all->tokens_room = room;
    }
    if (!array_grow(&all->runs, all->n_runs, &all->runs_room, sizeof *all->runs))
        return false;
    memcpy(all->tokens + all->n_tokens, record->tokens, 4 * record->n);
    if (all->n_runs > 0 && all->runs[all->n_runs - 1].thread == record->thread)
        all->runs[all->n_runs - 1].n += record->n;
    else
        all->runs[all->n_runs++] = (struct run){record->thread, all->n_tokens, record->n};
    all->n_tokens += record->n;
    return true;
}

/* Calls and returns, or what walks have in their place. */
static uint64_t count_events(const struct loaded *all) {
    uint64_t n = 0;
    for (size_t i = 0; i < all->n_tokens; i++) {
        uint32_t operand = TRACE_OPERAND(all->tokens[i]);
        enum trace_verb verb = TRACE_VERB_OF(all->tokens[i]);
        n += verb == TRACE_POP || verb == TRACE_REPEAT ? operand : 1;
        if (verb == TRACE_CREDIT && operand == 0)
            i += 2; /* two words of weight follow */
    }
    return n;
}

static bool load(const char *path, struct loaded *all) {
    char error[512];
    struct trace_record record;
    enum trace_read end;
    bool fits = true;
    *all = (struct loaded){0};
    struct trace_reader *reader = trace_reader_open(path, error, sizeof error);
    if (reader == NULL) {
        fprintf(stderr, "replay_bench: %s\n", error);
        return false;
    }
    while (fits && (end = trace_reader_next(reader, &record)) == TRACE_READ_RECORD)
        if (record.kind == TRACE_EVENTS)
            fits = add_run(all, &record);
    if (!fits)
        fprintf(stderr, "replay_bench: %s does not fit into memory\n", path);
    else if (end != TRACE_READ_END)
        fprintf(stderr, "replay_bench: %s\n", trace_reader_error(reader));
    all->events = count_events(all);
    fits = fits && (end == TRACE_READ_END || end == TRACE_READ_CUT);
    trace_reader_close(reader);
    return fits;
}

static void unload(struct loaded *all) {
    free(all->tokens);
    free(all->runs);
}

/* ---- replaying ---- */

static void measure_loop(const struct loaded *all) {
    uint64_t sum = 0;
    double start = contest_seconds();
    for (size_t i = 0; i < all->n_tokens; i++)
        sum += TRACE_VERB_OF(all->tokens[i]) == TRACE_POP ? 1 : (sum >> 1) ^ all->tokens[i];
    double spent = contest_seconds() - start;
    printf("  %-28s %7.1f M/s (checksum %llx)\n", "empty loop", (double)all->events / spent * 1e-6,
           (unsigned long long)sum);
}

static double replay(const void *stream, struct mcct *tree) {
    const struct loaded *all = stream;
    struct mcct_cursor *cursors = calloc(all->threads + 1, sizeof *cursors);
    if (cursors == NULL)
        abort();
    for (uint32_t i = 1; i <= all->threads; i++)
        mcct_cursor_open(tree, &cursors[i]);
    double start = contest_seconds();
    for (size_t i = 0; i < all->n_runs; i++)
        trace_apply(&cursors[all->runs[i].thread], all->tokens + all->runs[i].first,
                    all->runs[i].n);
    mcct_flush(tree);
    double spent = contest_seconds() - start;
    for (uint32_t i = 1; i <= all->threads; i++)
        mcct_cursor_close(&cursors[i]);
    free(cursors);
    return spent;
}

/* A frame stands for a routine and a call site. */
static double replay_article(const void *stream, struct article_tree *tree) {
    const struct loaded *all = stream;
    double start = contest_seconds();
    for (size_t i = 0; i < all->n_tokens; i++) {
        uint32_t operand = TRACE_OPERAND(all->tokens[i]);
        switch (TRACE_VERB_OF(all->tokens[i])) {
        case TRACE_CALL:
        case TRACE_PUSH: /* with its credit a call */
            article_enter(tree, operand, operand);
            break;
        case TRACE_POP:
            article_leave(tree, operand);
            break;
        }
    }
    return contest_seconds() - start;
}

/* Whether there are calls and returns of one thread only, and no return without a call. A call is
 * one token, or a push and a credit of 1. */
static bool suits_article(const struct loaded *all) {
    uint64_t depth = 0;
    for (size_t i = 0; i < all->n_tokens; i++) {
        uint32_t operand = TRACE_OPERAND(all->tokens[i]);
        enum trace_verb verb = TRACE_VERB_OF(all->tokens[i]);
        if (verb == TRACE_PUSH &&
            (++i == all->n_tokens || all->tokens[i] != TRACE_TOKEN(TRACE_CREDIT, 1)))
            return false;
        if (verb == TRACE_CALL || verb == TRACE_PUSH)
            depth++;
        else if (verb != TRACE_POP || operand > depth)
            return false;
        else
            depth -= operand;
    }
    return all->threads == 1;
}

/* ---- measuring ---- */

static bool is_wanted(const char *name) {
    const char *names = getenv("HCCT_BENCH_SUMMARIES");
    size_t length = strlen(name);
    if (names == NULL || *names == '\0')
        return true;
    for (const char *at = names; *at != '\0'; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        if (n == length && memcmp(at, name, n) == 0)
            return true;
        at += n;
    }
    return false;
}

/* Those that are wanted, the exact one aside. */
static size_t choose_kinds(const struct summary_kind *kinds[KINDS_MAX]) {
    size_t n = 0;
    for (size_t i = 0; summary_kinds[i]->name != NULL && n < KINDS_MAX; i++)
        if (summary_kinds[i] != &summary_exact && is_wanted(summary_kinds[i]->name))
            kinds[n++] = summary_kinds[i];
    return n;
}

static void measure(const struct loaded *all) {
    static const struct summary_kind *const exact = &summary_exact;
    const struct summary_kind *kinds[KINDS_MAX];
    size_t n = choose_kinds(kinds);
    const char *rounds = getenv("HCCT_BENCH_ROUNDS");
    struct contest contest = {.stream = all,
                              .events = all->events,
                              .rounds = rounds != NULL ? (unsigned)atoi(rounds) : 3,
                              .replay = replay,
                              .replay_article = suits_article(all) ? replay_article : NULL};
    if (contest.replay_article == NULL)
        printf("  without the article's tree, which is for calls and returns of one thread\n");
    measure_loop(all);
    if (is_wanted(exact->name))
        contest_hold(&contest, &exact, 1, 0);
    for (size_t e = 0; n > 0 && e < sizeof epsilons / sizeof *epsilons; e++)
        contest_hold(&contest, kinds, n, epsilons[e]);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "replay_bench: name traces; one is made by\n"
                        "    hcct record --collector calls --trace FILE -- PROGRAM\n"
                        "of a program that is compiled with -finstrument-functions\n");
        return SKIPPED;
    }
    for (int i = 1; i < argc; i++) {
        struct loaded all;
        bool good = load(argv[i], &all) && all.n_tokens > 0;
        if (good) {
            printf("%s: %llu events, %u threads\n", argv[i], (unsigned long long)all.events,
                   all.threads);
            measure(&all);
        }
        unload(&all);
        if (!good)
            return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

/*
 * replay_bench.c - speed and size of the tree on recorded traces: each summary, three epsilons.
 *
 * A trace's tokens are loaded whole, so that what is measured is the tree; the empty loop shows
 * what reading them costs. Prints million events a second, calls and returns together (a trace has
 * one token for several returns in a row), and bytes a node. All processes of a trace go into one
 * tree, each thread with its own cursor. Figures of one run compare with each other only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/code/array_grow.h"
#include "daemon/trace/trace_apply.h"
#include "daemon/trace/trace_reader.h"
#include "daemon/trace/trace_tokens.h"
#include "daemon/tree/mcct.h"
#include "daemon/tree/summary.h"

#define SKIPPED 77

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
        n += verb == TRACE_POP || verb == TRACE_AGAIN ? operand : 1;
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

/* ---- measuring ---- */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void measure_loop(const struct loaded *all) {
    uint64_t sum = 0;
    double start = seconds();
    for (size_t i = 0; i < all->n_tokens; i++)
        sum += TRACE_VERB_OF(all->tokens[i]) == TRACE_POP ? 1 : (sum >> 1) ^ all->tokens[i];
    double spent = seconds() - start;
    printf("  %-26s %8.1f M/s (checksum %llx)\n", "empty loop", (double)all->events / spent * 1e-6,
           (unsigned long long)sum);
}

static double apply(const struct loaded *all, struct mcct *tree) {
    struct mcct_cursor *cursors = calloc(all->threads + 1, sizeof *cursors);
    if (cursors == NULL)
        abort();
    for (uint32_t i = 1; i <= all->threads; i++)
        mcct_cursor_open(tree, &cursors[i]);
    double start = seconds();
    for (size_t i = 0; i < all->n_runs; i++)
        trace_apply(&cursors[all->runs[i].thread], all->tokens + all->runs[i].first,
                    all->runs[i].n);
    double spent = seconds() - start;
    for (uint32_t i = 1; i <= all->threads; i++)
        mcct_cursor_close(&cursors[i]);
    free(cursors);
    return spent;
}

static void measure(const struct loaded *all, const struct summary_kind *kind, double epsilon) {
    struct mcct_stats stats;
    char name[64];
    struct mcct *tree =
        mcct_new(&(struct mcct_params){.summary = kind, .epsilon = epsilon, .phi = 5 * epsilon});
    if (tree == NULL)
        abort();
    double spent = apply(all, tree);
    mcct_stats(tree, &stats);
    snprintf(name, sizeof name, "%s %g", kind->name, epsilon);
    printf("  %-26s %8.1f M/s %10llu nodes %9llu monitored %6.1f bytes/node\n", name,
           (double)all->events / spent * 1e-6, (unsigned long long)stats.nodes,
           (unsigned long long)stats.monitored, (double)stats.bytes / (double)stats.nodes);
    mcct_free(tree);
}

static size_t n_epsilons(const struct summary_kind *kind) {
    return kind == &summary_exact ? 1 : sizeof epsilons / sizeof *epsilons;
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
            measure_loop(&all);
        }
        for (size_t kind = 0; good && summary_kinds[kind]->name != NULL; kind++)
            for (size_t e = 0; e < n_epsilons(summary_kinds[kind]); e++)
                measure(&all, summary_kinds[kind], epsilons[e]);
        unload(&all);
        if (!good)
            return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

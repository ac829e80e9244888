/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_layout.c - the parts of the text report, and how many lines each of them has.
 */
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/render/text.h"
#include "common/render/text_wrap.h"
#include "common/render/title.h"

/* The parts of a report that is to have a number of lines. Head and summary have what they need;
 * functions and trees share the rest. */
#define TREES_MAX     2u /* of the heaviest processes */
#define PROCESSES_MAX 6u
#define FUNCTIONS_FEW 6u  /* where there are several processes */
#define FUNCTIONS_MIN 3u  /* however long the rest is */
#define TREES_LEAST   14u /* lines that trees have before functions get more than that */
#define TABLE_FRAME   4u  /* lines of the table that are no functions */
#define TRY_FIRST     16u /* contexts, to begin with */

struct report {
    struct text *text;
    uint32_t *order; /* processes, heaviest first */
    uint32_t n, shown, trees;
};

/* Writes a part of a report to report->text->out. `which`: a process, a number of rows, or 0. */
typedef void text_part(const struct report *report, uint32_t which);

/* Nobody has said which contexts are to be shown. */
static bool is_overview(const struct text *text) {
    return text->options->lines > 0 && text->options->n == 0;
}

/* The least share of a context that may have a row. Of n contexts that were asked for, all have. */
static double least_share(const struct text *text) {
    if (is_overview(text))
        return TEXT_LEAST;
    return text->options->lines > 0 ? 0 : text->options->cut;
}

static unsigned count_lines(const char *text) {
    unsigned lines = 0;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

/* What a part writes, for free(). */
static char *print(const struct report *report, text_part *part, uint32_t which) {
    FILE *out = report->text->out;
    char *printed;
    report->text->out = memory_stream("a report");
    part(report, which);
    printed = memory_stream_end(report->text->out, NULL, "a report");
    report->text->out = out;
    return printed;
}

static void put_wrapped(const struct report *report, text_part *part, uint32_t process) {
    char *lines = print(report, part, process);
    text_wrap(report->text->out, lines, report->text->options->width, TEXT_LABEL);
    free(lines);
}

static void put_head_lines(const struct report *report, uint32_t process) {
    if (report->n > 1)
        text_processes(report->text);
    else
        text_process(report->text, process);
    fputc('\n', report->text->out);
    text_head(report->text);
}

static void put_head(const struct report *report, uint32_t process) {
    text_title(report->text);
    put_wrapped(report, put_head_lines, process);
    fputc('\n', report->text->out);
    if (report->n > 1)
        text_process_table(report->text, report->order, report->n, report->shown);
}

static void put_summary_lines(const struct report *report, uint32_t process) {
    (void)process;
    text_summary(report->text);
}

static void put_summary(const struct report *report, uint32_t process) {
    put_wrapped(report, put_summary_lines, process);
}

/* "Hot contexts of cc1 (pid 7), 45.0 % of all (...)". */
static void put_tree_title(const struct report *report, uint32_t process) {
    const struct text *text = report->text;
    const struct choice *choice = &text->choice;
    fprintf(text->out, "%sHot contexts%s", text->paint->bold, text->paint->off);
    if (report->n > 1) {
        fputs(" of ", text->out);
        title_put_process(text->out, &text->profile->processes[process]);
        fprintf(text->out, ", %.1f %% of all",
                text_share(text, text_process_weight(text, process)) * 100);
    }
    if (is_overview(text) && choice->chosen < choice->n && process == report->order[0])
        fprintf(text->out, " (the heaviest, down to %.3g %%; --cut 0 shows all)",
                text_share(text, choice->least) * 100);
    else if (!is_overview(text) && text_share(text, choice->floor) >= TEXT_LEAST)
        fprintf(text->out, " (from %.3g %% on)", text_share(text, choice->floor) * 100);
    fputc('\n', text->out);
}

static bool has_rows(const struct text *text, uint32_t process) {
    return choose_callees(&text->choice, profile_root(text->profile, process)).chosen > 0;
}

/* The trees: `process` says nothing. */
static void put_trees(const struct report *report, uint32_t process) {
    for (uint32_t i = 0; i < report->trees; i++) {
        process = report->order[i];
        if (i > 0 && !has_rows(report->text, process))
            continue;
        put_wrapped(report, put_tree_title, process);
        text_tree(report->text, process);
        fputc('\n', report->text->out);
    }
}

static void put_table(const struct report *report, uint32_t rows) {
    text_table(report->text, rows);
}

static unsigned try_trees(const struct report *report, uint32_t chosen) {
    struct text *text = report->text;
    double noise = is_overview(text) ? FORMAT_DEFAULT_CUT : TEXT_LEAST;
    char *printed;
    unsigned lines;
    choose_set(&text->choice, chosen, (uint64_t)(noise * (double)text->total));
    printed = print(report, put_trees, 0);
    lines = count_lines(printed);
    free(printed);
    return lines;
}

/* Chooses as many contexts as have room in so many lines, but the heaviest one always. */
static void fit_trees(const struct report *report, unsigned room) {
    uint32_t n = report->text->choice.n, fits = n > 0, too_many = TRY_FIRST;
    while (too_many < n && try_trees(report, too_many) <= room) {
        fits = too_many;
        too_many *= 2;
    }
    if (too_many >= n) {
        if (try_trees(report, n) <= room)
            return;
        too_many = n;
    }
    while (too_many - fits > 1) {
        uint32_t middle = fits + (too_many - fits) / 2;
        if (try_trees(report, middle) <= room)
            fits = middle;
        else
            too_many = middle;
    }
    (void)try_trees(report, fits);
}

static void make_choice(const struct report *report) {
    struct text *text = report->text;
    uint32_t *roots = memory_new((size_t)report->trees + 1, sizeof *roots, "processes");
    for (uint32_t i = 0; i < report->trees; i++)
        roots[i] = profile_root(text->profile, report->order[i]);
    choose_make(&text->choice, text->profile, &text->view, roots, report->trees,
                (uint64_t)(least_share(text) * (double)text->total));
    free(roots);
}

/* A tree for which there is no room leaves it to the others. */
static void choose_rows(struct report *report, unsigned room) {
    struct text *text = report->text;
    make_choice(report);
    if (!is_overview(text)) {
        (void)try_trees(report, text->choice.n);
        return;
    }
    fit_trees(report, room);
    while (report->trees > 1 && !has_rows(text, report->order[report->trees - 1])) {
        report->trees--;
        choose_free(&text->choice);
        make_choice(report);
        fit_trees(report, room);
    }
}

/* How many functions have a line, where so many lines are left for them and the trees. */
static uint32_t choose_functions(const struct report *report, unsigned room) {
    uint32_t top = report->text->options->top, fit;
    if (!is_overview(report->text))
        return top;
    if (report->n > 1 && top == FORMAT_DEFAULT_TOP)
        top = FUNCTIONS_FEW;
    fit = room > TREES_LEAST + TABLE_FRAME ? room - TREES_LEAST - TABLE_FRAME : 0;
    if (fit < FUNCTIONS_MIN)
        fit = FUNCTIONS_MIN;
    return top < fit ? top : fit;
}

/* Processes, heaviest first: the roots are the children of node 0. */
static uint32_t *order_processes(const struct text *text) {
    const struct profile *profile = text->profile;
    uint32_t *order = memory_new(profile->n_processes, sizeof *order, "processes");
    for (uint32_t i = text->view.first[0]; i < text->view.first[1]; i++)
        order[i] = profile->nodes[text->view.child[i]].process;
    return order;
}

/* How many processes have a line. One line for the only other one says more than "1 more". */
static uint32_t choose_processes(const struct report *report) {
    const struct text *text = report->text;
    uint32_t shown = 0;
    while (shown < report->n && !(is_overview(text) && shown == PROCESSES_MAX) &&
           text_process_weight(text, report->order[shown]) > 0 &&
           text_share(text, text_process_weight(text, report->order[shown])) >= text->options->cut)
        shown++;
    return shown + 1 == report->n ? report->n : shown;
}

void text_report(struct text *text) {
    struct report report = {.text = text, .n = text->profile->n_processes - 1};
    unsigned lines = text->options->lines, taken;
    char *head, *table, *summary;
    uint32_t functions;
    report.order = order_processes(text);
    report.shown = choose_processes(&report);
    report.trees = is_overview(text) && report.shown > TREES_MAX ? TREES_MAX : report.shown;
    head = print(&report, put_head, report.order[0]);
    summary = print(&report, put_summary, 0);
    taken = count_lines(head) + count_lines(summary);
    functions = choose_functions(&report, lines > taken ? lines - taken : 0);
    table = print(&report, put_table, functions);
    taken += count_lines(table);
    choose_rows(&report, lines > taken ? lines - taken : 0);
    fputs(head, text->out);
    fputs(table, text->out);
    put_trees(&report, 0);
    fputs(summary, text->out);
    choose_free(&text->choice);
    free(report.order);
    free(table);
    free(summary);
    free(head);
}

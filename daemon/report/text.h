/*
 * text.h - what the parts of the text report share.
 *
 * All numbers of a row stand in three columns of fixed width: inclusive share, own share, and how
 * much more the own share may be. A share that would show as 0.0 stays empty. Where calls are
 * counted, the own share is followed by the number of calls, and the error is a number of calls.
 */
#ifndef HCCT_TEXT_H
#define HCCT_TEXT_H

#include <stdio.h>

#include "daemon/report/format.h"
#include "daemon/report/tree_view.h"

struct glyphs {
    const char *branch, *last, *pass, *none; /* three columns each */
    const char *arrow;                       /* between caller and callee */
    const char *gap;                         /* for what a name was cut by */
    const char *plus_minus, *times;
};

/* Escape sequences, or nothing. */
struct paint {
    const char *bold, *dim, *hot, *warm, *off;
};

struct text {
    FILE *out;
    const struct profile *profile; /* grouped */
    const struct format_options *options;
    const struct glyphs *glyphs;
    const struct paint *paint;
    struct tree_view view;
    uint64_t total;               /* N */
    uint64_t least;               /* what weighs less is folded */
    uint32_t shown;               /* processes that have a tree of their own */
    bool calls;                   /* weights are numbers of calls */
    int count_width, error_width; /* of their columns, where calls are counted */
    size_t columns;               /* that the numbers of a row take */
    uint64_t *below; /* by node: contexts with weight in its subtree, pruned ones not counted */
};

#define TEXT_WRAP  120    /* where lines of joined names are broken when no width is given */
#define TEXT_LEAST 0.0005 /* smaller shares would show as 0.0 */

double text_share(const struct text *text, uint64_t weight);

/* Sets how wide the columns are; profile and total must be there. */
void text_set_columns(struct text *text);
/* The columns. */
void text_numbers(const struct text *text, uint64_t inclusive, uint64_t self, uint64_t error);
/* As many empty ones. */
void text_no_numbers(const struct text *text);
void text_columns_title(const struct text *text, const char *rest);

/* "+0x1234" for the "libx.so+0x1234" that a location without a symbol is called, where the reader
 * is told the module elsewhere; any other name as it is. */
const char *text_without_module(const struct text *text, const char *name, uint32_t location);

/* "sqlite3 (pid 812, 4 threads)". */
void text_process_name(const struct text *text, const struct profile_process *process);

/* The parts of the report. */
/* Hottest functions, in so many rows at most. */
void text_table(const struct text *text, uint32_t rows);
/* Hot contexts of a process, in so many rows at most; 0: as many as there are. */
void text_tree(const struct text *text, uint32_t process, uint32_t rows);
void text_summary(const struct text *text); /* N, bounds, cost */

/* The first word of a line of the summary. */
void text_label(const struct text *text, const char *word);
/* Of the summary, for profiles of calls: which calls are counted, and what was odd. `sum`: the
 * numbers of all processes. */
void text_calls(const struct text *text, const struct profile_process *sum);
/* The same: what share of the CPU time bursts have seen. */
void text_calls_seen(const struct text *text, const struct profile_process *sum);

#endif

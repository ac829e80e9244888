/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text.h - what the parts of the text report share.
 *
 * All numbers of a row stand in columns of fixed width: inclusive share and own share, each
 * followed by how much larger the true one may be ("+1.2"). An own share or a bound that would
 * show as 0.0 stays empty, and a column of bounds that would be empty in all rows is left out.
 * Where calls are counted, the own share is followed by the number of calls, and its bound is a
 * number of calls.
 */
#ifndef HCCT_TEXT_H
#define HCCT_TEXT_H

#include <stdio.h>

#include "common/profile/tree_view.h"
#include "common/render/format.h"
#include "common/render/text_choose.h"

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

/* Of one row, in the unit of the profile. */
struct numbers {
    uint64_t inclusive, inclusive_error; /* the true one is so much larger at most */
    uint64_t self, self_error;
};

struct text {
    FILE *out;
    const struct profile *profile; /* grouped */
    const struct format_options *options;
    const struct glyphs *glyphs;
    const struct paint *paint;
    struct tree_view view;
    struct choice choice;         /* contexts that have rows */
    struct profile_flat *flat;    /* by location */
    struct numbers largest;       /* bounds of the contexts that are kept */
    uint64_t total;               /* N */
    bool calls;                   /* weights are numbers of calls */
    bool inclusive_bounds;        /* some row has one that is not negligible ... */
    bool self_bounds;             /* ... and one of its self weight */
    int count_width, error_width; /* of their columns, where calls are counted */
    size_t columns;               /* that the numbers of a row take */
    uint64_t *below; /* by node: contexts with weight in its subtree, pruned ones not counted */
};

#define TEXT_WRAP  120    /* where lines of joined names are broken when no width is given */
#define TEXT_LEAST 0.0005 /* smaller shares would show as 0.0 */
#define TEXT_SHARE 7      /* columns: "100.0 %" */
#define TEXT_LABEL 10     /* columns of the first word of a line of the summary, "stacks" */

double text_share(const struct text *text, uint64_t weight);

/* Sets largest bounds and how wide the columns are; profile, total, view and flat must be there. */
void text_set_columns(struct text *text);
/* The columns. */
void text_numbers(const struct text *text, const struct numbers *numbers);
/* As many empty ones. */
void text_no_numbers(const struct text *text);
void text_columns_title(const struct text *text, const char *rest);

/* A frame has a module beside its name. */
static inline bool text_has_modules(const struct text *text) {
    enum profile_by by = text->options->by;
    return by != PROFILE_BY_MODULE && by != PROFILE_BY_THREAD && by != PROFILE_BY_LABEL;
}

/* "+0x1234" for the "libx.so+0x1234" that a location without a symbol is called, where the reader
 * shows the module elsewhere; any other name as it is. */
const char *text_without_module(const struct text *text, const char *name, uint32_t location);

/* A share, or spaces. */
void text_cell(const struct text *text, double share);

uint64_t text_process_weight(const struct text *text, uint32_t process);

/* All of it. */
void text_report(struct text *text);

/* The parts of the report. Lines of head and summary are as long as they are. */
/* What there is to know before the rows are read: chance, and what "+1.2" means. */
void text_head(const struct text *text);
/* A line with the command that was recorded, where that is known. */
void text_title(const struct text *text);
/* "sqlite3 (pid 812, 4 threads): 9.64 s of CPU time, 9,633 samples", without a newline. */
void text_process(const struct text *text, uint32_t process);
/* The same of all of them: "3 processes: ...". */
void text_processes(const struct text *text);
/* One line for each of the first `shown` processes, and one for all others. */
void text_process_table(const struct text *text, const uint32_t *order, uint32_t n, uint32_t shown);
/* Hottest functions, in so many rows at most. */
void text_table(const struct text *text, uint32_t rows);
/* Hot contexts of a process: rows of what is chosen. */
void text_tree(const struct text *text, uint32_t process);
void text_summary(const struct text *text); /* N, bounds, cost */

/* The first word of a line of the summary. */
void text_label(const struct text *text, const char *word);
/* Of the summary, for profiles of CPU time: how much of it is in no context, and why. `sum`: the
 * numbers of all processes. */
void text_missing(const struct text *text, const struct profile_process *sum);
/* So much of CPU time (of all time, on the wall clock) was lost that it is to be said. */
bool text_much_was_lost(const struct text *text, const struct profile_process *sum);
/* What the errors of contexts do not have: " and what was lost", to stand behind "chance". */
const char *text_not_seen(const struct text *text, const struct profile_process *sum);
/* Of the summary: how the program was profiled, and what of it could not be. `sum`: the numbers of
 * all processes. */
void text_sampling(const struct text *text, const struct profile_process *sum);
/* Of the summary, for profiles of calls: which calls are counted, and what was odd. `sum`: the
 * numbers of all processes. */
void text_calls(const struct text *text, const struct profile_process *sum);
/* The same: modules whose calls are followed without the program's help, a line each. */
void text_call_modules(const struct text *text);
/* Whether any calls are followed without the program's help. */
bool text_calls_are_followed(const struct profile *profile);
/* Lines for programs whose own calls are not followed, each with why, and the label of the next. */
void text_calls_of_program(const struct text *text);
/* The same: what share of the CPU time bursts have seen. */
void text_calls_seen(const struct text *text, const struct profile_process *sum);

#endif

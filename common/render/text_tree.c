/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_tree.c - the tree of hot contexts of a process.
 *
 * A row is a callee of another if and only if it is indented below it; what was left out comes
 * last. text_choose.h says which contexts have rows. The inclusive share of a row of several
 * functions ("a -> b -> c") is that of the first one, so that siblings add up to their caller; its
 * own share is that of the last one. Of a long row the middle is left out.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/shorten.h"
#include "common/base/utf8.h"
#include "common/render/format_number.h"
#include "common/render/text.h"

#define MAX_LEVEL      40 /* deeper rows keep that indentation, and say how deep they are */
#define LEVEL_WIDTH    3  /* or less where the terminal is narrow */
#define MIN_NAMES      28 /* columns that names get before the indentation is made narrower ... */
#define MIN_NAMES_DEEP 24 /* ... and before rows keep that of their caller */
#define MIN_NAME       20 /* columns of a name, however much stands behind it */
#define CHAIN_ENDS     2  /* functions that a long row shows of its beginning, and of its end */
#define CHAIN_WHOLE    (UINT32_MAX / 4) /* or of all */
#define ROW_LINES      2 /* of the terminal, before a row shows one function at either end */

/* A row still to print. */
struct row {
    uint32_t node;     /* first of its chain; 0: what was left out */
    uint32_t left_out; /* then: below this node */
    uint32_t level;    /* of the tree */
    bool is_last;      /* of its siblings */
};

struct printer {
    const struct text *text;
    struct row *rows; /* a stack */
    uint32_t n_rows, row_room;
    uint32_t level_width;     /* columns of a level's indentation */
    uint32_t max_level;       /* <= MAX_LEVEL */
    bool open[MAX_LEVEL + 1]; /* by level of indentation: a sibling will follow */
    size_t column;            /* of what is printed of the line */
};

/* ---- names ---- */

/* Is the frame in another module than its caller? */
static bool module_changes(const struct text *text, uint32_t node) {
    const struct profile *profile = text->profile;
    const struct profile_node *it = &profile->nodes[node];
    uint32_t module = profile->locations[it->location].module;
    return module != 0 && text_has_modules(text) &&
           strcmp(profile->modules[module].path, PROFILE_KERNEL) != 0 &&
           module != profile->locations[profile->nodes[it->parent].location].module;
}

/* The name of a node; a place has that of its module only where the module changes. */
static const char *name_in_tree(const struct text *text, uint32_t node) {
    const char *name = tree_name(text->profile, node);

    if (module_changes(text, node))
        return name;
    return text_without_module(text, name, text->profile->nodes[node].location);
}

/* Frames of one row that are the same, one after the other: a function that calls itself. */
struct run {
    uint32_t node; /* its first */
    uint32_t length;
    bool is_first, is_last; /* of the row */
};

/* What stands behind the name: module where it changes, line where one is meant. free() it. */
static char *describe(const struct text *text, const struct run *run) {
    uint32_t node = run->node;
    const struct profile *profile = text->profile;
    const struct profile_location *place = &profile->locations[profile->nodes[node].location];
    const struct profile_function *function = &profile->functions[place->lines[0].function];
    FILE *out = memory_stream("a report");
    if (profile->nodes[node].inlined)
        fputs(" (inlined)", out);
    if (module_changes(text, node) && !profile_is_place_name(tree_name(profile, node)))
        fprintf(out, " [%s]", profile_basename(profile->modules[place->module].path));
    if (text->options->by == PROFILE_BY_SITE && place->address != 0)
        fprintf(out, " 0x%" PRIx64, place->address);
    if (place->lines[0].line != 0 && *function->file != '\0')
        fprintf(out, " %s:%" PRIu32, profile_basename(function->file), place->lines[0].line);
    if (run->length > 1)
        fprintf(out, " %s%s", text->glyphs->times, format_count(run->length).text);
    return memory_stream_end(out, NULL, "a report");
}

/* ---- rows ---- */

static void put(struct printer *p, const char *string) {
    fputs(string, p->text->out);
    p->column += utf8_columns(string);
}

static uint32_t indentation(const struct printer *p, const struct row *row) {
    return row->level < p->max_level ? row->level : p->max_level;
}

/* A glyph of LEVEL_WIDTH columns, the last of them a space, or as much of it as has room. */
static void put_level(struct printer *p, const char *glyph) {
    char part[16];
    size_t bytes = utf8_length(glyph);
    for (uint32_t columns = 1; columns + 1 < p->level_width; columns++)
        bytes += utf8_length(glyph + bytes);
    memcpy(part, glyph, bytes);
    strcpy(part + bytes, p->level_width > 1 ? " " : "");
    put(p, part);
}

/* The indentation of a row's first line, or of those that follow when it is broken. */
static void put_indent(struct printer *p, const struct row *row, bool first_line) {
    const struct glyphs *glyphs = p->text->glyphs;
    uint32_t levels = indentation(p, row);
    bool connects = first_line && levels > 0;
    char depth[32];
    p->column = p->text->columns;
    for (uint32_t level = 1; level < levels + !connects; level++)
        put_level(p, p->open[level] ? glyphs->pass : glyphs->none);
    if (connects)
        put_level(p, row->is_last ? glyphs->last : glyphs->branch);
    if (first_line && row->level > levels) {
        snprintf(depth, sizeof depth, "(level %" PRIu32 ") ", row->level);
        put(p, depth);
    }
}

/* Columns of a line: those of the terminal, if names have any place then. */
static size_t line_end(const struct text *text) {
    size_t least = text->columns + MIN_NAMES_DEEP;
    size_t width = text->options->width > 0 ? text->options->width : TEXT_WRAP;
    return width > least ? width : least;
}

/* Where the lines of a row end; a row without a terminal's limit has MIN_NAMES at least. */
static size_t row_end(const struct printer *p, const struct row *row) {
    size_t least = p->text->columns + indentation(p, row) * p->level_width + MIN_NAMES;
    size_t end = line_end(p->text);
    return p->text->options->width > 0 || end > least ? end : least;
}

/* Goes on in a new line where so many columns and a space are more than is left of this one. */
static void make_room(struct printer *p, const struct row *row, size_t columns) {
    if (p->column + 1 + columns <= row_end(p, row)) {
        put(p, " ");
        return;
    }
    fputc('\n', p->text->out);
    text_no_numbers(p->text);
    put_indent(p, row, false);
}

/* Columns of a line that names can have: of this one for the first name of a row. */
static size_t name_room(const struct printer *p, const struct row *row, bool is_first) {
    size_t begin = p->text->columns + indentation(p, row) * p->level_width;
    return row_end(p, row) - (is_first ? p->column : begin);
}

static void put_run(struct printer *p, const struct row *row, const struct run *run) {
    const struct text *text = p->text;
    const struct paint *paint = text->paint;
    const char *arrow = run->is_first ? "" : text->glyphs->arrow;
    size_t room = name_room(p, row, run->is_first) - utf8_columns(arrow), taken;
    size_t most = room > 2 * MIN_NAME ? room - MIN_NAME : room / 2; /* behind the name */
    bool is_limited = text->options->width > 0;
    char *whole = describe(text, run);
    char *suffix = shorten(whole, is_limited ? most : 0, text->glyphs->gap), *name;
    taken = utf8_columns(suffix);
    name = shorten(name_in_tree(text, run->node), is_limited ? room - taken : 0, text->glyphs->gap);
    if (!run->is_first)
        make_room(p, row, utf8_columns(arrow) + utf8_columns(name) + taken);
    put(p, arrow);
    fputs(run->is_last ? paint->bold : "", text->out);
    put(p, name);
    fputs(run->is_last ? paint->off : "", text->out);
    fputs(paint->dim, text->out);
    put(p, suffix);
    fputs(paint->off, text->out);
    free(name);
    free(suffix);
    free(whole);
}

/* The next run of the row, whose first function weighs `weight`; the last one's is_last is set. */
static struct run next_run(const struct text *text, uint32_t node, uint64_t weight,
                           uint32_t *next) {
    const struct profile_node *nodes = text->profile->nodes;
    struct run run = {.node = node, .length = 1};
    while ((*next = choose_joined(&text->choice, node, weight)) != 0 &&
           nodes[*next].location == nodes[node].location &&
           nodes[*next].inlined == nodes[node].inlined) {
        run.length++;
        node = *next;
    }
    run.is_last = *next == 0;
    return run;
}

static uint32_t count_runs(const struct text *text, uint32_t node, uint64_t weight) {
    uint32_t n = 0;
    for (uint32_t next = node; next != 0; n++)
        (void)next_run(text, next, weight, &next);
    return n;
}

static void put_left_out_frames(struct printer *p, const struct row *row, uint32_t frames) {
    char words[96];
    snprintf(words, sizeof words, "%s... %s frame%s ...", p->text->glyphs->arrow,
             format_count(frames).text, frames == 1 ? "" : "s");
    make_room(p, row, utf8_columns(words));
    fputs(p->text->paint->dim, p->text->out);
    put(p, words);
    fputs(p->text->paint->off, p->text->out);
}

/* The functions of a row, of a long one `ends` at either end. */
static void put_chain(struct printer *p, const struct row *row, uint32_t ends) {
    uint64_t weight = p->text->view.inclusive[row->node];
    uint32_t n = count_runs(p->text, row->node, weight), frames = 0, next = row->node;
    bool is_long = n > 2 * ends + (ends > 1); /* a frame is worth its line */

    for (uint32_t i = 0; i < n; i++) {
        struct run run = next_run(p->text, next, weight, &next);
        run.is_first = i == 0;
        if (!is_long || i < ends || i + ends >= n) {
            put_run(p, row, &run);
            continue;
        }
        frames += run.length;
        if (i + ends + 1 == n)
            put_left_out_frames(p, row, frames);
    }
}

/* The lines that a row would take. */
static unsigned measure_chain(const struct printer *p, const struct row *row, uint32_t ends) {
    struct text text = *p->text;
    struct printer trial = *p;
    unsigned lines = 1;
    char *printed;
    size_t bytes;
    trial.text = &text;
    text.out = memory_stream("a report");
    put_chain(&trial, row, ends);
    printed = memory_stream_end(text.out, &bytes, "a report");
    for (size_t i = 0; i < bytes; i++)
        lines += printed[i] == '\n';
    free(printed);
    return lines;
}

/* Where lines are few, a row that would take too many shows less of its ends; where all is asked
 * for, it is shown. */
static uint32_t chain_ends(const struct printer *p, const struct row *row) {
    const struct format_options *options = p->text->options;
    if (options->lines == 0)
        return options->cut > 0 ? CHAIN_ENDS : CHAIN_WHOLE;
    return measure_chain(p, row, CHAIN_ENDS) > ROW_LINES ? 1 : CHAIN_ENDS;
}

static void push_row(struct printer *p, struct row row) {
    p->rows = memory_grow(p->rows, p->n_rows, &p->row_room, sizeof row, "a report");
    p->rows[p->n_rows++] = row;
}

static bool has_rest(const struct text *text, const struct callees *callees) {
    return callees->hidden > 0 && callees->hidden >= text->choice.least &&
           text_share(text, callees->hidden) >= TEXT_LEAST;
}

/* Rows for the callees of `node`, whose own row is at `level`, in order of weight, what was left
 * out last. The root has no row: its callees begin at level 0. */
static void push_below(struct printer *p, uint32_t node, uint32_t level) {
    const struct tree_view *view = &p->text->view;
    const struct choice *choice = &p->text->choice;
    struct callees callees = choose_callees(choice, node);
    bool is_root = p->text->profile->nodes[node].parent == 0;
    bool rest = has_rest(p->text, &callees) && (callees.chosen > 0 || is_root);
    uint32_t below = is_root ? 0 : level + 1;
    if (rest)
        push_row(p, (struct row){.left_out = node, .level = below, .is_last = true});
    for (uint32_t i = view->first[node + 1], is_last = !rest; i > view->first[node]; i--) {
        if (!choose_has(choice, view->child[i - 1]))
            continue;
        push_row(p, (struct row){.node = view->child[i - 1], .level = below, .is_last = is_last});
        is_last = false;
    }
}

/* How many there are, and what they are, for free(): "[~] 78 more callees (312 contexts)". */
static char *describe_left_out(const struct text *text, uint32_t node, bool with_contexts) {
    struct callees callees = choose_callees(&text->choice, node);
    bool is_root = text->profile->nodes[node].parent == 0;
    uint64_t contexts = 0;
    FILE *out = memory_stream("a report");
    for (uint32_t i = text->view.first[node]; i < text->view.first[node + 1]; i++)
        if (!choose_has(&text->choice, text->view.child[i]))
            contexts += text->below[text->view.child[i]];
    fputs(PROFILE_PRUNED, out);
    if (callees.n_hidden > 0)
        fprintf(out, " %s%s %s%s", format_count(callees.n_hidden).text,
                callees.chosen > 0 ? " more" : "", is_root ? "outermost function" : "callee",
                callees.n_hidden == 1 ? "" : "s");
    if (with_contexts && callees.n_hidden > 0 && contexts > callees.n_hidden)
        fprintf(out, " (%s contexts)", format_count(contexts).text);
    if (callees.hidden_is_pruned)
        fputs(callees.n_hidden > 0 ? " and pruned ones" : " pruned contexts", out);
    return memory_stream_end(out, NULL, "a report");
}

/* Takes the words over. */
static void put_words(struct printer *p, char *words, size_t room) {
    char *cut = shorten(words, p->text->options->width > 0 ? room : 0, p->text->glyphs->gap);
    fputs(p->text->paint->dim, p->text->out);
    put(p, cut);
    fputs(p->text->paint->off, p->text->out);
    free(cut);
    free(words);
}

static void put_left_out(struct printer *p, const struct row *row) {
    const struct text *text = p->text;
    struct numbers numbers = {.inclusive = choose_callees(&text->choice, row->left_out).hidden};
    text_numbers(text, &numbers);
    put_indent(p, row, true);
    put_words(p, describe_left_out(text, row->left_out, true), name_room(p, row, true));
    fputc('\n', text->out);
}

/* A row none of whose callees has a row says so itself, in its last line if that has room. */
static void put_all_left_out(struct printer *p, const struct row *row, uint32_t last) {
    size_t arrow = utf8_columns(p->text->glyphs->arrow);
    char *words = describe_left_out(p->text, last, true);
    if (p->column + 1 + arrow + utf8_columns(words) > row_end(p, row)) {
        free(words);
        words = describe_left_out(p->text, last, false);
    }
    make_room(p, row, arrow + utf8_columns(words));
    fputs(p->text->paint->dim, p->text->out);
    put(p, p->text->glyphs->arrow);
    put_words(p, words, name_room(p, row, false) - arrow);
}

static void put_row(struct printer *p, const struct row *row) {
    const struct text *text = p->text;
    const struct tree_view *view = &text->view;
    uint32_t last = choose_row_end(&text->choice, row->node);
    const struct profile_node *end = &text->profile->nodes[last];
    struct callees callees = choose_callees(&text->choice, last);
    struct numbers numbers = {.inclusive = view->inclusive[row->node],
                              .inclusive_error =
                                  view->upper[row->node] - view->inclusive[row->node],
                              .self = end->count,
                              .self_error = end->error};
    text_numbers(text, &numbers);
    if (row->level > 0)
        p->open[indentation(p, row)] = !row->is_last;
    put_indent(p, row, true);
    put_chain(p, row, chain_ends(p, row));
    if (callees.chosen == 0 && has_rest(text, &callees))
        put_all_left_out(p, row, last);
    fputc('\n', text->out);
    push_below(p, last, row->level);
}

/* The level of the deepest row. */
static uint32_t find_deepest(const struct text *text, uint32_t root) {
    struct printer p = {.text = text};
    uint32_t deepest = 0;
    push_below(&p, root, 0);
    while (p.n_rows > 0) {
        struct row row = p.rows[--p.n_rows];
        if (row.level > deepest)
            deepest = row.level;
        if (row.node != 0)
            push_below(&p, choose_row_end(&text->choice, row.node), row.level);
    }
    free(p.rows);
    return deepest;
}

static void set_indentation(struct printer *p, uint32_t root) {
    size_t room = line_end(p->text) - p->text->columns;
    uint32_t deepest = find_deepest(p->text, root);
    p->level_width = LEVEL_WIDTH;
    p->max_level = MAX_LEVEL;
    if (p->text->options->width == 0)
        return;
    while (p->level_width > 1 && deepest * p->level_width + MIN_NAMES > room)
        p->level_width--;
    if (room < MIN_NAMES_DEEP + p->level_width * MAX_LEVEL)
        p->max_level = (uint32_t)(room - MIN_NAMES_DEEP) / p->level_width;
}

void text_tree(const struct text *text, uint32_t process) {
    uint32_t root = profile_root(text->profile, process);
    struct printer p = {.text = text};
    set_indentation(&p, root);
    text_columns_title(text, "context");
    push_below(&p, root, 0);
    while (p.n_rows > 0) {
        struct row row = p.rows[--p.n_rows];
        if (row.node != 0)
            put_row(&p, &row);
        else
            put_left_out(&p, &row);
    }
    free(p.rows);
}

/*
 * text_tree.c - the tree of hot contexts of a process.
 *
 * A row is a callee of another if and only if it is indented below it; what was left out comes
 * last. Callers that do next to nothing but call one function are joined in one row ("a -> b ->
 * c"): its inclusive share is that of its first function, so that siblings add up to their caller;
 * its own share is that of its last one; and what lies between the two weighs less than the cut,
 * however long the row is. Of a long one the middle is left out. No row weighs less than the cut,
 * which rises until the rows are few enough to be read, unless the user has said where it is.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/report/human.h"
#include "daemon/report/memory.h"
#include "daemon/report/shorten.h"
#include "daemon/report/text.h"
#include "daemon/report/utf8.h"

#define MAX_LEVEL   40 /* deeper rows keep that indentation */
#define MIN_NAMES   40 /* columns that names get, however deep the row is */
#define LEVEL_WIDTH 3
#define CHAIN_ENDS  2 /* functions that a long row shows of its beginning, and of its end */

/* A row still to print. */
struct row {
    uint32_t node;     /* first of its chain; 0: what was left out */
    uint32_t left_out; /* then: below this node */
    uint32_t level;    /* of indentation */
    bool is_last;      /* of its siblings */
};

struct printer {
    const struct text *text;
    struct row *rows; /* a stack */
    uint32_t n_rows, row_room;
    bool open[MAX_LEVEL + 1]; /* by level: a sibling will follow */
    size_t column;            /* of what is printed of the line */
};

/* The callees of a node. */
struct callees {
    uint32_t visible, first; /* how many have rows, and the heaviest of them */
    uint64_t hidden;         /* weight of the others */
    uint64_t hidden_contexts;
    bool hidden_pruned; /* some of it was pruned before */
};

static bool is_visible(const struct text *text, uint32_t node) {
    uint64_t weight = text->view.inclusive[node];

    return weight > 0 && weight >= text->least &&
           !profile_is_pruned(text->profile, text->profile->nodes[node].location);
}

static struct callees look_below(const struct text *text, uint32_t node) {
    const struct tree_view *view = &text->view;
    struct callees callees = {0};

    for (uint32_t i = view->first[node]; i < view->first[node + 1]; i++) {
        uint32_t child = view->child[i];

        if (is_visible(text, child)) {
            if (callees.visible++ == 0)
                callees.first = child;
        } else {
            callees.hidden += view->inclusive[child];
            callees.hidden_contexts += text->below[child];
            callees.hidden_pruned |=
                profile_is_pruned(text->profile, text->profile->nodes[child].location);
        }
    }
    return callees;
}

/* Too little for a row, or for parting a row in two. */
static bool is_noise(const struct text *text, uint64_t weight) {
    return weight < text->least || text_share(text, weight) < TEXT_LEAST;
}

/* The callee that is joined in the row of `node`, whose first function weighs `weight`; or 0. */
static uint32_t joined(const struct text *text, uint32_t node, uint64_t weight) {
    struct callees callees = look_below(text, node);

    if (callees.visible != 1 || !is_noise(text, weight - text->view.inclusive[callees.first]))
        return 0;
    return callees.first;
}

/* ---- names ---- */

/* Is the frame in another module than its caller? */
static bool module_changes(const struct text *text, uint32_t node) {
    const struct profile *profile = text->profile;
    const struct profile_node *it = &profile->nodes[node];
    uint32_t module = profile->locations[it->location].module;

    return module != 0 && text->options->by != PROFILE_BY_MODULE &&
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
    char *suffix;
    size_t bytes;
    FILE *out = open_memstream(&suffix, &bytes);

    if (out == NULL)
        profile_die("a report");
    if (profile->nodes[node].inlined)
        fputs(" (inlined)", out);
    if (module_changes(text, node) && !profile_is_place_name(tree_name(profile, node)))
        fprintf(out, " [%s]", profile_basename(profile->modules[place->module].path));
    if (text->options->by == PROFILE_BY_SITE && place->address != 0)
        fprintf(out, " 0x%" PRIx64, place->address);
    if (place->lines[0].line != 0 && *function->file != '\0')
        fprintf(out, " %s:%" PRIu32, profile_basename(function->file), place->lines[0].line);
    if (run->length > 1)
        fprintf(out, " %s%s", text->glyphs->times, human_count(run->length).text);
    if (fclose(out) != 0)
        profile_die("a report");
    return suffix;
}

/* ---- rows ---- */

static void put(struct printer *p, const char *string) {
    fputs(string, p->text->out);
    p->column += utf8_columns(string);
}

/* The indentation of a row's first line, or of those that follow when it is broken. */
static void put_indent(struct printer *p, const struct row *row, bool first_line) {
    const struct glyphs *glyphs = p->text->glyphs;
    bool connects = first_line && row->level > 0;

    for (uint32_t level = 1; level < row->level + !connects; level++)
        put(p, p->open[level] ? glyphs->pass : glyphs->none);
    if (connects)
        put(p, row->is_last ? glyphs->last : glyphs->branch);
}

static size_t row_end(const struct printer *p, const struct row *row) {
    size_t begin = p->text->columns + row->level * LEVEL_WIDTH;
    size_t end = p->text->options->width > 0 ? p->text->options->width : TEXT_WRAP;

    return end > begin + MIN_NAMES ? end : begin + MIN_NAMES;
}

static void put_run(struct printer *p, const struct row *row, const struct run *run) {
    const struct text *text = p->text;
    const struct paint *paint = text->paint;
    char *suffix = describe(text, run), *name;
    size_t room = row_end(p, row) - text->columns - row->level * LEVEL_WIDTH;
    size_t taken = utf8_columns(suffix) + utf8_columns(text->glyphs->arrow);

    room = room > taken + MIN_NAMES / 2 ? room - taken : MIN_NAMES / 2;
    name = shorten(name_in_tree(text, run->node), text->options->width > 0 ? room : 0,
                   text->glyphs->gap);
    if (!run->is_first && p->column + 1 + taken + utf8_columns(name) > row_end(p, row)) {
        fputc('\n', text->out);
        text_no_numbers(text);
        p->column = p->text->columns;
        put_indent(p, row, false);
    } else if (!run->is_first) {
        put(p, " ");
    }
    if (!run->is_first)
        put(p, text->glyphs->arrow);
    fputs(run->is_last ? paint->bold : "", text->out);
    put(p, name);
    fputs(run->is_last ? paint->off : "", text->out);
    fputs(paint->dim, text->out);
    put(p, suffix);
    fputs(paint->off, text->out);
    free(name);
    free(suffix);
}

/* The next run of the row, whose first function weighs `weight`; the last one's is_last is set. */
static struct run next_run(const struct text *text, uint32_t node, uint64_t weight,
                           uint32_t *next) {
    const struct profile_node *nodes = text->profile->nodes;
    struct run run = {.node = node, .length = 1};

    while ((*next = joined(text, node, weight)) != 0 &&
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

static void put_left_out_frames(struct printer *p, uint32_t frames) {
    char words[96];

    snprintf(words, sizeof(words), " %s... %s frames ...", p->text->glyphs->arrow,
             human_count(frames).text);
    fputs(p->text->paint->dim, p->text->out);
    put(p, words);
    fputs(p->text->paint->off, p->text->out);
}

static void put_chain(struct printer *p, const struct row *row) {
    uint64_t weight = p->text->view.inclusive[row->node];
    uint32_t n = count_runs(p->text, row->node, weight), frames = 0, next = row->node;
    bool is_long = n > 2 * CHAIN_ENDS + 1;

    for (uint32_t i = 0; i < n; i++) {
        struct run run = next_run(p->text, next, weight, &next);

        run.is_first = i == 0;
        if (!is_long || i < CHAIN_ENDS || i + CHAIN_ENDS >= n) {
            put_run(p, row, &run);
            continue;
        }
        frames += run.length;
        if (i + CHAIN_ENDS + 1 == n)
            put_left_out_frames(p, frames);
    }
}

static void push_row(struct printer *p, struct row row) {
    p->rows = memory_grow(p->rows, p->n_rows, &p->row_room, sizeof(row), "a report");
    if (row.level > MAX_LEVEL)
        row.level = MAX_LEVEL;
    p->rows[p->n_rows++] = row;
}

/* Rows for the callees of `node`, whose own row is at `level`, in order of weight, what was left
 * out last. The root has no row: its callees begin at level 0. */
static void push_below(struct printer *p, uint32_t node, uint32_t level) {
    const struct tree_view *view = &p->text->view;
    struct callees callees = look_below(p->text, node);
    bool is_root = p->text->profile->nodes[node].parent == 0;
    bool rest = !is_noise(p->text, callees.hidden);
    uint32_t below = is_root ? 0 : level + 1;

    if (rest)
        push_row(p, (struct row){.left_out = node, .level = below, .is_last = true});
    for (uint32_t i = view->first[node + 1], is_last = !rest; i > view->first[node]; i--) {
        if (!is_visible(p->text, view->child[i - 1]))
            continue;
        push_row(p, (struct row){.node = view->child[i - 1], .level = below, .is_last = is_last});
        is_last = false;
    }
}

static void put_left_out(struct printer *p, const struct row *row) {
    struct callees callees = look_below(p->text, row->left_out);

    text_numbers(p->text, callees.hidden, 0, 0);
    p->column = p->text->columns;
    put_indent(p, row, true);
    fprintf(p->text->out, "%s%s", p->text->paint->dim, PROFILE_PRUNED);
    if (callees.hidden_contexts > 0)
        fprintf(p->text->out, " %s more context%s", human_count(callees.hidden_contexts).text,
                callees.hidden_contexts == 1 ? "" : "s");
    if (callees.hidden_pruned)
        fputs(callees.hidden_contexts > 0 ? " and pruned ones" : " pruned contexts", p->text->out);
    fprintf(p->text->out, "%s\n", p->text->paint->off);
}

/* The last function that joins the row, whose own share is the row's. */
static uint32_t chain_end(const struct text *text, uint32_t node) {
    uint64_t weight = text->view.inclusive[node];
    uint32_t next;

    while ((next = joined(text, node, weight)) != 0)
        node = next;
    return node;
}

static void put_row(struct printer *p, const struct row *row) {
    const struct text *text = p->text;
    uint32_t last = chain_end(text, row->node);
    const struct profile_node *end = &text->profile->nodes[last];

    text_numbers(text, text->view.inclusive[row->node], end->count, end->error);
    p->column = p->text->columns;
    put_indent(p, row, true);
    if (row->level > 0)
        p->open[row->level] = !row->is_last;
    put_chain(p, row);
    fputc('\n', text->out);
    push_below(p, last, row->level);
}

/* Rows of the tree, as it is cut now. */
static uint32_t count_rows(const struct text *text, uint32_t process) {
    struct printer p = {.text = text};
    uint32_t n = 0;

    push_below(&p, profile_root(text->profile, process), 0);
    for (; p.n_rows > 0; n++) {
        struct row row = p.rows[--p.n_rows];

        if (row.node != 0)
            push_below(&p, chain_end(text, row.node), row.level);
    }
    free(p.rows);
    return n;
}

void text_tree(const struct text *whole, uint32_t process, uint32_t rows) {
    struct text cut = *whole;
    const struct text *text = &cut;
    struct printer p = {.text = text};

    while (rows > 0 && cut.least < cut.total && count_rows(text, process) > rows)
        cut.least += cut.least / 8 + 1;
    fprintf(text->out, "%sHot contexts%s", text->paint->bold, text->paint->off);
    if (cut.least > 0)
        fprintf(text->out, " (from %.3g %% on)", text_share(text, cut.least) * 100);
    fputc('\n', text->out);
    text_columns_title(text, "context");
    push_below(&p, profile_root(text->profile, process), 0);
    while (p.n_rows > 0) {
        struct row row = p.rows[--p.n_rows];

        if (row.node != 0)
            put_row(&p, &row);
        else
            put_left_out(&p, &row);
    }
    free(p.rows);
}

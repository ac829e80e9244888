/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * screen.c - head, rows, last line.
 *
 * Colour means something: bold is hot (a tenth or more), faint is what stands at the edge of
 * attention (less than one in a hundred, and where a function is from); a recent share is red where
 * it has grown by five points or more, blue where it has shrunk by as much; yellow is trouble.
 * Without colours the attributes alone do.
 */
#include "client/top/screen.h"

#include <curses.h>
#include <math.h>
#include <string.h>

#include "client/top/cells.h"
#include "client/top/head.h"
#include "client/top/panels.h"
#include "client/top/terminal.h"

#define HEAD_LINES    5 /* and one more while contexts are rewritten */
#define STRIP_LINE    4
#define LEAST_LINES   10
#define LEAST_COLUMNS 50

#define HOT_SHARE   0.1
#define FAINT_SHARE 0.01
#define GROWN_SHARE 0.05

enum { PAIR_GREW = 1, PAIR_SHRANK, PAIR_MATCH, PAIR_TROUBLE };

static bool active, colored;

bool top_screen_begin(bool color) {
    if (!top_terminal_is_screen() || newterm(NULL, stdout, stdin) == NULL)
        return false;
    active = true;
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    colored = color && has_colors() && start_color() == OK;
    if (colored) {
        use_default_colors();
        init_pair(PAIR_GREW, COLOR_RED, -1);
        init_pair(PAIR_SHRANK, COLOR_BLUE, -1);
        init_pair(PAIR_MATCH, COLOR_CYAN, -1);
        init_pair(PAIR_TROUBLE, COLOR_YELLOW, -1);
    }
    return true;
}

void top_screen_end(void) {
    if (active)
        endwin();
    active = false;
}

int top_screen_key(void) {
    int key = getch();
    return key == ERR ? -1 : key;
}

static attr_t pair(short number) {
    return colored ? COLOR_PAIR(number) : 0;
}

static int head_lines(const struct top_ui *ui) {
    return HEAD_LINES + (ui->request.steps.n > 0);
}

/* A whole line of the screen. */
static void put(int row, const struct top_line *line, attr_t attributes) {
    move(row, 0);
    clrtoeol();
    attrset(attributes);
    addstr(line->text);
    if (attributes & A_REVERSE)
        mvchgat(row, 0, -1, attributes, PAIR_NUMBER(attributes), NULL);
    attrset(A_NORMAL);
}

static void put_text(int row, const char *text, attr_t attributes) {
    struct top_line line;
    top_line_begin(&line, (unsigned)COLS);
    top_line_add(&line, text);
    put(row, &line, attributes);
}

/* ---- head ---- */

static void put_state(const struct top_ui *ui) {
    struct top_line line;
    top_line_begin(&line, 20);
    if (ui->request.paused)
        top_line_add(&line, " paused");
    else
        top_line_print(&line, " every %g s", ui->request.delay);
    if (COLS > 60)
        mvaddstr(0, COLS - (int)line.columns, line.text);
}

static void put_recent(const struct top_ui *ui, struct top_line *line) {
    const char *recent = top_ui_recent(ui);
    char what[32 + TOP_RANGE_ROOM];
    if (ui->request.range.until > 0) {
        char range[TOP_RANGE_ROOM];
        top_range_text(&ui->request.range, range);
        if (recent != NULL)
            top_head_recent(line, ui->model, range);
        else
            top_line_print(line, "%s: asked for", range);
    } else if (recent == NULL && ui->request.window != NULL) {
        top_line_print(line, "the last %s: asked for", ui->request.window);
    } else if (recent == NULL) {
        top_line_add(line, "W shows the last 10 s, 60 s, 5 min or 1 h beside all since the start");
    } else {
        snprintf(what, sizeof what, "%s%s", ui->change ? "since the mark" : "the last ",
                 ui->change ? "" : recent);
        top_head_recent(line, ui->model, what);
    }
}

static void draw_strip(const struct top_ui *ui) {
    struct top_line line;
    unsigned from, to;
    top_line_begin(&line, (unsigned)COLS);
    top_strip_line(&line, &ui->strip, &ui->request.range, &from, &to);
    put(STRIP_LINE, &line, A_NORMAL);
    if (to > from)
        mvchgat(STRIP_LINE, (int)from, (int)(to - from), A_REVERSE, 0, NULL);
}

static void draw_head(const struct top_ui *ui) {
    struct top_line line;
    for (int row = 0; row < STRIP_LINE; row++) {
        top_line_begin(&line, (unsigned)COLS - (row == 0 ? 12 : 0));
        if (row == 0)
            top_line_add(&line, "hcct top  ");
        if (ui->model != NULL && row == 0)
            top_head_who(&line, ui->model);
        else if (ui->model != NULL && row == 1)
            top_head_total(&line, ui->model, ui->walks_per_second, &ui->kinds, ui->request.kind);
        else if (ui->model != NULL && row == 2)
            top_head_error(&line, ui->model);
        else if (ui->model != NULL)
            put_recent(ui, &line);
        put(row, &line, row == 0 ? A_BOLD : row == 3 ? A_DIM : A_NORMAL);
    }
    draw_strip(ui);
    if (ui->request.steps.n > 0) {
        top_line_begin(&line, (unsigned)COLS);
        top_head_steps(&line, &ui->request.steps);
        put(HEAD_LINES, &line, A_BOLD);
    }
    put_state(ui);
}

/* ---- rows ---- */

static void paint(int row, const struct top_extent *extent, attr_t attributes) {
    if (extent->end > extent->begin)
        mvchgat(row, (int)extent->begin, (int)(extent->end - extent->begin), attributes,
                PAIR_NUMBER(attributes), NULL);
}

static attr_t weight_attributes(double share) {
    return share >= HOT_SHARE ? A_BOLD : share < FAINT_SHARE ? A_DIM : A_NORMAL;
}

static void paint_shares(int at, const struct top_layout *layout, const struct top_tree *tree,
                         const struct top_node *node) {
    for (enum top_cell cell = 0; cell < TOP_CELLS; cell++) {
        bool self = cell == TOP_CELL_SELF || cell == TOP_CELL_RECENT_SELF;
        int span = cell >= TOP_CELL_RECENT ? TOP_RECENT : TOP_TOTAL;
        const struct top_weight *weight = &node->weight[span], *all = &node->weight[TOP_TOTAL];
        double share = top_share(tree, self ? weight->self : weight->inclusive, span);
        double grown = share - top_share(tree, self ? all->self : all->inclusive, TOP_TOTAL);
        attr_t attributes = weight_attributes(share);
        struct top_extent extent;
        if (span == TOP_RECENT && fabs(grown) >= GROWN_SHARE)
            attributes |= pair(grown > 0 ? PAIR_GREW : PAIR_SHRANK);
        top_layout_extent(layout, cell, &extent);
        paint(at, &extent, attributes);
    }
}

static void draw_row(const struct top_ui *ui, int at, const struct top_layout *layout,
                     const struct top_row *row, bool chosen) {
    const struct top_tree *tree = top_ui_tree(ui);
    const struct top_node *node = &tree->node[row->node];
    struct top_line line;
    unsigned place;
    top_line_begin(&line, (unsigned)COLS);
    top_cells_row(&line, layout, tree, row, &place);
    put(at, &line, chosen ? A_REVERSE : A_NORMAL);
    if (chosen)
        return;
    paint_shares(at, layout, tree, node);
    struct top_extent name = {layout->name, place}, where = {place, line.columns};
    if (row->match)
        paint(at, &name, A_BOLD | pair(PAIR_MATCH));
    else if (tree->frame[node->frame].process)
        paint(at, &name, A_BOLD);
    paint(at, &where, A_DIM);
}

static void draw_waiting(const struct top_ui *ui, int at) {
    char text[64] = "nothing to show yet";
    if (ui->trouble[0] == '\0')
        snprintf(text, sizeof text, "asking %s ...",
                 ui->client != NULL ? top_client_of(ui->client) : "hcctd");
    put_text(at, text, A_NORMAL);
}

static void draw_tree(struct top_ui *ui) {
    const char *recent = top_ui_recent(ui);
    struct top_layout layout;
    struct top_line line;
    char title[16];
    int top = head_lines(ui) + 1;
    snprintf(title, sizeof title, "%s%%", recent != NULL ? recent : "");
    top_layout_make(&layout, (unsigned)COLS, recent != NULL,
                    ui->model != NULL && ui->model->bounded);
    top_line_begin(&line, (unsigned)COLS);
    top_cells_title(&line, &layout, ui->shape, ui->view.sort, title);
    put(top - 1, &line, A_UNDERLINE);
    if (ui->model != NULL)
        top_ui_choose(ui, ui->scroll.at);
    for (uint32_t i = 0; i < ui->page; i++) {
        uint32_t row = ui->scroll.first + i;
        if (row < ui->rows.n)
            draw_row(ui, top + (int)i, &layout, &ui->rows.row[row], row == ui->scroll.at);
        else
            put_text(top + (int)i, "", A_NORMAL);
    }
    if (ui->model == NULL)
        draw_waiting(ui, top + 1);
    else if (ui->rows.n == 0)
        put_text(top + 1,
                 ui->view.only ? "no path has a match: o shows all again"
                               : "nothing was seen at work yet",
                 A_NORMAL);
}

/* The other panels are lists of lines. */
static void draw_list(struct top_ui *ui) {
    struct top_scroll *scroll;
    struct top_line line;
    int top = head_lines(ui) + 1;
    uint32_t n = top_ui_list(ui, &scroll);
    top_scroll_fit(scroll, n, ui->page);
    top_line_begin(&line, (unsigned)COLS);
    top_panel_title(&line, ui);
    put(top - 1, &line, A_UNDERLINE);
    for (uint32_t i = 0; i < ui->page; i++) {
        uint32_t row = scroll->first + i;
        top_line_begin(&line, (unsigned)COLS);
        if (row < n)
            top_panel_row(&line, ui, row);
        put(top + (int)i, &line,
            row < n && row == scroll->at && ui->panel != TOP_PANEL_HELP ? A_REVERSE : A_NORMAL);
    }
}

/* ---- last line ---- */

static void draw_last(const struct top_ui *ui) {
    struct top_line line;
    attr_t attributes = A_DIM;
    uint64_t waiting = ui->client != NULL ? top_client_waiting_ns(ui->client) : 0;
    top_line_begin(&line, (unsigned)COLS - 1);
    if (ui->typing) {
        top_line_print(&line, "/%s", ui->view.search);
        attributes = A_BOLD;
    } else if (ui->message[0] != '\0') {
        top_line_add(&line, ui->message);
        attributes = A_BOLD;
    } else if (ui->trouble[0] != '\0') {
        top_line_add(&line, ui->trouble);
        attributes = A_BOLD | pair(PAIR_TROUBLE);
    } else if (waiting >= 2000000000u) {
        top_line_print(&line, "%s has not answered for %u s", top_client_of(ui->client),
                       (unsigned)(waiting / 1000000000u));
        attributes = A_BOLD | pair(PAIR_TROUBLE);
    } else {
        top_line_add(&line, "? help  Enter fold  / search  s sort  i callers  f functions  "
                            "t threads  W window  P process  q quit");
    }
    put(LINES - 1, &line, attributes);
    if (ui->typing)
        move(LINES - 1, (int)line.columns);
    curs_set(ui->typing ? 1 : 0);
}

void top_screen_draw(struct top_ui *ui) {
    if (LINES < LEAST_LINES || COLS < LEAST_COLUMNS) {
        char text[128];
        erase();
        snprintf(text, sizeof text, "too small: hcct top needs %d x %d", LEAST_COLUMNS,
                 LEAST_LINES);
        put_text(0, text, A_NORMAL);
        refresh();
        return;
    }
    ui->page = (uint32_t)(LINES - head_lines(ui) - 2);
    if (ui->request.columns != (unsigned)COLS) { /* the time line is as wide as the screen */
        ui->request.columns = (unsigned)COLS;
        top_ui_ask(ui);
    }
    draw_head(ui);
    if (ui->panel == TOP_PANEL_TREE)
        draw_tree(ui);
    else
        draw_list(ui);
    draw_last(ui);
    refresh();
}
